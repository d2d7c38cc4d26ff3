//! Scripts that change a document in a request by query.

use std::borrow::Cow;

use limber_mapping::RequestError;
use limber_script::{Script, ScriptContext, Scripts, run_on_context};
use limber_search::SearchHit;
use serde_json::{Map, Value, json};

use crate::api::{BulkOperation, OperationKind, Result};
use crate::node::writing::update::to_bytes;

/// What a script decided about a document.
pub(super) enum Scripted {
    Nothing,
    Write(ScriptedWrite),
}

pub(super) struct ScriptedWrite {
    deletes: bool,
    source: Vec<u8>,
    /// Metadata of a copy, as the script left them.
    copy: Option<CopyMetadata>,
}

struct CopyMetadata {
    index: Option<String>,
    /// `None` generates an id.
    id: Option<String>,
    /// `None` if the script left the routing as it was, so that `dest.routing` decides.
    routing: Option<Option<String>>,
    version: Option<u64>,
}

impl Scripted {
    /// Returns the size in bytes of the document to write.
    pub fn bytes(&self) -> usize {
        match self {
            Scripted::Nothing => 0,
            Scripted::Write(write) => write.source.len(),
        }
    }

    /// Runs the script over `ctx` with `op`, `_index`, `_id`, `_version`, `_routing`, `_source` and `_now`.
    /// The index and the routing are those of the document that was read, also for a copy.
    ///
    /// Source: `AbstractAsyncBulkByScrollAction.ScriptApplier`, `UpdateByQueryMetadata`, `ReindexMetadata`.
    pub fn run(
        scripts: &Scripts,
        script: &Script,
        operation: &BulkOperation<'_>,
        hit: &SearchHit,
        is_copy: bool,
        now_millis: u64,
    ) -> Result<Scripted> {
        limber_mapping::claim_parsed(operation.source)?;
        let source: Value = limber_mapping::parse_source(operation.source)
            .map_err(|error| RequestError::internal("exception", error.to_string()))?;
        let context = if is_copy { ScriptContext::Reindex } else { ScriptContext::UpdateByQuery };
        let before = json!({
            "op": "index",
            "_index": &*hit.index,
            "_id": operation.id,
            "_version": hit.version,
            "_routing": hit.routing.as_deref(),
            "_now": now_millis,
            "_source": source,
        });
        let mut after = run_on_context(scripts, script, context, &before)?;
        let op = after["op"].as_str().unwrap_or("none").to_owned();
        let deletes = match op.as_str() {
            "noop" | "none" => return Ok(Scripted::Nothing),
            "delete" => true,
            "index" => false,
            other => {
                return Err(refused(format!("op must be one of [noop, index, delete], but was [{other}]")));
            }
        };
        let Value::Object(source) = after["_source"].take() else {
            return Err(refused("[_source] is no object after the script".to_owned()));
        };
        let names = after.as_object().into_iter().flat_map(Map::keys);
        if let Some(name) = names.into_iter().find(|name| before.get(name.as_str()).is_none()) {
            return Err(refused(format!("Cannot put key [{name}] into ctx")));
        }
        match is_copy {
            true => check_copied(&before, &after)?,
            false => check_unchanged(&before, &after)?,
        }
        let copy = is_copy.then(|| CopyMetadata::read(&before, &after));
        Ok(Scripted::Write(ScriptedWrite { deletes, source: to_bytes(&source)?, copy }))
    }
}

impl CopyMetadata {
    fn read(before: &Value, after: &Value) -> CopyMetadata {
        let text = |name: &str| after[name].as_str().map(str::to_owned);
        let number = || after["_id"].is_number().then(|| after["_id"].to_string());
        CopyMetadata {
            index: text("_index").filter(|index| before["_index"] != **index),
            id: text("_id").or_else(number),
            routing: (before["_routing"] != after["_routing"]).then(|| text("_routing")),
            version: after["_version"].as_u64(),
        }
    }
}

/// Refuses metadata that a copy cannot have.
///
/// Source: `ReindexMetadata#PROPERTIES`.
fn check_copied(before: &Value, after: &Value) -> Result<()> {
    let wrong_type = |name: &str, wanted: &str| {
        let shown = after[name].as_str().map_or_else(|| after[name].to_string(), str::to_owned);
        Err(refused(format!("{name} [{shown}] is wrong type, expected assignable to [java.lang.{wanted}]")))
    };
    if after["_index"].is_null() {
        return Err(refused("_index cannot be null".to_owned()));
    }
    if let Some(name) = ["_index", "_routing"].into_iter().find(|name| !is_text(&after[*name])) {
        return wrong_type(name, "String");
    }
    if !after["_version"].is_null() && !after["_version"].is_number() {
        return wrong_type("_version", "Number");
    }
    match before["_now"] == after["_now"] {
        true => Ok(()),
        false => Err(refused("_now cannot be updated".to_owned())),
    }
}

fn is_text(value: &Value) -> bool {
    value.is_null() || value.is_string()
}

fn check_unchanged(before: &Value, after: &Value) -> Result<()> {
    match ["_index", "_id", "_version", "_routing", "_now"]
        .into_iter()
        .find(|name| before[name] != after[name])
    {
        None => Ok(()),
        Some(name) => Err(refused(format!("{name} cannot be updated"))),
    }
}

/// Makes an error for what Elasticsearch's `CtxMap` refuses while the script runs. Here it is refused after
/// the script.
fn refused(reason: String) -> RequestError {
    RequestError::bad_request("script_exception", "runtime error")
        .caused_by(RequestError::illegal_argument(reason))
}

impl ScriptedWrite {
    /// Returns the write operation with the script's changes.
    pub fn change<'s>(&'s self, mut operation: BulkOperation<'s>) -> BulkOperation<'s> {
        if let Some(copy) = &self.copy {
            if let Some(index) = &copy.index {
                operation.index = Cow::Borrowed(index);
            }
            operation.id = copy.id.as_deref().map(Cow::Borrowed);
            if let Some(routing) = &copy.routing {
                operation.routing = routing.as_deref().map(Cow::Borrowed);
            }
            operation.version = operation.version.and(copy.version);
        }
        if self.deletes {
            operation.kind = OperationKind::Delete;
            operation.source = b"";
        } else {
            operation.source = &self.source;
        }
        operation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_metadata_of_the_right_types() {
        let before = json!({"_index": "i", "_id": "1", "_version": 1, "_routing": null, "_now": 5});
        let check = |change: Value, expected: Option<&str>| {
            let mut after = before.clone();
            for (name, value) in change.as_object().expect("an object") {
                after[name] = value.clone();
            }
            let reason =
                check_copied(&before, &after).err().map(|error| error.caused_by.expect("a cause").reason);
            assert_eq!(reason.as_deref(), expected, "{change}");
        };
        check(json!({"_index": "j", "_id": 3, "_version": null, "_routing": "r"}), None);
        check(json!({"_index": null}), Some("_index cannot be null"));
        check(
            json!({"_routing": 3}),
            Some("_routing [3] is wrong type, expected assignable to [java.lang.String]"),
        );
        check(
            json!({"_version": "foo"}),
            Some("_version [foo] is wrong type, expected assignable to [java.lang.Number]"),
        );
        check(json!({"_now": 6}), Some("_now cannot be updated"));
    }
}
