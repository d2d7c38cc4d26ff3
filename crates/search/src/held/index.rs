//! Fields whose values a script computes when a document is written (the mapping parameter `script`).
//!
//! The document becomes a segment in memory, over which the scripts run like those of runtime fields. A
//! field that other fields are computed from is computed first, and its values become part of the document.
//! Source: Elasticsearch's `DocumentParser#executeIndexTimeScripts`, `FieldMapper#executeScript`; errors in
//! the words of 9.4.3.

use std::collections::HashMap;
use std::sync::Arc;

use limber_mapping::document::{ScriptedValue, put_ignored, put_scripted};
use limber_mapping::{Field, FieldSink, RequestError};

use super::hold::hold_with;
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::script::{BoundScript, context_of, emitted_values, script_of};

/// Passes the values of the fields with a script to `sink`. Only the mapping and the scripts of `shard` are
/// used. `source` is JSON that was parsed with that mapping.
///
/// # Errors
/// `document_parsing_exception` of a script that fails, unless its field has `on_script_error: continue`.
pub fn index_scripts<S: FieldSink>(
    shard: &ShardSnapshot,
    source: &[u8],
    sink: &mut S,
) -> std::result::Result<(), RequestError> {
    let Some(seen) = shard.mapping.seen_by_scripts() else { return Ok(()) };
    let seen = ShardSnapshot { mapping: seen.clone(), ..shard.clone() };
    let fields = shard.mapping.scripted();
    let plan = Plan::of(fields, &seen).map_err(|error| error.to_request_error())?;
    let mut computed: Vec<(Arc<Field>, Vec<ScriptedValue>)> = Vec::new();
    for step in &plan.steps {
        let held = hold_with(&seen, &[source.to_vec()], &mut None, |mapping, _, buffer| {
            computed.iter().try_for_each(|(field, values)| put_scripted(mapping, field, values, buffer))
        });
        let held = held.map_err(|error| error.to_request_error())?;
        for field in step {
            let goes_on = field.script.as_ref().is_some_and(|script| script.continues_on_error);
            match values_of(field, &held, plan.loops.get(&field.path)) {
                Ok(values) => computed.push((field.clone(), values)),
                Err(_) if goes_on => put_ignored(&shard.mapping, field, sink),
                Err(error) => {
                    let reason = format!("Error executing script on field [{}]", field.path);
                    return Err(RequestError::bad_request("document_parsing_exception", reason)
                        .caused_by(error.to_request_error()));
                }
            }
        }
    }
    computed.iter().try_for_each(|(field, values)| put_scripted(&shard.mapping, field, values, sink))
}

/// Returns the values that a field's script computes for the only document of `held`. `loops`: fields that
/// it must not read.
fn values_of(field: &Arc<Field>, held: &ShardSnapshot, loops: Option<&Loops>) -> Result<Vec<ScriptedValue>> {
    let Some(script) = script_of(field)? else { return Ok(Vec::new()) };
    let mut script = BoundScript::bind_below(&script, context_of(field), held, &[])?;
    for (name, reason) in loops.into_iter().flatten() {
        script.refuse_field(name, RequestError::illegal_argument(reason.as_str()));
    }
    emitted_values(field, script, held, &held.segments[0].segment, 0)
}

/// Names of fields that depend on the field that reads them, and the error for each.
type Loops = Vec<(String, String)>;

/// The order in which fields are computed.
struct Plan {
    /// The fields of a step are computed from documents that include the fields of the steps before.
    steps: Vec<Vec<Arc<Field>>>,
    /// The loops of a field, by its path.
    loops: HashMap<Arc<str>, Loops>,
}

impl Plan {
    fn of(fields: &[Arc<Field>], shard: &ShardSnapshot) -> Result<Plan> {
        let mut needs: HashMap<&str, Vec<Arc<str>>> = HashMap::new();
        for field in fields {
            let Some(script) = script_of(field)? else { continue };
            let read = shard.scripts.compile(&script, context_of(field))?.fields().to_vec();
            let is_computed = |name: &Arc<str>| fields.iter().any(|other| *other.path == **name);
            needs.insert(&field.path, read.into_iter().filter(is_computed).collect());
        }
        let mut plan = Plan { steps: Vec::new(), loops: HashMap::new() };
        let mut rest: Vec<&Arc<Field>> = fields.iter().collect();
        while !rest.is_empty() {
            let waits = |field: &Arc<Field>| {
                let read = needs.get(&*field.path).map_or(&[][..], Vec::as_slice);
                read.iter().any(|name| rest.iter().any(|other| *other.path == **name))
            };
            let (later, now): (Vec<&Arc<Field>>, Vec<&Arc<Field>>) =
                rest.iter().copied().partition(|field| waits(field));
            if now.is_empty() {
                // Each of these fields depends on others of them, and so on itself or on a field that does.
                for field in &later {
                    plan.loops.insert(field.path.clone(), loops_of(&field.path, &needs, &later));
                }
                plan.steps.push(later.into_iter().cloned().collect());
                break;
            }
            plan.steps.push(now.into_iter().cloned().collect());
            rest = later;
        }
        Ok(plan)
    }
}

/// Returns the error for each field of a loop that the field at `path` reads.
fn loops_of(path: &str, needs: &HashMap<&str, Vec<Arc<str>>>, looped: &[&Arc<Field>]) -> Loops {
    let looped_in = |path: &str| -> Vec<Arc<str>> {
        let read = needs.get(path).map_or(&[][..], Vec::as_slice).iter();
        read.filter(|name| looped.iter().any(|other| other.path == **name)).cloned().collect()
    };
    let describe = |first: Arc<str>| {
        let mut way = vec![first.clone()];
        while let Some(found) = looped_in(&way[way.len() - 1]).into_iter().next() {
            let is_closed = way.contains(&found);
            way.push(found);
            if is_closed {
                break;
            }
        }
        (first.to_string(), format!("Loop in field resolution detected: {}", way.join("->")))
    };
    looped_in(path).into_iter().map(describe).collect()
}
