//! The settings of a tokenizer, filter or analyzer, parsed like Elasticsearch does.

use serde_json::{Map, Value};

use crate::RequestError;

/// Returns a setting as a string, which it often is already.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns the items of a list, or of a comma-separated string.
pub(super) fn strings(value: Option<&Value>) -> Vec<String> {
    match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(list)) => list.iter().map(text).collect(),
        // A list in the form of flat settings.
        Some(Value::Object(numbered)) => numbered.values().map(text).collect(),
        Some(one) => {
            let list = text(one);
            if !limber_work::has_room_for_pieces(&list, ",") {
                return Vec::new();
            }
            list.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
        }
    }
}

/// The settings with which a component was declared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings<'a> {
    pub name: &'a str,
    pub body: &'a Map<String, Value>,
}

impl<'a> Settings<'a> {
    /// Returns the setting as given; `None` if it is absent or null.
    pub fn value(&self, key: &str) -> Option<&'a Value> {
        self.body.get(key).filter(|value| !value.is_null())
    }

    /// Returns the setting as a string.
    pub fn text(&self, key: &str) -> Option<String> {
        self.value(key).map(text)
    }

    /// Returns the setting as a string, or `default`.
    pub fn text_or(&self, key: &str, default: &str) -> String {
        self.text(key).unwrap_or_else(|| default.to_owned())
    }

    /// Returns the setting as a list; `None` if it is absent.
    pub fn list(&self, key: &str) -> Option<Vec<String>> {
        self.value(key).map(|value| strings(Some(value)))
    }

    /// Returns the setting as a boolean; anything else is an error.
    pub fn bool(&self, key: &str, default: bool) -> Result<bool, RequestError> {
        match self.text(key).as_deref() {
            None => Ok(default),
            Some("true") => Ok(true),
            Some("false") => Ok(false),
            Some(other) => Err(RequestError::not_a_boolean(other)),
        }
    }

    /// Returns the setting as an integer; anything else is an error.
    pub fn int(&self, key: &str, default: i32) -> Result<i32, RequestError> {
        match self.text(key) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| not_a_number("int", key, &text)),
        }
    }

    /// Returns a non-negative number; `refusal` gives the error for one below `least`.
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

    /// Whether the component was declared with these settings, instead of being used by its name only.
    pub fn is_declared(&self) -> bool {
        self.body.contains_key("type")
    }
}

/// Returns Elasticsearch's error about a malformed number: a `settings_exception`, which counts as the
/// server's fault.
fn not_a_number(kind: &str, key: &str, text: &str) -> RequestError {
    let reason = format!("Failed to parse {kind} setting [{key}] with value [{text}]");
    RequestError::internal("settings_exception", reason).caused_by(RequestError::number_format(text))
}
