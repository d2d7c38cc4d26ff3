//! Hits that are nested documents: "which document and which of its objects is this, and what does that
//! look like?"
//!
//! Source: Elasticsearch's `SearchHit.NestedIdentity`, `FetchPhase`, `FieldFetcher`.

use limber_mapping::{Mapping, RequestError};
use limber_segment::{DocId, Segment};
use serde_json::{Map, Value, json};

use crate::context::ShardSnapshot;
use crate::error::Result;

/// The outermost document that contains a hit; for a hit that is not nested, the hit itself.
pub(super) struct Around<'a> {
    /// The segment with ids and sources.
    pub segment: &'a Segment,
    pub doc: DocId,
    /// The way from the document to the hit; empty for a hit that is not nested.
    pub steps: Vec<Step>,
}

/// The step from an object to one of the nested objects in it.
pub(super) struct Step {
    /// Path, relative to the enclosing object.
    path: String,
    offset: u32,
}

impl<'a> Around<'a> {
    /// Finds the documents that enclose document `doc` of a segment of the shard.
    pub fn of(shard: &'a ShardSnapshot, segment: u32, doc: DocId) -> Result<Around<'a>> {
        let Some(scope) = &shard.nested else {
            return Ok(Around { segment: &shard.segments[segment as usize].segment, doc, steps: Vec::new() });
        };
        let whole = &*scope.whole[segment as usize].segment;
        let lineage = whole.lineage(&scope.nested.path).ok_or_else(|| missing(&scope.nested.path))?;
        let steps = paths_to(&shard.mapping, &scope.nested.path).into_iter().zip(lineage.offsets(doc));
        let steps = steps.map(|(path, offset)| Step { path, offset }).collect();
        Ok(Around { segment: whole, doc: lineage.parent(doc), steps })
    }

    /// Returns the `_nested` member.
    pub fn identity(&self) -> Option<Value> {
        self.steps.iter().rev().fold(None, |inner, step| {
            let mut own = json!({"field": step.path, "offset": step.offset});
            if let Some(inner) = inner {
                own["_nested"] = inner;
            }
            Some(own)
        })
    }

    /// Returns the hit's own part of a source.
    pub fn part<'v>(&self, source: &'v Value) -> Result<&'v Value> {
        self.steps.iter().try_fold(source, |value, step| {
            let mut objects = Vec::new();
            objects_at(value, &step.path, &mut objects);
            objects.get(step.offset as usize).copied().ok_or_else(|| missing(&step.path))
        })
    }
}

#[cold]
fn missing(path: &str) -> crate::error::Error {
    RequestError::internal("illegal_state_exception", format!("Error retrieving path {path}")).into()
}

/// Returns the way to a nested object: the path of each nested level, relative to the enclosing level.
pub(super) fn paths_to(mapping: &Mapping, path: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let mut path = path;
    while let Some(around) = mapping.nested_around(path) {
        paths.push(path[around.path.len() + 1..].to_owned());
        path = &around.path;
    }
    paths.push(path.to_owned());
    paths.reverse();
    paths
}

static EMPTY: std::sync::LazyLock<Value> = std::sync::LazyLock::new(|| Value::Object(Map::new()));

/// Collects the objects at a dotted path in the order in which they became documents: through lists, and
/// through members whose names contain dots. A name that leads into the object represents a separate object,
/// of which nothing more is shown.
pub(super) fn objects_at<'v>(value: &'v Value, path: &str, out: &mut Vec<&'v Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| objects_at(item, path, out)),
        Value::Object(members) => {
            for (name, inner) in members {
                if name == path {
                    whole(inner, out);
                } else if let Some(rest) =
                    path.strip_prefix(name.as_str()).and_then(|rest| rest.strip_prefix('.'))
                {
                    objects_at(inner, rest, out);
                } else if name.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')) {
                    out.push(&EMPTY);
                }
            }
        }
        _ => {}
    }
}

fn whole<'v>(value: &'v Value, out: &mut Vec<&'v Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| whole(item, out)),
        Value::Object(_) => out.push(value),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_found_in_the_order_of_their_documents() {
        let check = |source: Value, path: &str, expected: Value| {
            let mut found = Vec::new();
            objects_at(&source, path, &mut found);
            assert_eq!(json!(found), expected, "{source} {path}");
        };
        check(json!({"n": [null, {"a": 1}, [{"a": 2}]], "n.a": 5}), "n", json!([{"a": 1}, {"a": 2}, {}]));
        check(
            json!({"o": [{"n": {"a": 1}}, {"n": [{"a": 2}]}], "o.n": {"a": 3}}),
            "o.n",
            json!([{"a": 1}, {"a": 2}, {"a": 3}]),
        );
        check(json!({"n": 5, "nn": {"a": 1}}), "n", json!([]));
    }
}
