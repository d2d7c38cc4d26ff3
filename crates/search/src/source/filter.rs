//! `_source`: "which part of the stored document is returned?"

use limber_mapping::RequestError;
use limber_work as work;
use serde_json::Value;

use crate::values::json;

/// Elasticsearch's `FetchSourceContext`.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceFilter {
    /// `false` if no `_source` is returned at all.
    pub fetch: bool,
    /// Paths or patterns with `*`; empty means everything.
    pub includes: Vec<String>,
    /// Paths or patterns with `*` to exclude from that.
    pub excludes: Vec<String>,
}

impl Default for SourceFilter {
    fn default() -> SourceFilter {
        SourceFilter { fetch: true, includes: Vec::new(), excludes: Vec::new() }
    }
}

impl SourceFilter {
    /// Returns the filter that returns no `_source`.
    pub fn none() -> SourceFilter {
        SourceFilter { fetch: false, ..SourceFilter::default() }
    }

    /// Whether the stored bytes can be returned as they are.
    pub fn is_everything(&self) -> bool {
        self.fetch && self.includes.is_empty() && self.excludes.is_empty()
    }

    /// Parses the value of `_source`: a boolean, a pattern, a list of patterns, or
    /// `{"includes", "excludes"}`.
    pub fn parse(value: &Value) -> Result<SourceFilter, RequestError> {
        let mut filter = SourceFilter::default();
        match value {
            Value::Bool(fetch) => filter.fetch = *fetch,
            Value::String(pattern) => filter.includes.push(pattern.clone()),
            Value::Array(_) => filter.includes = patterns("_source", value)?,
            Value::Object(members) => {
                for (name, value) in members {
                    if matches!(name.as_str(), "include" | "exclude") {
                        work::warn_renamed(name, &format!("{name}s"));
                    }
                    match name.as_str() {
                        "includes" | "include" => filter.includes = patterns(name, value)?,
                        "excludes" | "exclude" => filter.excludes = patterns(name, value)?,
                        // There are no vector fields, so nothing would be excluded either way.
                        "exclude_vectors" if value.is_boolean() => {}
                        _ => return Err(json::unknown_key(name, value)),
                    }
                }
            }
            other => {
                return Err(RequestError::parsing(format!(
                    "Expected one of [VALUE_BOOLEAN, VALUE_STRING, START_ARRAY, START_OBJECT] but found [{}]",
                    json::token(other)
                )));
            }
        }
        Ok(filter)
    }
}

fn patterns(key: &str, value: &Value) -> Result<Vec<String>, RequestError> {
    match value {
        Value::String(pattern) => Ok(vec![pattern.clone()]),
        Value::Array(items) => items.iter().map(json::text).collect(),
        other => Err(json::unknown_key(key, other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_form_is_read() {
        let check = |value: Value, fetch: bool, includes: &[&str], excludes: &[&str]| {
            let filter = SourceFilter::parse(&value).unwrap();
            assert_eq!(
                (filter.fetch, filter.includes, filter.excludes),
                (
                    fetch,
                    includes.iter().map(|s| s.to_string()).collect(),
                    excludes.iter().map(|s| s.to_string()).collect()
                )
            );
        };
        check(json!(false), false, &[], &[]);
        check(json!("a*"), true, &["a*"], &[]);
        check(json!(["a", "b.*"]), true, &["a", "b.*"], &[]);
        check(json!({"include": "a", "excludes": ["b"]}), true, &["a"], &["b"]);
        check(json!({"includes": ["a"], "exclude_vectors": false}), true, &["a"], &[]);
        assert_eq!(
            SourceFilter::parse(&json!({"exclude_vectors": "no"})).unwrap_err().reason,
            "Unknown key for a VALUE_STRING in [exclude_vectors]."
        );
        assert_eq!(
            SourceFilter::parse(&json!({"foo": 1})).unwrap_err().reason,
            "Unknown key for a VALUE_NUMBER in [foo]."
        );
    }
}
