//! What a data stream itself sets: settings and mappings over those of its template, and its options.
//!
//! Source: `settings`, `mappings` and `data_stream_options` of Elasticsearch's `DataStream`.

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value, json};

use super::TemplateBody;
use crate::api::Result;
use crate::settings::FlatSettings;

/// What a data stream sets for the backing indices that it creates from now on. It takes precedence over the
/// template.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StreamOverrides {
    /// Settings by their flat keys; without nulls.
    pub(crate) settings: FlatSettings,
    /// The body of a mapping.
    pub(crate) mappings: Map<String, Value>,
    /// Its options, if they were set.
    pub(crate) options: Option<StreamOptions>,
}

impl StreamOverrides {
    /// Adds settings. A null removes an override, so that the template's setting applies again.
    pub(crate) fn set(&mut self, settings: &FlatSettings) {
        for (key, value) in settings {
            match value.is_null() {
                true => drop(self.settings.shift_remove(key)),
                false => drop(self.settings.insert(key.clone(), value.clone())),
            }
        }
    }

    /// Returns what is laid over the template.
    pub(crate) fn as_template(&self) -> TemplateBody {
        TemplateBody {
            settings: Some(self.settings.clone()),
            mappings: Some(self.mappings.clone()),
            ..TemplateBody::default()
        }
    }

    /// Renders the overrides as the node's state stores them; null if there are none.
    pub(crate) fn to_json(&self) -> Value {
        match *self == StreamOverrides::default() {
            true => Value::Null,
            false => json!({
                "settings": self.settings,
                "mappings": self.mappings,
                "options": self.options.map(StreamOptions::to_json),
            }),
        }
    }

    pub(crate) fn from_json(value: &Value) -> Result<StreamOverrides> {
        let object = |key: &str| value[key].as_object().cloned().unwrap_or_default();
        Ok(StreamOverrides {
            settings: object("settings"),
            mappings: object("mappings"),
            options: match &value["options"] {
                Value::Null => None,
                body => Some(StreamOptions::parse(body)?),
            },
        })
    }
}

/// The options of a data stream. Elasticsearch's only option is the failure store, which can be declared as
/// disabled here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StreamOptions {
    /// Whether the failure store was declared as disabled.
    has_disabled_failure_store: bool,
}

impl StreamOptions {
    /// # Errors
    /// Fails for options that Elasticsearch does not know, and for an enabled failure store, which is not
    /// supported.
    pub(crate) fn parse(body: &Value) -> Result<StreamOptions> {
        let members = body.as_object().ok_or_else(|| RequestError::parsing("[options] is an object"))?;
        let mut options = StreamOptions { has_disabled_failure_store: false };
        for (key, value) in members {
            match key.as_str() {
                "failure_store" => options.has_disabled_failure_store = is_disabled_store(value)?,
                other => return Err(ObjectParser::new("options").unknown(other)),
            }
        }
        Ok(options)
    }

    /// Whether there is nothing to show.
    pub(crate) fn is_empty(self) -> bool {
        !self.has_disabled_failure_store
    }

    pub(crate) fn to_json(self) -> Value {
        match self.has_disabled_failure_store {
            true => json!({"failure_store": {"enabled": false}}),
            false => json!({}),
        }
    }
}

/// Reads `failure_store`. Returns whether it is declared as disabled; null leaves it undeclared.
fn is_disabled_store(body: &Value) -> Result<bool> {
    let members = match body {
        Value::Null => return Ok(false),
        Value::Object(members) => members,
        _ => return Err(RequestError::parsing("[failure_store] is an object")),
    };
    for (key, value) in members {
        match key.as_str() {
            "enabled" | "lifecycle" if value.is_null() => {}
            "enabled" if super::alias::flag(key, value)? == Some(false) => {}
            "enabled" => return Err(RequestError::unsupported("[failure_store] of a data stream")),
            "lifecycle" => return Err(RequestError::unsupported("[failure_store.lifecycle]")),
            other => return Err(ObjectParser::new("failure_store").unknown(other)),
        }
    }
    match members.get("enabled").is_some_and(|enabled| !enabled.is_null()) {
        true => Ok(true),
        false => Err(RequestError::illegal_argument(
            "Failure store configuration should have at least one non-null configuration value.",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overrides_are_kept_as_they_are() {
        let mut overrides = StreamOverrides::default();
        assert_eq!(overrides.to_json(), Value::Null);
        let settings = |value: Value| value.as_object().expect("an object").clone();
        overrides.set(&settings(json!({"index.number_of_shards": "3", "index.lifecycle.name": "a"})));
        overrides.set(&settings(json!({"index.lifecycle.name": null})));
        overrides.mappings = settings(json!({"properties": {"a": {"type": "ip"}}}));
        overrides.options =
            Some(StreamOptions::parse(&json!({"failure_store": {"enabled": false}})).expect("ok"));
        assert_eq!(Value::Object(overrides.settings.clone()), json!({"index.number_of_shards": "3"}));
        assert_eq!(StreamOverrides::from_json(&overrides.to_json()), Ok(overrides));
        assert_eq!(StreamOverrides::from_json(&Value::Null), Ok(StreamOverrides::default()));
    }

    #[test]
    fn options_are_read_strictly() {
        let check = |body: Value, expected: &str| match StreamOptions::parse(&body) {
            Ok(options) => assert_eq!(options.to_json().to_string(), expected, "{body}"),
            Err(error) => assert!(error.reason.contains(expected), "{body}: {}", error.reason),
        };
        check(json!({}), "{}");
        check(json!({"failure_store": null}), "{}");
        check(json!({"failure_store": {"enabled": false}}), r#"{"failure_store":{"enabled":false}}"#);
        check(json!({"failure_store": {"enabled": true}}), "not supported by Limber");
        check(json!({"failure_store": {"lifecycle": {"data_retention": "1d"}}}), "[failure_store.lifecycle]");
        check(json!({"failure_store": {"enabled": null}}), "at least one non-null configuration value");
        check(json!({"failure_store": {"on": false}}), "unknown field [on]");
        check(json!({"lifecycle": {}}), "unknown field [lifecycle]");
    }
}
