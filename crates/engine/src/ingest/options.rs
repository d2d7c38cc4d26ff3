//! A processor's options: "what did the user configure, and is anything wrong with it?"
//!
//! Options are taken one by one; any that are left at the end are refused. Messages are worded like those of
//! Elasticsearch's `ConfigurationUtils`.

use limber_mapping::{RequestError, java_class, plain_text};
use limber_script::mustache::Escape;
use serde_json::{Map, Value};

use super::document::path::FieldPath;
use super::template::{FieldName, Text};

/// The result of reading an option.
type Result<T> = std::result::Result<T, RequestError>;

/// The options of one processor (or of a pipeline, when `kind` is empty).
#[derive(Debug)]
pub struct Options {
    map: Map<String, Value>,
    kind: String,
    tag: Option<String>,
}

impl Options {
    /// Wraps the options of a processor of type `kind`.
    pub fn new(map: Map<String, Value>, kind: &str) -> Options {
        Options { map, kind: kind.to_owned(), tag: None }
    }

    /// Makes a `parse_exception` about `property`, with the processor's type and tag.
    pub fn error(&self, property: &str, reason: &str) -> RequestError {
        let text = if property.is_empty() { reason.to_owned() } else { format!("[{property}] {reason}") };
        let mut error = RequestError::bad_request("parse_exception", text);
        if !property.is_empty() {
            error = error.with("property_name", property);
        }
        if !self.kind.is_empty() {
            error = error.with("processor_type", self.kind.as_str());
        }
        if let Some(tag) = &self.tag {
            error = error.with("processor_tag", tag.as_str());
        }
        error
    }

    /// Reads `tag`, which later errors include.
    pub fn take_tag(&mut self) -> Result<Option<String>> {
        self.tag = self.optional_string("tag")?;
        Ok(self.tag.clone())
    }

    /// Takes the raw option. JSON `null` counts as absent.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.map.shift_remove(name).filter(|value| !value.is_null())
    }

    /// Whether the option was given and is not taken yet.
    pub fn has(&self, name: &str) -> bool {
        self.map.contains_key(name)
    }

    /// Reads a required option of any type.
    pub fn value(&mut self, name: &str) -> Result<Value> {
        self.take(name).ok_or_else(|| self.missing(name))
    }

    fn missing(&self, name: &str) -> RequestError {
        self.error(name, "required property is missing")
    }

    fn wrong_type(&self, name: &str, wanted: &str, value: &Value) -> RequestError {
        self.error(name, &format!("property isn't a {wanted}, but of type [{}]", java_class(value)))
    }

    /// Reads an optional string. Another type is an error.
    pub fn optional_string(&mut self, name: &str) -> Result<Option<String>> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong_type(name, "string", &other)),
        }
    }

    /// Reads a required string.
    pub fn string(&mut self, name: &str) -> Result<String> {
        self.optional_string(name)?.ok_or_else(|| self.missing(name))
    }

    /// Reads a string that defaults to `default`.
    pub fn string_or(&mut self, name: &str, default: &str) -> Result<String> {
        Ok(self.optional_string(name)?.unwrap_or_else(|| default.to_owned()))
    }

    /// Reads `order`, which defaults to `asc`. Returns whether it is `desc`.
    pub fn is_descending(&mut self) -> Result<bool> {
        match self.string_or("order", "asc")?.as_str() {
            "asc" => Ok(false),
            "desc" => Ok(true),
            other => {
                let reason =
                    format!("Sort direction [{other}] not recognized. Valid values are: [asc, desc]");
                Err(self.error("order", &reason))
            }
        }
    }

    /// Reads a boolean that defaults to `default`.
    pub fn bool_or(&mut self, name: &str, default: bool) -> Result<bool> {
        match self.take(name) {
            None => Ok(default),
            Some(Value::Bool(value)) => Ok(value),
            Some(other) => Err(self.wrong_type(name, "boolean", &other)),
        }
    }

    /// Reads an optional 32-bit integer, which may be given as a string.
    pub fn optional_int(&mut self, name: &str) -> Result<Option<i64>> {
        match self.take(name) {
            None => Ok(None),
            Some(value) => {
                let text = plain_text(&value);
                let number = text.parse::<i32>().map_err(|_| {
                    self.error(name, &format!("property cannot be converted to an int [{text}]"))
                })?;
                Ok(Some(i64::from(number)))
            }
        }
    }

    /// Reads a required number, which may be given as a string.
    pub fn double(&mut self, name: &str) -> Result<f64> {
        let value = self.value(name)?;
        let text = plain_text(&value);
        text.parse()
            .map_err(|_| self.error(name, &format!("property cannot be converted to a double [{text}]")))
    }

    /// Reads an optional array. Another type is an error.
    pub fn optional_list(&mut self, name: &str) -> Result<Option<Vec<Value>>> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Array(values)) => Ok(Some(values)),
            Some(other) => Err(self.wrong_type(name, "list", &other)),
        }
    }

    /// Reads an optional object. Another type is an error.
    pub fn optional_map(&mut self, name: &str) -> Result<Option<Map<String, Value>>> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(map)),
            Some(other) => Err(self.wrong_type(name, "map", &other)),
        }
    }

    /// Reads a required array of strings.
    pub fn strings(&mut self, name: &str) -> Result<Vec<String>> {
        let values = self.optional_list(name)?.ok_or_else(|| self.missing(name))?;
        values.into_iter().map(|value| self.text_of(name, value)).collect()
    }

    /// Reads a string or an array of strings; `None` when absent.
    pub fn string_or_list(&mut self, name: &str) -> Result<Option<Vec<String>>> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Array(values)) => {
                values.into_iter().map(|value| self.text_of(name, value)).collect::<Result<_>>().map(Some)
            }
            Some(value) => Ok(Some(vec![self.text_of(name, value)?])),
        }
    }

    fn text_of(&self, name: &str, value: Value) -> Result<String> {
        match value {
            Value::String(text) => Ok(text),
            other => Err(self.wrong_type(name, "string", &other)),
        }
    }

    /// Takes all options that are left.
    pub fn take_rest(&mut self) -> Map<String, Value> {
        std::mem::take(&mut self.map)
    }

    /// Adds the processor's type and tag to an error.
    pub fn locate(&self, mut error: RequestError) -> RequestError {
        error = error.with("processor_type", self.kind.as_str());
        match &self.tag {
            Some(tag) => error.with("processor_tag", tag.as_str()),
            None => error,
        }
    }

    /// Replaces the type and tag that an inner processor added to an error with those of this one.
    pub fn relocate(&self, mut error: RequestError) -> RequestError {
        error.metadata.retain(|name, _| !matches!(name.as_str(), "processor_type" | "processor_tag"));
        self.locate(error)
    }

    /// Reads a required field name that may be a template.
    pub fn field_name(&mut self, name: &str) -> Result<FieldName> {
        FieldName::parse(&self.string(name)?)
    }

    /// Reads a required field name that is not a template.
    pub fn path(&mut self, name: &str) -> Result<FieldPath> {
        FieldPath::parse(&self.string(name)?)
    }

    /// Reads an optional field name that is not a template.
    pub fn optional_path(&mut self, name: &str) -> Result<Option<FieldPath>> {
        self.optional_string(name)?.map(|text| FieldPath::parse(&text)).transpose()
    }

    /// Reads a required string that may be a template.
    pub fn template(&mut self, name: &str) -> Result<Text> {
        Text::parse(&self.string(name)?)
    }

    /// Reads `media_type` (`application/json`), which says how the values of a template are escaped.
    pub fn media_type(&mut self) -> Result<Escape> {
        let media_type = self.string_or("media_type", "application/json")?;
        Escape::of_plain_media_type(&media_type).ok_or_else(|| {
            let reason = format!("property does not contain a supported media type [{media_type}]");
            self.error("media_type", &reason)
        })
    }

    /// Fails when options are left that were not taken.
    pub fn finish(self) -> Result<()> {
        if self.map.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = self.map.keys().map(String::as_str).collect();
        let names = names.join(", ");
        let kind = &self.kind;
        Err(self.error(
            "",
            &format!(
                "processor [{kind}] doesn't support one or more provided configuration parameters [{names}]"
            ),
        ))
    }

    /// Does the same as [`Self::finish`] for the options of a pipeline.
    pub fn finish_pipeline(self, id: &str) -> Result<()> {
        if self.map.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = self.map.keys().map(String::as_str).collect();
        let names = names.join(", ");
        Err(self.error(
            "",
            &format!(
                "pipeline [{id}] doesn't support one or more provided configuration parameters [{names}]"
            ),
        ))
    }
}
