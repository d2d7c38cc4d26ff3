//! Runtime fields of type `lookup`: values of the documents of another index.
//!
//! Source: Elasticsearch's `LookupRuntimeFieldType`, `FetchLookupFieldsPhase`.

use std::sync::Arc;

use limber_mapping::{Field, LookedUp, RequestError};
use limber_segment::{DocId, Segment};
use serde_json::{Value, json};

use super::computed::{computed_values, is_computed};
use super::fields::source_values;
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::request::{FieldFormat, SearchRequest};

/// Maximum number of lookups within one another: the documents that are shown may have such fields too.
const DEPTH_MAX: u32 = 5;

/// Returns what a field looks up, if it is of this type.
pub(super) fn looked_up(field: &Field) -> Option<&Arc<LookedUp>> {
    field.runtime.as_ref()?.lookup.as_ref()
}

/// Returns the fields of the documents that a document's values name: at most one document for each value.
pub(super) fn lookup_values(
    shard: &ShardSnapshot,
    segment: &Segment,
    doc: DocId,
    request: &SearchRequest,
    source: &Value,
    looked_up: &LookedUp,
) -> Result<Vec<Value>> {
    let mut found = Vec::new();
    let Some(documents) = &shard.documents else { return Ok(found) };
    let values = input_values(shard, segment, doc, source, &looked_up.input_field)?;
    if !values.is_empty() && request.lookup_depth >= DEPTH_MAX {
        let reason = format!("lookup fields are nested more than [{DEPTH_MAX}] levels deep");
        return Err(RequestError::illegal_argument(reason).into());
    }
    for value in values {
        crate::error::check_request()?;
        let body = json!({
            "query": {"term": {looked_up.target_field.as_str(): {"value": value}}},
            "fields": looked_up.fetch_fields,
            "size": 1,
            "_source": false,
            "track_total_hits": false,
        });
        found.extend(documents.fields_of(&looked_up.target_index, &body, request.lookup_depth + 1)?);
    }
    Ok(found)
}

/// Returns the values of the field that names documents; none if it is not mapped, or is a lookup itself.
fn input_values(
    shard: &ShardSnapshot,
    segment: &Segment,
    doc: DocId,
    source: &Value,
    path: &str,
) -> Result<Vec<Value>> {
    let shown = FieldFormat::of(path.to_owned());
    match shard.mapping.field(path) {
        None => Ok(Vec::new()),
        Some(field) if looked_up(&field).is_some() => Ok(Vec::new()),
        Some(field) if is_computed(&field) => computed_values(shard, segment, &field, doc, &shown),
        Some(field) => source_values(&shard.mapping, source, &field, &field.path, &shown, &mut Vec::new()),
    }
}
