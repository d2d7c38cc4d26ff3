//! Puts the document of a request into a shard of its own: "what would this script return for this document?"
//! (`_scripts/painless/_execute`)

use limber_script::{Emits, Script, ScriptContext, refused};
use serde_json::{Map, Value, json};

use super::hold::hold;
use crate::context::{SearchContext, ShardSnapshot};
use crate::error::Result;
use crate::script::BoundScript;

/// Largest nesting of a value that a script emits.
const VALUE_DEPTH_MAX: u32 = 20;
/// Label of the memory charge, which the circuit breaker's error shows.
const LABEL: &str = "<document of a script>";

/// Builds a shard with the mapping of `shard` whose only document is `document`, given as JSON. Fields that
/// dynamic mapping adds for it exist only in this shard.
///
/// # Errors
/// Those of indexing the document; not enough memory.
pub fn hold_document(
    shard: &ShardSnapshot,
    document: Vec<u8>,
    context: &SearchContext,
) -> Result<ShardSnapshot> {
    let mut charge = Some(context.ledger.request.charge(document.len() as u64, LABEL)?);
    hold(shard, &[document], &mut charge)
}

/// Returns what the script of a `composite` runtime field emits for the only document of a shard: values by
/// name.
///
/// # Errors
/// Those of the script.
pub fn emitted_by_name(script: &Script, held: &ShardSnapshot) -> Result<Value> {
    let context = ScriptContext::RuntimeField(Emits::Composite);
    let bound = BoundScript::bind(script, context, held)?;
    let mut by_name: Map<String, Value> = Map::new();
    for view in &held.segments {
        bound.open(&view.segment)?.emitted(&[0], false, |_, emitted| {
            for one in emitted {
                let value = one.value.to_json(VALUE_DEPTH_MAX).map_err(refused)?;
                let values =
                    by_name.entry(one.part.as_deref().unwrap_or_default()).or_insert_with(|| json!([]));
                values.as_array_mut().into_iter().for_each(|values| values.push(value.clone()));
            }
            Ok(())
        })?;
    }
    Ok(Value::Object(by_name))
}
