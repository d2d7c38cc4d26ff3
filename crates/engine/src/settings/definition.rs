//! The definition of one setting, and the errors for unknown ones.

use limber_mapping::RequestError;
use limber_text::likeness;
use serde_json::Value;

use crate::api::{ActiveCopies, Result};
use crate::notation::value;

/// The type of a setting's value.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// A whole number.
    Integer {
        /// The smallest value.
        min: i64,
        /// The largest value.
        max: i64,
    },
    /// A decimal number.
    Float {
        /// The smallest value.
        min: f64,
        /// The largest value.
        max: f64,
    },
    /// `true` or `false`.
    Boolean,
    /// A duration such as `30s`.
    Time {
        /// The shortest duration in milliseconds.
        min_ms: i64,
        /// Whether `-1` is allowed, which means "off".
        minus_one: bool,
    },
    /// A size such as `512mb`.
    Bytes {
        /// The smallest size in bytes.
        min: i64,
        /// The largest size in bytes.
        max: i64,
    },
    /// A size, or a percentage of a whole.
    BytesOrPercent,
    /// One of these strings.
    Choice(&'static [&'static str]),
    /// The value is one of these strings. Others are refused in Elasticsearch's words, in which `{}` stands
    /// for the value.
    Worded {
        /// The values.
        there: &'static [&'static str],
        /// The error about any other value.
        refusal: &'static str,
    },
    /// A choice of which Limber supports some values; the others are refused by name.
    PartOf {
        /// The values that Limber supports.
        there: &'static [&'static str],
        /// The values that only Elasticsearch supports.
        missing: &'static [&'static str],
    },
    /// Any string.
    Text,
    /// A list of strings.
    List,
    /// A number of active copies, or `all`.
    Copies,
    /// A log level, named as in Log4j.
    LogLevel,
    /// A setting that Elasticsearch knows and Limber does not support; it is refused by name.
    Unsupported,
    /// A setting that only the node itself sets; users' values are refused.
    Private,
}

const LOG_LEVELS: [&str; 8] = ["all", "debug", "error", "fatal", "info", "off", "trace", "warn"];

/// When a setting may change after the index exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// At any time.
    Dynamic,
    /// While the index is closed.
    Static,
    /// Never.
    Final,
}

/// One row of a table of settings.
#[derive(Debug, Clone, Copy)]
pub struct Definition {
    /// The full key. A trailing `*` matches any rest.
    pub key: &'static str,
    /// The type of its value.
    pub kind: Kind,
    /// The default as `include_defaults` prints it.
    pub default: &'static str,
    /// When it may change.
    pub change: Change,
}

impl Definition {
    /// Makes a row. `default` is the string that `include_defaults` prints.
    pub const fn new(key: &'static str, kind: Kind, default: &'static str, change: Change) -> Definition {
        Definition { key, kind, default, change }
    }

    fn matches(&self, key: &str) -> bool {
        match self.key.strip_suffix('*') {
            Some(prefix) => key.len() > prefix.len() && key.starts_with(prefix),
            None => self.key == key,
        }
    }

    /// Checks the form and the bounds of a value. `null` is always valid.
    pub fn check(&self, key: &str, given: &Value) -> Result<()> {
        let text = match (given, self.kind) {
            (Value::Null, _) => return Ok(()),
            (_, Kind::Unsupported) => return Err(RequestError::unsupported(format_args!("setting [{key}]"))),
            (_, Kind::Private) => return Err(private_setting(key)),
            (Value::Array(_), Kind::List) => return Ok(()),
            (Value::Array(_), _) => {
                return Err(RequestError::illegal_argument(format!(
                    "Found list type value for setting [{key}] but did not expect a list for it."
                )));
            }
            (Value::String(text), _) => text,
            _ => {
                return Err(RequestError::illegal_argument(format!(
                    "Failed to parse value for setting [{key}]"
                )));
            }
        };
        match self.kind {
            Kind::Integer { min, max } => value::parse_integer(key, text, min, max).map(drop),
            Kind::Float { min, max } => value::parse_float(key, text, min, max).map(drop),
            Kind::Boolean => value::parse_bool(key, text).map(drop),
            Kind::Time { min_ms, minus_one } => {
                let ms = value::parse_time_ms(key, text)?;
                if ms < min_ms && !(minus_one && ms == -1) {
                    return Err(RequestError::illegal_argument(format!(
                        "failed to parse value [{text}] for setting [{key}], must be >= [{min_ms}ms]"
                    )));
                }
                Ok(())
            }
            Kind::Bytes { min, max } => {
                let bytes = value::parse_bytes(key, text)?;
                if !(min..=max).contains(&bytes) {
                    let (bound, limit) = if bytes < min { (">=", min) } else { ("<=", max) };
                    return Err(RequestError::illegal_argument(format!(
                        "failed to parse value [{text}] for setting [{key}], must be {bound} [{limit}b]"
                    )));
                }
                Ok(())
            }
            Kind::BytesOrPercent => value::parse_bytes_or_percent(key, text, 1 << 30).map(drop),
            Kind::PartOf { missing, .. } if missing.contains(&text.to_ascii_lowercase().as_str()) => {
                Err(RequestError::unsupported(format_args!("the value [{text}] of [{key}]")))
            }
            Kind::Choice(choices)
            | Kind::PartOf { there: choices, .. }
            | Kind::Worded { there: choices, .. }
                if choices.iter().any(|choice| choice.eq_ignore_ascii_case(text)) =>
            {
                Ok(())
            }
            Kind::Choice(choices) | Kind::PartOf { there: choices, .. } => {
                Err(RequestError::illegal_argument(format!(
                    "unknown value for [{key}] must be one of [{}] but was: {text}",
                    choices.join(", ")
                )))
            }
            Kind::Worded { refusal, .. } => Err(RequestError::illegal_argument(refusal.replace("{}", text))),
            Kind::LogLevel if LOG_LEVELS.contains(&text.to_ascii_lowercase().as_str()) => Ok(()),
            Kind::LogLevel => Err(RequestError::illegal_argument(format!(
                "Unknown level constant [{}].",
                text.to_ascii_uppercase()
            ))),
            Kind::Copies => ActiveCopies::parse(text).map(drop),
            Kind::Text | Kind::List | Kind::Unsupported | Kind::Private => Ok(()),
        }
    }
}

/// Finds the row for `key`. Exact rows take precedence over patterns.
pub fn find(table: &'static [Definition], key: &str) -> Option<&'static Definition> {
    table.iter().find(|row| row.key == key).or_else(|| table.iter().find(|row| row.matches(key)))
}

fn private_setting(key: &str) -> RequestError {
    RequestError::cluster_validation(format!("private index setting [{key}] can not be set explicitly"))
}

/// Makes the error for a key that no table has, in Elasticsearch's words.
///
/// Source: `AbstractScopedSettings#validate`.
pub fn unknown_setting(kind: &str, table: &'static [Definition], key: &str) -> RequestError {
    let known = table
        .iter()
        .filter(|row| !row.key.ends_with('*') && !matches!(row.kind, Kind::Unsupported | Kind::Private))
        .map(|row| row.key);
    let hint = match likeness::nearest(key, known, 0.7).as_slice() {
        [] => " please check that any required plugins are installed, or check the breaking changes documentation for removed settings".to_owned(),
        names => likeness::hint(names),
    };
    RequestError::illegal_argument(format!("{kind}unknown setting [{key}]{hint}"))
}
