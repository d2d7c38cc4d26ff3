//! Data stream lifecycles, which say without a policy how long documents are kept.
//!
//! Source: Elasticsearch's `DataStreamLifecycle`, `RolloverConfiguration`.

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value};

use super::conditions::Conditions;
use crate::api::Result;
use crate::notation::value::parse_time_ms;

const HOUR_MS: u64 = 3_600_000;
const DAY_MS: u64 = 24 * HOUR_MS;

/// `lifecycle` of a data stream, or of a template that creates data streams.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamLifecycle {
    /// Whether the lifecycle is carried out.
    pub enabled: bool,
    /// The retention as the user gave it, and in milliseconds; `None` means forever.
    retention: Option<(String, u64)>,
}

impl StreamLifecycle {
    /// # Errors
    /// Parses a lifecycle. Fails for unknown members, and for downsampling, which Limber does not support.
    pub fn parse(body: &Value) -> Result<StreamLifecycle> {
        let mut lifecycle = StreamLifecycle { enabled: true, retention: None };
        let members = match body {
            Value::Null => return Ok(lifecycle),
            Value::Object(members) => members,
            other => return Err(RequestError::parsing(format!("[lifecycle] is an object, not [{other}]"))),
        };
        for (key, value) in members {
            match (key.as_str(), value) {
                ("enabled", Value::Bool(flag)) => lifecycle.enabled = *flag,
                ("data_retention", Value::Null) => lifecycle.retention = None,
                ("data_retention", Value::String(text)) => {
                    let ms = parse_time_ms("data_retention", text)?;
                    let ms = u64::try_from(ms).map_err(|_| {
                        RequestError::illegal_argument(format!(
                            "[data_retention] must not be negative, got [{text}]"
                        ))
                    })?;
                    lifecycle.retention = Some((text.clone(), ms));
                }
                ("downsampling", Value::Null) => {}
                ("downsampling", _) => {
                    return Err(RequestError::unsupported("[downsampling] of a data stream's lifecycle"));
                }
                ("enabled" | "data_retention", other) => {
                    let reason = format!("[{key}] of [lifecycle] cannot be [{other}]");
                    return Err(RequestError::parsing(reason));
                }
                (other, _) => return Err(ObjectParser::new("lifecycle").unknown(other)),
            }
        }
        Ok(lifecycle)
    }

    /// Renders the lifecycle as it is shown; [`StreamLifecycle::parse`] reads it back.
    pub(crate) fn to_json(&self) -> Value {
        let mut body = Map::from_iter([("enabled".to_owned(), self.enabled.into())]);
        self.retention.as_ref().map(|(text, _)| body.insert("data_retention".into(), text.as_str().into()));
        Value::Object(body)
    }

    pub(crate) fn retention_ms(&self) -> Option<u64> {
        self.retention.as_ref().map(|(_, ms)| *ms)
    }

    /// Returns when the write index is rolled over, according to the setting
    /// `cluster.lifecycle.default.rollover`. For `max_age=auto`, the age depends on the retention.
    ///
    /// # Errors
    /// Fails for a setting that is not a list of conditions.
    pub(crate) fn rollover(&self, setting: &str) -> Result<Conditions> {
        let mut body = Map::new();
        for part in setting.split(',').map(str::trim) {
            let Some((name, value)) = part.split_once('=') else {
                return Err(RequestError::illegal_argument(format!(
                    "Invalid condition: '{part}', format must be 'condition=value'"
                )));
            };
            let value = if (name, value) == ("max_age", "auto") { self.max_age() } else { value };
            body.insert(name.to_owned(), value.into());
        }
        let conditions = Conditions::parse(&Value::Object(body))?;
        match conditions.has_max() {
            true => Ok(conditions),
            false => {
                let why = "At least one max_* rollover condition must be set.";
                Err(RequestError::illegal_argument(why))
            }
        }
    }

    fn max_age(&self) -> &'static str {
        match self.retention_ms() {
            Some(ms) if ms <= DAY_MS => "1h",
            Some(ms) if ms <= 14 * DAY_MS => "1d",
            Some(ms) if ms <= 90 * DAY_MS => "7d",
            _ => "30d",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lifecycles_are_read_strictly() {
        let check = |body: Value, expected: &str| match StreamLifecycle::parse(&body) {
            Ok(lifecycle) => assert_eq!(lifecycle.to_json().to_string(), expected),
            Err(error) => assert_eq!(error.reason, expected),
        };
        check(json!({}), r#"{"enabled":true}"#);
        check(
            json!({"data_retention": "7d", "enabled": false}),
            r#"{"enabled":false,"data_retention":"7d"}"#,
        );
        check(json!({"foo": 1}), "[lifecycle] unknown field [foo]");
        check(
            json!({"downsampling": []}),
            "[downsampling] of a data stream's lifecycle is not supported by Limber yet",
        );
        assert!(StreamLifecycle::parse(&json!({"data_retention": "-1"})).is_err());
    }

    #[test]
    fn the_age_goes_by_the_retention() {
        let check = |body: Value, expected: &str| {
            let lifecycle = StreamLifecycle::parse(&body).expect("valid");
            let conditions = lifecycle.rollover("max_age=auto,max_docs=5,min_docs=1").expect("valid");
            assert_eq!(conditions.to_json(), json!({"max_age": expected, "max_docs": 5, "min_docs": 1}));
        };
        check(json!({}), "30d");
        check(json!({"data_retention": "12h"}), "1h");
        check(json!({"data_retention": "14d"}), "1d");
        check(json!({"data_retention": "30d"}), "7d");
        check(json!({"data_retention": "91d"}), "30d");
        let lifecycle = StreamLifecycle::parse(&json!({})).expect("valid");
        for wrong in ["", "max_age", "min_docs=1", "max_age=x"] {
            assert!(lifecycle.rollover(wrong).is_err(), "{wrong}");
        }
    }
}
