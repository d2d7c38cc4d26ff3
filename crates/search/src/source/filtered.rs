//! Filters a document: "which members do these patterns keep?"
//!
//! Source: Elasticsearch's `SourceFilter`: a pattern includes or excludes what it names together with
//! everything below. Elasticsearch has two filters, and so do we:
//!
//! - The filter of bytes (`FilterPath`) is used while nothing has parsed the document and no exclude has a
//!   `*`. In includes, `*` stays within one level, and `**` matches any number of levels. An object or list
//!   that loses all its members by an exclude is dropped.
//! - The filter of maps (`XContentMapValues#filter`) is used otherwise. `*` matches any string, dots
//!   included. Lists lose the objects and lists that are empty, but an emptied member stays, as `{}` or `[]`.

use limber_text::wildcard;
use serde_json::{Map, Value};

use super::filter::SourceFilter;

/// Returns the document without what the filter excludes.
pub fn filter_source(source: &Value, filter: &SourceFilter) -> Value {
    Filtering::of(filter, filter.excludes.iter().any(|pattern| pattern.contains('*'))).document(source)
}

/// Filters like [`filter_source`] a document that Elasticsearch has parsed for another purpose.
pub fn filter_parsed(source: &Value, filter: &SourceFilter) -> Value {
    Filtering::of(filter, true).document(source)
}

/// Filters like [`filter_source`], for an object that is at `path` of its document.
pub(crate) fn filter_below(part: &Value, path: &str, filter: &SourceFilter) -> Value {
    let Value::Object(members) = part else { return part.clone() };
    let filtering = Filtering::of(filter, filter.excludes.iter().any(|pattern| pattern.contains('*')));
    // The path itself and the paths of the objects that enclose it.
    let above = path.match_indices('.').map(|(end, _)| &path[..end]).chain([path]);
    if above.clone().any(|one| filtering.is_excluded(one)) {
        return Value::Object(Map::new());
    }
    let is_included =
        filter.includes.is_empty() || above.clone().any(|one| filtering.kept_by(one) == Reach::Whole);
    Value::Object(filtering.object(members, path, is_included))
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

/// A filter, and which of Elasticsearch's two ways to apply it is used.
#[derive(Clone, Copy)]
struct Filtering<'f> {
    filter: &'f SourceFilter,
    /// Whether the filter of maps is used.
    is_map: bool,
}

impl<'f> Filtering<'f> {
    fn of(filter: &'f SourceFilter, is_map: bool) -> Filtering<'f> {
        Filtering { filter, is_map }
    }

    fn document(self, source: &Value) -> Value {
        match source {
            Value::Object(members) => {
                Value::Object(self.object(members, "", self.filter.includes.is_empty()))
            }
            other => other.clone(),
        }
    }

    fn is_excluded(self, path: &str) -> bool {
        self.filter.excludes.iter().any(|pattern| wildcard::matches(pattern, path))
    }

    /// Whether an exclude may match something below a path that is not excluded itself.
    fn may_exclude_below(self, path: &str) -> bool {
        self.filter.excludes.iter().any(|pattern| may_match_below(pattern, path))
    }

    /// Returns how far the `includes` match along a path, at best.
    fn kept_by(self, path: &str) -> Reach {
        let reach = |pattern: &String| match self.is_map {
            false => reach_by_level(pattern, path),
            true if wildcard::matches(pattern, path) => Reach::Whole,
            true if may_match_below(pattern, path) => Reach::Below,
            true => Reach::Nowhere,
        };
        self.filter.includes.iter().map(reach).max().unwrap_or(Reach::Nowhere)
    }

    /// Filters an object. `is_included`: a pattern named this object or one that encloses it.
    fn object(self, members: &Map<String, Value>, prefix: &str, is_included: bool) -> Map<String, Value> {
        let mut kept = Map::new();
        for (name, value) in members {
            let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
            if self.is_excluded(&path) {
                continue;
            }
            let reach = if is_included { Reach::Whole } else { self.kept_by(&path) };
            if reach == Reach::Nowhere {
                continue;
            }
            let is_included = reach == Reach::Whole;
            if is_included && !self.may_exclude_below(&path) {
                kept.insert(name.clone(), value.clone());
            } else if let Some((value, is_emptied)) = self.value(value, &path, is_included)
                && (!is_emptied || (self.is_map && is_included))
            {
                kept.insert(name.clone(), value);
            }
        }
        kept
    }

    fn list(self, items: &[Value], path: &str, is_included: bool) -> Vec<Value> {
        let mut kept = Vec::new();
        for item in items {
            if let Some((item, is_emptied)) = self.value(item, path, is_included)
                && !is_emptied
            {
                kept.push(item);
            }
        }
        kept
    }

    /// Filters the value at a path, and returns also whether nothing is left of an object or list.
    /// `None` if it is a scalar that is not kept.
    fn value(self, value: &Value, path: &str, is_included: bool) -> Option<(Value, bool)> {
        // The filter of bytes keeps an object of which it removed nothing.
        let is_kept_empty = is_included && !self.is_map;
        match value {
            Value::Object(members) => {
                let kept = self.object(members, path, is_included);
                let is_emptied = kept.is_empty() && !(is_kept_empty && members.is_empty());
                Some((kept.into(), is_emptied))
            }
            Value::Array(items) => {
                let kept = self.list(items, path, is_included);
                let is_emptied = kept.is_empty() && !(is_kept_empty && items.is_empty());
                Some((kept.into(), is_emptied))
            }
            scalar => is_included.then(|| (scalar.clone(), false)),
        }
    }
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
    // Recorded from Elasticsearch 9.4.3; with `fields` in the request, it has parsed the source.
    #[test]
    fn what_excludes_empty_depends_on_the_filter() {
        let source = json!({
            "o": [{"a": "x", "b": 2}, {"a": "y"}, {}, [], [{"a": 1}], 7],
            "p": {"a": 1, "q": {}}, "s": {"a": []}, "n": {"m": {"y": 1}},
        });
        let check = |is_parsed: bool, includes: &[&str], excludes: &[&str], changes: Value| {
            let own = |patterns: &[&str]| patterns.iter().map(|pattern| pattern.to_string()).collect();
            let filter = SourceFilter { fetch: true, includes: own(includes), excludes: own(excludes) };
            let filtered = match is_parsed {
                true => filter_parsed(&source, &filter),
                false => filter_source(&source, &filter),
            };
            let mut expected = if includes.is_empty() { source.clone() } else { json!({}) };
            for (name, value) in changes.as_object().expect("an object") {
                expected[name] = value.clone();
            }
            expected.as_object_mut().expect("an object").retain(|_, value| !value.is_null());
            assert_eq!(filtered, expected, "{includes:?} {excludes:?}");
        };
        check(false, &[], &["o.a"], json!({"o": [{"b": 2}, {}, [], 7]}));
        check(false, &[], &["o.a", "o.b"], json!({"o": [{}, [], 7]}));
        check(false, &[], &["p.a", "p.q"], json!({"p": null}));
        check(false, &[], &["s.a"], json!({"s": null}));
        check(false, &[], &["s.x"], json!({}));
        check(false, &[], &["n.m.y"], json!({"n": null}));
        check(false, &["o"], &["o.a"], json!({"o": [{"b": 2}, {}, [], 7]}));
        check(false, &["p"], &["p.a", "p.q"], json!({}));
        check(false, &["*.y"], &[], json!({}));
        check(false, &[], &["o.*"], json!({"o": [7]}));
        check(false, &[], &["p.*"], json!({"p": {}}));
        check(false, &[], &["n.m.*"], json!({"n": {"m": {}}}));
        check(false, &[], &["*.a"], json!({"o": [{"b": 2}, 7], "p": {"q": {}}, "s": {}}));
        check(false, &["o"], &["o.a*"], json!({"o": [{"b": 2}, 7]}));
        check(true, &[], &["o.a"], json!({"o": [{"b": 2}, 7]}));
        check(true, &["*.y"], &[], json!({"n": {"m": {"y": 1}}}));
    }
}
