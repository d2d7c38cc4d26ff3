//! The settings of one tokenizer, filter or analyzer, read as Elasticsearch reads them.

use serde_json::{Map, Value};

use crate::RequestError;

/// Settings are strings as often as not.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A list, or its parts between commas.
pub(super) fn strings(value: Option<&Value>) -> Vec<String> {
    match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => list.iter().map(text).collect(),
        // A list as flat settings have it.
        Some(Value::Object(numbered)) => numbered.values().map(text).collect(),
        Some(one) => {
            text(one).split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
        }
    }
}

/// The settings that a part was declared with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings<'a> {
    pub name: &'a str,
    pub body: &'a Map<String, Value>,
}

impl<'a> Settings<'a> {
    /// The setting as it was given; `None` when it is absent or null.
    pub fn value(&self, key: &str) -> Option<&'a Value> {
        self.body.get(key).filter(|value| !value.is_null())
    }

    /// The setting as text.
    pub fn text(&self, key: &str) -> Option<String> {
        self.value(key).map(text)
    }

    /// The setting as text, or `default`.
    pub fn text_or(&self, key: &str, default: &str) -> String {
        self.text(key).unwrap_or_else(|| default.to_owned())
    }

    /// `None`: the setting is not there.
    pub fn list(&self, key: &str) -> Option<Vec<String>> {
        self.value(key).map(|value| strings(Some(value)))
    }

    /// The setting as `true` or `false`; anything else is an error.
    pub fn bool(&self, key: &str, default: bool) -> Result<bool, RequestError> {
        match self.text(key).as_deref() {
            None => Ok(default),
            Some("true") => Ok(true),
            Some("false") => Ok(false),
            Some(other) => Err(RequestError::illegal_argument(format!(
                "Failed to parse value [{other}] as only [true] or [false] are allowed."
            ))),
        }
    }

    /// The setting as a whole number; anything else is an error.
    pub fn int(&self, key: &str, default: i32) -> Result<i32, RequestError> {
        match self.text(key) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| not_a_number("int", key, &text)),
        }
    }

    /// A number from 0 on; `refusal` is the reason for one below `least`.
    pub fn count(
        &self,
        key: &str,
        default: i32,
        least: i32,
        refusal: impl FnOnce(i32) -> String,
    ) -> Result<usize, RequestError> {
        let found = self.int(key, default)?;
        if found < least {
            return Err(RequestError::illegal_argument(refusal(found)));
        }
        Ok(usize::try_from(found).unwrap_or(0))
    }

    /// Whether a part was declared with these, and is not meant by its name alone.
    pub fn is_declared(&self) -> bool {
        self.body.contains_key("type")
    }
}

/// As Elasticsearch refuses a number: a `settings_exception` that is the server's fault.
fn not_a_number(kind: &str, key: &str, text: &str) -> RequestError {
    let reason = format!("Failed to parse {kind} setting [{key}] with value [{text}]");
    let cause = format!("For input string: \"{text}\"");
    RequestError::internal("settings_exception", reason)
        .caused_by(RequestError::bad_request("number_format_exception", cause))
}
