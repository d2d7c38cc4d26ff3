//! Filters a document: "which members do these patterns keep?"
//!
//! Source: Elasticsearch's `SourceFilter`: a pattern includes or excludes what it names together with
//! everything below. In excludes, `*` matches any string, dots included (`XContentMapValues#filter`). In
//! includes it does so only if some exclude has a `*`; otherwise `*` stays within one level, and `**`
//! matches any number of levels (`FilterPath`).

use limber_text::wildcard;
use serde_json::{Map, Value};

use super::filter::SourceFilter;

/// Returns the document without what the filter excludes.
pub fn filter_source(source: &Value, filter: &SourceFilter) -> Value {
    match source {
        Value::Object(members) => Value::Object(object(members, "", filter.includes.is_empty(), filter)),
        other => other.clone(),
    }
}

/// Filters like [`filter_source`], for an object that is at `path` of its document.
pub(crate) fn filter_below(part: &Value, path: &str, filter: &SourceFilter) -> Value {
    let Value::Object(members) = part else { return part.clone() };
    // The path itself and the paths of the objects that enclose it.
    let above = path.match_indices('.').map(|(end, _)| &path[..end]).chain([path]);
    let names =
        |patterns: &[String], one: &str| patterns.iter().any(|pattern| wildcard::matches(pattern, one));
    if above.clone().any(|one| names(&filter.excludes, one)) {
        return Value::Object(Map::new());
    }
    let is_included =
        filter.includes.is_empty() || above.clone().any(|one| kept_by(filter, one) == Reach::Whole);
    Value::Object(object(members, path, is_included, filter))
}

/// How far a pattern matches along a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// Nothing at or below the path matches.
    Nowhere,
    /// Something below the path may match.
    Below,
    /// The path itself matches.
    Whole,
}

/// Returns how far the `includes` match along a path, at best.
fn kept_by(filter: &SourceFilter, path: &str) -> Reach {
    let spans_levels = filter.excludes.iter().any(|pattern| pattern.contains('*'));
    let reach = |pattern: &String| match spans_levels {
        false => reach_by_level(pattern, path),
        true if wildcard::matches(pattern, path) => Reach::Whole,
        true if may_match_below(pattern, path) => Reach::Below,
        true => Reach::Nowhere,
    };
    filter.includes.iter().map(reach).max().unwrap_or(Reach::Nowhere)
}

fn reach_by_level(pattern: &str, path: &str) -> Reach {
    let level = |text: &str| text.find('.').unwrap_or(text.len());
    let (own, wanted) = (&path[..level(path)], &pattern[..level(pattern)]);
    let below = path.get(own.len() + 1..);
    let rest = pattern.get(wanted.len() + 1..);
    let next = |rest: Option<&str>| match (rest, below) {
        (None, _) => Reach::Whole,
        (Some("**"), None) => Reach::Whole,
        (Some(_), None) => Reach::Below,
        (Some(rest), Some(below)) => reach_by_level(rest, below),
    };
    if wanted == "**" {
        let skipped = rest.map_or(Reach::Whole, |rest| reach_by_level(rest, path));
        return skipped.max(next(Some(pattern)));
    }
    if wildcard::matches(wanted, own) { next(rest) } else { Reach::Nowhere }
}

/// Filters an object. `is_included`: a pattern named this object or one that encloses it.
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
        let reach = if is_included { Reach::Whole } else { kept_by(filter, &path) };
        if reach == Reach::Nowhere {
            continue;
        }
        let is_included = reach == Reach::Whole;
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
    // Positions in the pattern that are reachable after the path so far.
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
    // Some of the pattern must be left to match, or a `*` that can match more.
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
            let filtered = filter_source(
                &source,
                &SourceFilter { fetch: true, includes: own(includes), excludes: own(excludes) },
            );
            assert_eq!(filtered, expected, "{includes:?} {excludes:?}");
        };
        check(&["a.b"], &[], json!({"a": {"b": 1}}));
        check(&["a"], &[], json!({"a": {"b": 1, "c": {"d": 2}}}));
        check(&["a.*"], &["a.c"], json!({"a": {"b": 1}}));
        // Recorded from Elasticsearch 9.4.3.
        check(&["*.d"], &[], json!({}));
        check(&["*.b"], &[], json!({"a": {"b": 1}}));
        check(&["a.*.d"], &[], json!({"a": {"c": {"d": 2}}}));
        check(&["**.d"], &[], json!({"a": {"c": {"d": 2}}}));
        check(&["a*d"], &[], json!({}));
        check(&["a.c*"], &[], json!({"a": {"c": {"d": 2}}}));
        check(&["*t.x"], &[], json!({"list": [{"x": 1}]}));
        check(&["*.d"], &["z*"], json!({"a": {"c": {"d": 2}}}));
        check(&["list.x"], &[], json!({"list": [{"x": 1}]}));
        check(&[], &["a", "list"], json!({"z": null}));
        check(&["nothing"], &[], json!({}));
        check(&["z"], &[], json!({"z": null}));
        check(&["a.b.c"], &[], json!({}));
    }
}
