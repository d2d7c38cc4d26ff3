//! Parts of a document: "which members do these patterns keep?"
//!
//! Source: Elasticsearch's `XContentMapValues#filter`: a pattern keeps or drops what it names with everything below; `*` stands for any
//! run of characters, dots included.

use limber_mapping::wildcard;
use serde_json::{Map, Value};

use crate::request::SourceFilter;

/// The document without what the filter leaves out.
pub fn filter(source: &Value, filter: &SourceFilter) -> Value {
    match source {
        Value::Object(members) => Value::Object(object(members, "", filter.includes.is_empty(), filter)),
        other => other.clone(),
    }
}

/// As [`filter`], for an object that is at `path` of its document.
pub(super) fn filter_below(part: &Value, path: &str, filter: &SourceFilter) -> Value {
    let Value::Object(members) = part else { return part.clone() };
    // Of the path and of what is around it.
    let above = path.match_indices('.').map(|(end, _)| &path[..end]).chain([path]);
    let names =
        |patterns: &[String], one: &str| patterns.iter().any(|pattern| wildcard::matches(pattern, one));
    if above.clone().any(|one| names(&filter.excludes, one)) {
        return Value::Object(Map::new());
    }
    let is_included = filter.includes.is_empty() || above.clone().any(|one| names(&filter.includes, one));
    Value::Object(object(members, path, is_included, filter))
}

/// `is_included`: a pattern named this object or one above it.
fn object(
    members: &Map<String, Value>,
    prefix: &str,
    is_included: bool,
    filter: &SourceFilter,
) -> Map<String, Value> {
    let mut kept = Map::new();
    for (name, value) in members {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        if filter.excludes.iter().any(|pattern| wildcard::matches(pattern, &path)) {
            continue;
        }
        let is_included =
            is_included || filter.includes.iter().any(|pattern| wildcard::matches(pattern, &path));
        if !is_included && !filter.includes.iter().any(|pattern| may_match_below(pattern, &path)) {
            continue;
        }
        match value {
            Value::Object(inner) => {
                let inner = object(inner, &path, is_included, filter);
                if is_included || !inner.is_empty() {
                    kept.insert(name.clone(), inner.into());
                }
            }
            Value::Array(items) => {
                let items = array(items, &path, is_included, filter);
                if is_included || !items.is_empty() {
                    kept.insert(name.clone(), items.into());
                }
            }
            scalar if is_included => {
                kept.insert(name.clone(), scalar.clone());
            }
            _ => {}
        }
    }
    kept
}

fn array(items: &[Value], path: &str, is_included: bool, filter: &SourceFilter) -> Vec<Value> {
    let mut kept = Vec::new();
    for item in items {
        match item {
            Value::Object(inner) => {
                let inner = object(inner, path, is_included, filter);
                if is_included || !inner.is_empty() {
                    kept.push(inner.into());
                }
            }
            Value::Array(inner) => {
                let inner = array(inner, path, is_included, filter);
                if is_included || !inner.is_empty() {
                    kept.push(inner.into());
                }
            }
            scalar if is_included => kept.push(scalar.clone()),
            _ => {}
        }
    }
    kept
}

/// Whether the pattern can match a path below `path`.
fn may_match_below(pattern: &str, path: &str) -> bool {
    // Positions in the pattern that are reachable after the text so far.
    let pattern = pattern.as_bytes();
    let mut reachable = vec![false; pattern.len() + 1];
    reachable[0] = true;
    let spread = |reachable: &mut Vec<bool>| {
        for at in 0..pattern.len() {
            if reachable[at] && pattern[at] == b'*' {
                reachable[at + 1] = true;
            }
        }
    };
    spread(&mut reachable);
    for byte in path.bytes().chain(std::iter::once(b'.')) {
        let mut next = vec![false; pattern.len() + 1];
        for at in 0..pattern.len() {
            if reachable[at] && pattern[at] == b'*' {
                next[at] = true;
            } else if reachable[at] && pattern[at] == byte {
                next[at + 1] = true;
            }
        }
        spread(&mut next);
        reachable = next;
    }
    // Something must be left to match, or a `*` that takes it.
    reachable[..pattern.len()].contains(&true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn patterns_keep_and_drop() {
        let source = json!({"a": {"b": 1, "c": {"d": 2}}, "list": [{"x": 1, "y": 2}, {"y": 3}], "z": null});
        let check = |includes: &[&str], excludes: &[&str], expected: Value| {
            let own = |patterns: &[&str]| patterns.iter().map(|pattern| pattern.to_string()).collect();
            let filtered = filter(
                &source,
                &SourceFilter { fetch: true, includes: own(includes), excludes: own(excludes) },
            );
            assert_eq!(filtered, expected, "{includes:?} {excludes:?}");
        };
        check(&["a.b"], &[], json!({"a": {"b": 1}}));
        check(&["a"], &[], json!({"a": {"b": 1, "c": {"d": 2}}}));
        check(&["a.*"], &["a.c"], json!({"a": {"b": 1}}));
        check(&["*.d"], &[], json!({"a": {"c": {"d": 2}}}));
        check(&["list.x"], &[], json!({"list": [{"x": 1}]}));
        check(&[], &["a", "list"], json!({"z": null}));
        check(&["nothing"], &[], json!({}));
        check(&["z"], &[], json!({"z": null}));
        check(&["a.b.c"], &[], json!({}));
    }
}
