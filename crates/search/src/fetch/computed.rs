//! `fields` whose values are in no document: runtime fields, and fields that a script computes when
//! documents are written (it runs again, over what the segment holds).

use std::sync::Arc;

use limber_mapping::Field;
use limber_mapping::date::Zone;
use limber_mapping::document::ScriptedValue;
use limber_mapping::geo::GeoPoint;
use limber_segment::columns::Batch;
use limber_segment::{DocId, Segment};
use serde_json::Value;

use super::fields::{column_values, place_format};
use super::formats::source_format;
use crate::context::ShardSnapshot;
use crate::error::{Error, Result};
use crate::request::FieldFormat;
use crate::script::{RuntimeField, script_values};

/// Whether a script computes the values, or a runtime field reads them from the source.
pub(super) fn is_computed(field: &Field) -> bool {
    field.script.is_some() || (field.runtime.is_some() && field.constant().is_none())
}

/// Returns the values of such a field.
pub(super) fn computed_values(
    shard: &ShardSnapshot,
    segment: &Segment,
    field: &Arc<Field>,
    doc: DocId,
    wanted: &FieldFormat,
) -> Result<Vec<Value>> {
    match field.script {
        Some(_) => scripted_values(shard, segment, field, doc, wanted),
        None => runtime_values(shard, segment, field, doc, wanted),
    }
}

/// Returns the values in the order in which the script emits them; none if it fails.
fn scripted_values(
    shard: &ShardSnapshot,
    segment: &Segment,
    field: &Arc<Field>,
    doc: DocId,
    wanted: &FieldFormat,
) -> Result<Vec<Value>> {
    let date = source_format(field, wanted)?;
    let show_place = match field.is_point() {
        true => Some(place_format(field, wanted)?),
        false => None,
    };
    let values = match script_values(field, shard, segment, doc) {
        Err(Error::Request(_)) => return Ok(Vec::new()),
        computed => computed?,
    };
    let shown = |value: &ScriptedValue| match (value, &show_place, &date) {
        (ScriptedValue::Number(number), Some(show), _) => show(GeoPoint::decode(*number)),
        (ScriptedValue::Number(number), None, Some(format)) => {
            format.format_instant(field.resolution().instant(*number), &Zone::Utc).into()
        }
        (ScriptedValue::Number(number), None, None) => field.format_number(*number),
        (ScriptedValue::Term(term), ..) => field.decode_term(term).into(),
    };
    Ok(values.iter().map(shown).collect())
}

/// Returns the values of a runtime field in `fields`; points in their requested format.
fn runtime_values(
    shard: &ShardSnapshot,
    segment: &Segment,
    field: &Arc<Field>,
    doc: DocId,
    wanted: &FieldFormat,
) -> Result<Vec<Value>> {
    if !field.is_point() {
        return column_values(shard, segment, field, doc, wanted);
    }
    let show = place_format(field, wanted)?;
    let Some(runtime) = RuntimeField::bind(field, shard)? else { return Ok(Vec::new()) };
    let mut batch = Batch::default();
    runtime.open(segment)?.numbers(&[doc], &mut batch)?;
    Ok(batch.values.iter().map(|stored| show(GeoPoint::decode(*stored))).collect())
}
