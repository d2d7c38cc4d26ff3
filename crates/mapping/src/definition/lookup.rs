//! The parameters of a runtime field of type `lookup`: "which document of which index is shown?"
//!
//! Source: Elasticsearch's `LookupRuntimeFieldType`.

use serde_json::{Map, Value, json};

use crate::RequestError;
use crate::field::LookedUp;
use crate::json::java::{java_text, mapper_parsing};

/// The names of the parameters.
pub(super) const PARAMETERS: &[&str] = &["target_index", "input_field", "target_field", "fetch_fields"];

/// Maximum number of fields that are shown (`index.max_docvalue_fields_search`).
const FIELDS_COUNT_MAX: usize = 100;

/// The parameters as far as they were given.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Lookup {
    target_index: Option<String>,
    input_field: Option<String>,
    target_field: Option<String>,
    fetch_fields: Vec<Value>,
}

impl Lookup {
    /// Sets one of the [`PARAMETERS`] of the field called `name`.
    pub(super) fn set(&mut self, name: &str, parameter: &str, value: &Value) -> Result<(), RequestError> {
        let text = || match value {
            Value::Null | Value::Object(_) | Value::Array(_) => Err(mapper_parsing(format!(
                "[{parameter}] on runtime field [{name}] of type [lookup] must be a text, but was [{}]",
                java_text(value)
            ))),
            scalar => Ok(java_text(scalar)),
        };
        match parameter {
            "target_index" => self.target_index = Some(text()?),
            "input_field" => self.input_field = Some(text()?),
            "target_field" => self.target_field = Some(text()?),
            _ => self.fetch_fields = fetch_fields(value)?,
        }
        Ok(())
    }

    /// Returns what is looked up for the field called `name`.
    ///
    /// # Errors
    /// A parameter without a default is missing.
    pub(super) fn finish(&self, name: &str) -> Result<LookedUp, RequestError> {
        let required = |parameter: &str, given: &Option<String>| {
            given.clone().filter(|text| !text.trim().is_empty()).ok_or_else(|| {
                RequestError::illegal_argument(format!(
                    "[{parameter}] parameter must be specified for the lookup field [{name}]"
                ))
            })
        };
        let target_index = required("target_index", &self.target_index)?;
        let input_field = required("input_field", &self.input_field)?;
        if self.fetch_fields.is_empty() {
            return Err(RequestError::illegal_argument(format!(
                "[fetch_fields] parameter must be specified for the lookup field [{name}]"
            )));
        }
        Ok(LookedUp {
            target_index,
            input_field,
            target_field: self.target_field.clone().unwrap_or_else(|| "_id".to_owned()),
            fetch_fields: self.fetch_fields.clone(),
        })
    }

    /// Adds the parameters to a definition that is shown.
    pub(super) fn render(&self, body: &mut Map<String, Value>) {
        let texts = [
            ("target_index", &self.target_index),
            ("input_field", &self.input_field),
            ("target_field", &self.target_field),
        ];
        for (parameter, text) in texts {
            body.extend(text.clone().map(|text| (parameter.to_owned(), Value::from(text))));
        }
        if !self.fetch_fields.is_empty() {
            body.insert("fetch_fields".into(), self.fetch_fields.clone().into());
        }
    }
}

/// Reads the fields to show, each a name or an object with `field` and `format`. Returns objects.
fn fetch_fields(value: &Value) -> Result<Vec<Value>, RequestError> {
    let items = match value {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    if items.len() > FIELDS_COUNT_MAX {
        let reason = format!("[fetch_fields] may name at most [{FIELDS_COUNT_MAX}] fields");
        return Err(RequestError::illegal_argument(reason));
    }
    let field = |item: &Value| match item {
        Value::String(name) => Ok(json!({"field": name})),
        Value::Object(members)
            if members.get("field").is_some_and(Value::is_string)
                && members.iter().all(|(key, value)| match key.as_str() {
                    "field" | "format" => value.is_string(),
                    "include_unmapped" => value.is_boolean(),
                    _ => false,
                }) =>
        {
            Ok(item.clone())
        }
        other => Err(mapper_parsing(format!(
            "[fetch_fields] contains [{}], which names no field",
            java_text(other)
        ))),
    };
    items.iter().map(field).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: Value) -> Result<LookedUp, RequestError> {
        let mut lookup = Lookup::default();
        for (parameter, value) in body.as_object().expect("an object") {
            lookup.set("f", parameter, value)?;
        }
        lookup.finish("f")
    }

    #[test]
    fn parameters_are_read_and_required() {
        let whole = json!({"target_index": "i", "input_field": "a", "fetch_fields": ["x", {"field": "d", "format": "yyyy"}]});
        let found = read(whole).expect("whole");
        assert_eq!((&*found.target_index, &*found.input_field, &*found.target_field), ("i", "a", "_id"));
        assert_eq!(found.fetch_fields, [json!({"field": "x"}), json!({"field": "d", "format": "yyyy"})]);
        let check = |body: Value, expected: &str| {
            let reason = read(body).expect_err("refused").reason;
            assert!(reason.contains(expected), "{reason}");
        };
        check(
            json!({"input_field": "a", "fetch_fields": ["x"]}),
            "[target_index] parameter must be specified",
        );
        check(json!({"target_index": " ", "input_field": "a", "fetch_fields": ["x"]}), "[target_index]");
        check(json!({"target_index": "i", "fetch_fields": ["x"]}), "[input_field] parameter");
        check(json!({"target_index": "i", "input_field": "a"}), "[fetch_fields] parameter");
        check(json!({"fetch_fields": [1]}), "names no field");
        check(json!({"fetch_fields": [{"field": "x", "size": 1}]}), "names no field");
        check(json!({"target_index": null}), "must be a text");
    }
}
