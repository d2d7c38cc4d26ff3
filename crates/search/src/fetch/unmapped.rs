//! `include_unmapped` of `fields`: "which values of the source are of no mapped field?"
//!
//! Source: Elasticsearch's `FieldFetcher#collectUnmapped`. Values are shown as in the source, those of
//! several objects together. With a pattern, the values of nested lists come before those of the lists
//! around them, and nulls in lists are kept; with a plain name, neither holds.

use limber_mapping::Mapping;
use limber_text::wildcard;
use limber_work::{self as work, Stop};
use serde_json::{Map, Value, json};

use crate::source::any_pattern;

/// Adds to `found` the unmapped values of `source` that a pattern or name matches, by their paths from
/// `scope` on. `scope` is the path of the nested object that `source` is; values of its own nested objects
/// are not collected.
///
/// # Errors
/// The client has disconnected, or there is not enough memory.
pub(super) fn collect(
    mapping: &Mapping,
    source: &Value,
    scope: Option<&str>,
    patterns: &[&str],
    found: &mut Map<String, Value>,
) -> Result<(), Stop> {
    let (false, Value::Object(members)) = (patterns.is_empty(), source) else { return Ok(()) };
    let mut path = scope.map_or(String::new(), |scope| format!("{scope}."));
    let mut unmapped = Unmapped { mapping, patterns, base: path.len(), found };
    unmapped.object(members, &mut path)
}

struct Unmapped<'a> {
    mapping: &'a Mapping,
    patterns: &'a [&'a str],
    /// Leading bytes of a path that are not shown.
    base: usize,
    found: &'a mut Map<String, Value>,
}

impl Unmapped<'_> {
    /// Collects the values of an object. `path` ends in a dot, unless it is empty, and is the same again when
    /// this returns.
    fn object(&mut self, members: &Map<String, Value>, path: &mut String) -> Result<(), Stop> {
        let above = path.len();
        for (name, value) in members {
            work::check_beyond_deadline()?;
            path.truncate(above);
            path.push_str(name);
            if self.mapping.field(path).is_some() || self.mapping.nested(path).is_some() {
                continue;
            }
            match value {
                Value::Object(inner) => {
                    path.push('.');
                    self.object(inner, path)?;
                }
                Value::Array(items) => self.list(items, path)?,
                Value::Null => {}
                scalar => self.add(path, [scalar])?,
            }
        }
        path.truncate(above);
        Ok(())
    }

    fn list(&mut self, items: &[Value], path: &mut String) -> Result<(), Stop> {
        let is_named = self.patterns.contains(&path.as_str());
        for item in items {
            match item {
                Value::Object(inner) => {
                    path.push('.');
                    self.object(inner, path)?;
                    path.pop();
                }
                Value::Array(inner) if !is_named => self.list(inner, path)?,
                _ => {}
            }
        }
        let mut scalars = Vec::new();
        match is_named {
            true => flatten(items, &mut scalars),
            false => scalars.extend(items.iter().filter(|item| !item.is_object() && !item.is_array())),
        }
        self.add(path, scalars)
    }

    fn add<'v>(&mut self, path: &str, values: impl IntoIterator<Item = &'v Value>) -> Result<(), Stop> {
        let mut values = values.into_iter().peekable();
        let matches = |pattern: &str| wildcard::matches(pattern, path);
        if values.peek().is_none() || !any_pattern(self.patterns, path, matches)? {
            return Ok(());
        }
        let shown = &path[self.base..];
        // The name of an object is repeated for each value in it.
        work::claim(shown.len() as u64)?;
        let shown = self.found.entry(shown).or_insert_with(|| json!([]));
        if let Value::Array(list) = shown {
            list.extend(values.cloned());
        }
        Ok(())
    }
}

/// Appends the items of nested lists, in order.
fn flatten<'v>(items: &'v [Value], out: &mut Vec<&'v Value>) {
    for item in items {
        match item {
            Value::Array(inner) => flatten(inner, out),
            Value::Object(_) | Value::Null => {}
            scalar => out.push(scalar),
        }
    }
}

#[cfg(test)]
mod tests {
    use limber_mapping::MappingSettings;

    use super::*;

    /// Recorded from Elasticsearch 9.4.3.
    #[test]
    fn values_of_no_field() {
        let body = json!({"dynamic": false, "properties": {
            "a": {"type": "keyword"}, "o": {"properties": {"x": {"type": "long"}}}, "n": {"type": "nested"}}});
        let mapping = Mapping::parse(&body, &MappingSettings::default()).expect("a mapping");
        let source = json!({"a": "k", "b": "v", "o": {"x": 1, "y": 2, "z": [3, null, [4]]}, "n": [{"q": 1}],
            "l": [{"m": 1}, {"m": [2, 3]}, 5], "e": [], "t": true});
        let check = |scope: Option<&str>, patterns: &[&str], source: &Value, expected: Value| {
            let mut found = Map::new();
            collect(&mapping, source, scope, patterns, &mut found).expect("no request");
            assert_eq!(Value::Object(found), expected, "{patterns:?}");
        };
        check(None, &[], &source, json!({}));
        check(None, &["b"], &source, json!({"b": ["v"]}));
        check(None, &["o", "e"], &source, json!({}));
        check(None, &["o.z"], &source, json!({"o.z": [3, 4]}));
        check(None, &["o*"], &source, json!({"o.y": [2], "o.z": [4, 3, null]}));
        check(None, &["l"], &source, json!({"l": [5]}));
        check(None, &["l.m", "t"], &source, json!({"l.m": [1, 2, 3], "t": [true]}));
        check(Some("n"), &["n.q"], &source["n"][0], json!({"q": [1]}));
    }
}
