//! OpenSearch's derived fields: runtime fields under another name, in a section `derived` of mappings and
//! searches.
//!
//! Source: OpenSearch's `DerivedFieldMapper` and `DerivedFieldType`; messages as recorded from OpenSearch
//! 3.8.

use serde_json::{Map, Value, json};

use crate::RequestError;
use crate::json::java::{java_class, java_text, mapper_parsing};

/// Types of derived fields, each with the runtime type that has the same values.
const KINDS: [(&str, &str); 8] = [
    ("boolean", "boolean"),
    ("date", "date"),
    ("double", "double"),
    ("float", "double"),
    ("geo_point", "geo_point"),
    ("ip", "ip"),
    ("keyword", "keyword"),
    ("long", "long"),
];

/// OpenSearch's types that Limber does not have.
const KINDS_MISSING: [&str; 3] = ["object", "text", "match_only_text"];

/// OpenSearch's parameters that Limber does not have.
const PARAMETERS_MISSING: [&str; 3] = ["ignore_malformed", "prefilter_field", "properties"];

/// A derived field: its name, its declared type, and the equivalent runtime field.
pub(super) type Derived = (String, &'static str, Map<String, Value>);

/// Converts the fields of a section `derived` to runtime fields.
///
/// # Errors
/// OpenSearch's errors. What Limber does not have is refused by name.
pub(super) fn as_runtime(section: &Value) -> Result<Vec<Derived>, RequestError> {
    let Value::Object(members) = section else {
        return Err(mapper_parsing("derived must be a map type"));
    };
    members.iter().map(|(name, body)| field(name, body)).collect()
}

/// Converts the section `derived` of a search to `runtime_mappings`.
///
/// # Errors
/// As for those of a mapping.
pub fn runtime_of_derived(section: &Value) -> Result<Map<String, Value>, RequestError> {
    let fields = as_runtime(section)?.into_iter();
    Ok(fields.map(|(name, _, body)| (name, Value::Object(body))).collect())
}

fn field(name: &str, body: &Value) -> Result<Derived, RequestError> {
    let Value::Object(members) = body else {
        return Err(mapper_parsing(format!(
            "Expected map for property [derived_fields] on field [{name}] but got a {}",
            java_class(body)
        )));
    };
    let kind = members.get("type").map(java_text).unwrap_or_default();
    if KINDS_MISSING.contains(&kind.as_str()) {
        return Err(RequestError::unsupported(format_args!(
            "the type [{kind}] of the derived field [{name}]"
        )));
    }
    let Some((shown, runtime)) = KINDS.iter().find(|(known, _)| *known == kind) else {
        let reason = format!("Type [{kind}] isn't supported in Derived field context.");
        return Err(RequestError::illegal_argument(reason));
    };
    let mut made = Map::new();
    made.insert("type".into(), json!(runtime));
    for (parameter, value) in members {
        match parameter.as_str() {
            "type" => {}
            "script" => drop(made.insert("script".into(), value.clone())),
            "format" if *runtime == "date" => drop(made.insert("format".into(), value.clone())),
            other if PARAMETERS_MISSING.contains(&other) => {
                return Err(RequestError::unsupported(format_args!(
                    "[{other}] of the derived field [{name}]"
                )));
            }
            other => {
                return Err(mapper_parsing(format!(
                    "unknown parameter [{other}] on mapper [{name}] of type [{kind}]"
                )));
            }
        }
    }
    if !made.contains_key("script") {
        return Err(RequestError::unsupported(format_args!("the derived field [{name}] without a [script]")));
    }
    Ok((name.to_owned(), shown, made))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_fields_are_runtime_fields() {
        let made = runtime_of_derived(&json!({"a": {"type": "float", "script": "emit(1.5)"}}));
        assert_eq!(made.map(Value::Object), Ok(json!({"a": {"type": "double", "script": "emit(1.5)"}})));
        for (body, reason) in [
            (json!({"type": "foo", "script": "x"}), "Type [foo] isn't supported in Derived field context."),
            (json!({"script": "x"}), "Type [] isn't supported in Derived field context."),
            (
                json!({"type": "long", "script": "x", "foo": 1}),
                "unknown parameter [foo] on mapper [a] of type [long]",
            ),
        ] {
            assert_eq!(runtime_of_derived(&json!({"a": body})).expect_err("refused").reason, reason);
        }
        for body in [json!({"type": "text", "script": "x"}), json!({"type": "long"}), json!(null)] {
            assert!(runtime_of_derived(&json!({"a": body})).is_err());
        }
    }
}
