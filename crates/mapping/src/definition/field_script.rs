//! The parameter `script`: a script computes the field's values when a document is written.
//!
//! Source: Elasticsearch's `FieldMapper.Parameter#scriptParam`, `Script#parse`; error messages are those of
//! 9.4.3.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::RequestError;
use crate::field::{Leaf, RuntimeScript};
use crate::json::java::{java_text, mapper_parsing};

/// Parameters about values in documents, which such a field does not have.
const PRECLUDED: &[&str] = &["ignore_malformed", "coerce", "null_value", "ignore_z_value"];

/// Returns a script as `{"source", "lang", "params"}`, without empty `params`.
pub(crate) fn long_form(value: &Value, field: &str) -> Result<Value, RequestError> {
    let refused = |reason: String| Err(RequestError::illegal_argument(reason));
    let mut long = Map::new();
    let members = match value {
        Value::Null => return Ok(Value::Null),
        Value::String(source) => {
            long.insert("source".into(), source.as_str().into());
            long.insert("lang".into(), "painless".into());
            return Ok(long.into());
        }
        Value::Object(members) => members,
        _ => return refused("Script value should be a String or a Map".to_owned()),
    };
    if members.contains_key("id") {
        return refused(format!("stored scripts are not supported on field [{field}]"));
    }
    let parse_exception = |reason: String| Err(RequestError::bad_request("parse_exception", reason));
    for (name, value) in members {
        let (wanted, fits) = match name.as_str() {
            "source" | "lang" => ("String", value.is_string()),
            "params" | "options" => ("Map", value.is_object()),
            _ => return parse_exception(format!("Unsupported field [{name}]")),
        };
        if !fits {
            return parse_exception(format!("Value must be of type {wanted}: [{name}]"));
        }
    }
    let member = |name: &str| members.get(name).cloned();
    if member("options").is_some_and(|options| options != Value::Object(Map::new())) {
        return Err(RequestError::unsupported("[options] of a script"));
    }
    let Some(source) = member("source") else {
        return refused(
            "must specify either [source] for an inline script or [id] for a stored script".to_owned(),
        );
    };
    long.insert("source".into(), source);
    long.insert("lang".into(), member("lang").unwrap_or_else(|| "painless".into()));
    if let Some(params) = member("params").filter(|params| *params != Value::Object(Map::new())) {
        long.insert("params".into(), params);
    }
    Ok(long.into())
}

/// Formats the long form as Java prints a script.
pub(crate) fn shown(script: &Value) -> String {
    let member = |name: &str| script[name].as_str().unwrap_or_default();
    let params = match &script["params"] {
        Value::Null => "{}".to_owned(),
        params => java_text(params),
    };
    format!(
        "Script{{type=inline, lang='{}', idOrCode='{}', options={{}}, params={params}}}",
        member("lang"),
        member("source")
    )
}

/// Checks that the field's other parameters are compatible with a script.
pub(crate) fn check_script(leaf: &Leaf, name: &str) -> Result<(), RequestError> {
    let illegal = |reason: String| Err(RequestError::illegal_argument(reason));
    if !leaf.params.contains_key("script") {
        return match leaf.params.get("on_script_error") {
            Some(_) => illegal("Field [on_script_error] requires field [script] to be configured".to_owned()),
            None => Ok(()),
        };
    }
    if !leaf.kind.takes_script() {
        return illegal(format!("Unknown parameter [script] for mapper [{name}]"));
    }
    if let Some(precluded) = PRECLUDED.iter().find(|name| leaf.params.contains_key(**name)) {
        return illegal(format!("Field [{precluded}] cannot be set in conjunction with field [script]"));
    }
    if !leaf.flag("index") && !leaf.flag("doc_values") {
        return Err(mapper_parsing("Cannot define script on field with index:false and doc_values:false"));
    }
    if leaf.flag("store") {
        return Err(RequestError::unsupported(format!("[store] on field [{name}] with a [script]")));
    }
    if !leaf.fields.is_empty() {
        return Err(mapper_parsing("Cannot define multifields on a field with a script"));
    }
    if !leaf.copy_to.is_empty() {
        return Err(mapper_parsing("Cannot define copy_to parameter on a field with a script"));
    }
    Ok(())
}

/// Returns the script that computes the values of a field.
pub(crate) fn script_of(leaf: &Leaf) -> Option<RuntimeScript> {
    let script = leaf.params.get("script")?.clone();
    Some(RuntimeScript {
        script: Some(Arc::new(script)),
        continues_on_error: leaf.param("on_script_error") == "continue",
        ..RuntimeScript::default()
    })
}
