//! One known setting, and what is said about unknown ones.

use limber_mapping::RequestError;
use limber_text::likeness;
use serde_json::Value;

use crate::api::Result;
use crate::notation::value;

/// What a setting's value may be.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// A whole number.
    Integer {
        /// The smallest value.
        min: i64,
        /// The largest value.
        max: i64,
    },
    /// A number.
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
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A choice of which Limber has a part: the others are refused by name.
    PartOf {
        /// The words that Limber takes.
        there: &'static [&'static str],
        /// Words that Elasticsearch takes and Limber refuses.
        missing: &'static [&'static str],
    },
    /// Any text.
    Text,
    /// A list of texts.
    List,
    /// A level of a log, as Log4j names them.
    LogLevel,
    /// Known to Elasticsearch, not to Limber: refused by name.
    Unsupported,
    /// Written by the node itself, refused from users.
    Private,
}

const LOG_LEVELS: [&str; 8] = ["all", "debug", "error", "fatal", "info", "off", "trace", "warn"];

/// When a setting may change after the index exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Any time.
    Dynamic,
    /// While the index is closed.
    Static,
    /// Never.
    Final,
}

/// One row of a table of settings.
#[derive(Debug, Clone, Copy)]
pub struct Definition {
    /// The full key; a trailing `*` stands for any rest.
    pub key: &'static str,
    /// What its value may be.
    pub kind: Kind,
    /// As `include_defaults` prints it.
    pub default: &'static str,
    /// When it may change.
    pub change: Change,
}

impl Definition {
    /// A row; `default` is text as `include_defaults` prints it.
    pub const fn new(key: &'static str, kind: Kind, default: &'static str, change: Change) -> Definition {
        Definition { key, kind, default, change }
    }

    fn matches(&self, key: &str) -> bool {
        match self.key.strip_suffix('*') {
            Some(prefix) => key.len() > prefix.len() && key.starts_with(prefix),
            None => self.key == key,
        }
    }

    /// Checks a value's form and bounds; `null` is always right.
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
            Kind::Choice(choices) | Kind::PartOf { there: choices, .. }
                if choices.contains(&text.to_ascii_lowercase().as_str()) =>
            {
                Ok(())
            }
            Kind::Choice(choices) | Kind::PartOf { there: choices, .. } => {
                Err(RequestError::illegal_argument(format!(
                    "unknown value for [{key}] must be one of [{}] but was: {text}",
                    choices.join(", ")
                )))
            }
            Kind::LogLevel if LOG_LEVELS.contains(&text.to_ascii_lowercase().as_str()) => Ok(()),
            Kind::LogLevel => Err(RequestError::illegal_argument(format!(
                "Unknown level constant [{}].",
                text.to_ascii_uppercase()
            ))),
            Kind::Text | Kind::List | Kind::Unsupported | Kind::Private => Ok(()),
        }
    }
}

/// The row for `key`; exact rows win over patterns.
pub fn find(table: &'static [Definition], key: &str) -> Option<&'static Definition> {
    table.iter().find(|row| row.key == key).or_else(|| table.iter().find(|row| row.matches(key)))
}

fn private_setting(key: &str) -> RequestError {
    RequestError::bad_request(
        "validation_exception",
        format!("Validation Failed: 1: private index setting [{key}] can not be set explicitly;"),
    )
}

/// Elasticsearch's words for a key that no table has.
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
