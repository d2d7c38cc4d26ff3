//! Values that a script computes for one document.

use std::sync::Arc;

use limber_mapping::Field;
use limber_mapping::document::ScriptedValue;
use limber_segment::{DocId, Segment};

use super::field::{RuntimeField, context_of, script_of};
use super::source::Stored;
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::script::bound::BoundScript;

/// Returns the values that a field's script computes for a document of a segment, in the order in which it
/// emits them.
///
/// # Errors
/// Those of the script.
pub(crate) fn script_values(
    field: &Arc<Field>,
    shard: &ShardSnapshot,
    segment: &Segment,
    doc: DocId,
) -> Result<Vec<ScriptedValue>> {
    let Some(script) = script_of(field)? else { return Ok(Vec::new()) };
    let script = BoundScript::bind_below(&script, context_of(field), shard, &[])?;
    emitted_values(field, script, shard, segment, doc)
}

/// Returns what a bound script emits for a document, as values of its field.
pub(crate) fn emitted_values(
    field: &Arc<Field>,
    script: BoundScript,
    shard: &ShardSnapshot,
    segment: &Segment,
    doc: DocId,
) -> Result<Vec<ScriptedValue>> {
    let strict = field
        .script
        .clone()
        .map(|script| limber_mapping::RuntimeScript { continues_on_error: false, ..script });
    let bound = RuntimeField {
        field: Arc::new(field.made_at_search(strict)),
        script: Some(script),
        mapping: shard.mapping.clone(),
        table: Default::default(),
    };
    let mut values = Vec::new();
    bound.open(segment)?.emitted(doc, |stored| {
        values.push(match stored {
            Stored::Number(number) => ScriptedValue::Number(number),
            Stored::Term(term) => ScriptedValue::Term(term),
        });
    })?;
    Ok(values)
}
