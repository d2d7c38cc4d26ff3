//! Checks a parameter's value and converts it to normal form: "may this field have this setting?"

use serde_json::{Value, json};

use crate::RequestError;
use crate::date::DateFormat;
use crate::field::{Check, FieldType, Param};
use crate::json::java::{boolean, java_text, mapper_parsing};
use crate::settings::{Keep, MappingSettings};

/// Checks a value and converts it to the form that a definition stores. Null means that the parameter counts
/// as absent.
pub(super) fn checked(
    param: &Param,
    value: &Value,
    field: &str,
    kind: &dyn FieldType,
    settings: &MappingSettings,
) -> Result<Value, RequestError> {
    let conversion = |what: &str| {
        mapper_parsing(format!(
            "Failed to parse [{}] on field [{field}] of type [{}]: [{}] is not {what}",
            param.name,
            kind.name(),
            java_text(value)
        ))
    };
    match param.check {
        Check::Bool | Check::ExplicitBool => boolean(value).map(Value::Bool),
        Check::Constant => match value {
            Value::String(_) | Value::Number(_) => Ok(java_text(value).into()),
            other => Err(mapper_parsing(format!(
                "Property [{}] on field [{field}] must be a number or a string, but got [{}]",
                param.name,
                java_text(other)
            ))),
        },
        Check::Count => {
            let count = match value {
                Value::Number(number) => number.as_i64(),
                Value::String(text) => text.parse::<i64>().ok(),
                _ => None,
            };
            match count {
                Some(count @ 0..=2_147_483_647) => Ok(count.into()),
                Some(count) if matches!(param.name, "ignore_above" | "depth_limit") => {
                    let reason = format!("[{}] must be positive, got [{count}]", param.name);
                    Err(RequestError::illegal_argument(reason))
                }
                Some(count) => {
                    Err(mapper_parsing(format!("[{}] must be positive, got [{count}]", param.name)))
                }
                None => Err(conversion("an integer")),
            }
        }
        Check::Number => {
            let number = match value {
                Value::Number(number) => number.as_f64(),
                Value::String(text) => text.parse::<f64>().ok(),
                _ => None,
            };
            match number {
                Some(number) if number.is_finite() && number > 0.0 => Ok(number.into()),
                Some(number) => Err(RequestError::illegal_argument(format!(
                    "[scaling_factor] must be a positive number, got [{}]",
                    crate::number::java_double(number)
                ))),
                None => Err(conversion("a number")),
            }
        }
        Check::IndexOptions | Check::TextIndexOptions => match value.as_str() {
            Some("docs" | "freqs") => Ok(value.clone()),
            Some("positions" | "offsets") if param.check == Check::TextIndexOptions => Ok(value.clone()),
            _ => Err(mapper_parsing(format!(
                "Unknown value [{}] for field [index_options] - accepted values are [{}]",
                java_text(value),
                match param.check {
                    Check::TextIndexOptions => "positions, docs, freqs, offsets",
                    _ => "docs, freqs",
                }
            ))),
        },
        Check::Analyzer => {
            let name = value.as_str().ok_or_else(|| conversion("an analyzer's name"))?;
            // The index's default analyzer has this name even if it is not declared.
            if name != "default" && settings.analyzers.get(name).is_none() {
                return Err(mapper_parsing(format!("analyzer [{name}] has not been configured in mappings")));
            }
            let of_index = if param.name == "analyzer" { settings.analyzers.get(name) } else { None };
            match of_index.map(|analyzer| analyzer.updateable_filters()).filter(|names| !names.is_empty()) {
                Some(names) => Err(mapper_parsing(format!(
                    "analyzer [{name}] contains filters [{}] that are not allowed to run in index time mode.",
                    names.join(", ")
                ))),
                None => Ok(value.clone()),
            }
        }
        Check::Normalizer => {
            let name = value.as_str().ok_or_else(|| conversion("a normalizer's name"))?;
            match settings.analyzers.normalizer(name) {
                Some(_) => Ok(value.clone()),
                None => Err(mapper_parsing(format!("normalizer [{name}] not found for field [{field}]"))),
            }
        }
        Check::Similarity => match value.as_str().and_then(|name| settings.similarities.get(name)) {
            Some(_) => Ok(value.clone()),
            None => Err(mapper_parsing(format!(
                "Unknown Similarity type [{}] for field [{field}]",
                java_text(value)
            ))),
        },
        Check::DateFormat => {
            let format = value.as_str().ok_or_else(|| conversion("a date format"))?;
            DateFormat::shared(format).map_err(|error| {
                mapper_parsing(format!("Error parsing [format] on field [{field}]: {}", error.reason))
                    .caused_by(error)
            })?;
            Ok(value.clone())
        }
        Check::NullValue => match value {
            Value::Object(_) | Value::Array(_) => Err(conversion("a scalar")),
            Value::Null => Ok(Value::Null),
            scalar => kind.null_value(scalar),
        },
        Check::NullPoint => match value {
            Value::Null => Ok(Value::Null),
            value => {
                let point = crate::geo::parse_point(value, true)?.checked("")?;
                Ok(json!({"lat": point.latitude, "lon": point.longitude}))
            }
        },
        Check::Orientation => {
            let name = value.as_str().map_or_else(|| java_text(value), str::to_owned);
            let is_clockwise = crate::geo::parse_orientation(&name)?;
            Ok(if is_clockwise { "LEFT" } else { "RIGHT" }.into())
        }
        Check::Relations => Ok(crate::field::join::Relations::parse(value)?.to_json()),
        Check::Prefixes => prefixes(value, field),
        Check::Contexts => {
            let contexts = crate::field::completion::Completion::parse_contexts(value)?;
            Ok(contexts.iter().map(crate::field::completion::CompletionContext::to_json).collect())
        }
        Check::Script => crate::definition::field_script::long_form(value, field),
        Check::ScriptError => match value.as_str() {
            Some("fail" | "continue") => Ok(value.clone()),
            _ => Err(mapper_parsing(format!(
                "Unknown value [{}] for field [{}] - accepted values are [fail, continue]",
                java_text(value),
                param.name
            ))),
        },
        Check::Keep => Keep::parse(&java_text(value)).map(|keep| keep.name().into()),
        Check::Dimension => super::time_series::dimension(value, kind),
        Check::Metric => super::time_series::metric(value, field, kind, true),
        Check::PositionMetric => super::time_series::metric(value, field, kind, false),
        Check::Meta => meta(value, field, kind),
        Check::TermVector => match value.as_str() {
            Some(name) if TERM_VECTORS.contains(&name) => Ok(value.clone()),
            _ => Err(mapper_parsing(format!(
                "Unknown value [{}] for field [term_vector] - accepted values are [{}]",
                java_text(value),
                TERM_VECTORS.join(", ")
            ))),
        },
        Check::OnlyDefault => {
            if *value == kind.default_of(param.name) || (param.name == "locale" && is_plain_locale(value)) {
                return Ok(Value::Null);
            }
            Err(RequestError::unsupported(format!(
                "parameter [{}: {}] on field [{field}] of type [{}]",
                param.name,
                java_text(value),
                kind.name()
            )))
        }
    }
}

/// Checks `index_prefixes`. Source: Elasticsearch's `TextFieldMapper#parsePrefixConfig`.
fn prefixes(value: &Value, field: &str) -> Result<Value, RequestError> {
    const CHARS_MAX: i64 = 20;
    let Value::Object(members) = value else {
        return Err(mapper_parsing(format!("[index_prefixes] on field [{field}] must be an object")));
    };
    let number = |name: &str, default: i64| match members.get(name) {
        None => Ok(default),
        Some(value) => java_text(value)
            .parse::<i64>()
            .map_err(|_| mapper_parsing(format!("[{name}] of [index_prefixes] must be an integer"))),
    };
    if let Some((name, value)) =
        members.iter().find(|(name, _)| !matches!(name.as_str(), "min_chars" | "max_chars"))
    {
        return Err(mapper_parsing(format!(
            "Mapping definition for [index_prefixes] has unsupported parameters:  [{name} : {}]",
            java_text(value)
        )));
    }
    let (least, most) = (number("min_chars", 2)?, number("max_chars", 5)?);
    let refuse = |reason: String| Err(RequestError::illegal_argument(reason));
    if least > most {
        return refuse(format!("min_chars [{least}] must be less than max_chars [{most}]"));
    }
    if least < 1 {
        return refuse(format!("min_chars [{least}] must be greater than zero"));
    }
    if most >= CHARS_MAX {
        return refuse(format!("max_chars [{most}] must be less than 20"));
    }
    Ok(json!({"min_chars": least, "max_chars": most}))
}

/// The values of `term_vector`.
const TERM_VECTORS: [&str; 7] = [
    "no",
    "yes",
    "with_positions",
    "with_offsets",
    "with_positions_offsets",
    "with_positions_payloads",
    "with_positions_offsets_payloads",
];

/// Whether the locale is English or neutral: month and weekday names are English.
fn is_plain_locale(value: &Value) -> bool {
    matches!(value.as_str(), Some("" | "ROOT" | "root" | "en" | "EN" | "en_US" | "en-US" | "en_GB" | "en-GB"))
}

fn meta(value: &Value, field: &str, kind: &dyn FieldType) -> Result<Value, RequestError> {
    let Value::Object(object) = value else {
        return Err(mapper_parsing(format!(
            "[meta] must be an object, got {}[{}] for field [{field}]",
            if value.is_string() { "String" } else { "Integer" },
            java_text(value)
        )));
    };
    if object.len() > 5 {
        return Err(mapper_parsing(format!(
            "[meta] can't have more than 5 entries, but got {} on field [{field}]",
            object.len()
        )));
    }
    for (name, value) in object {
        match value.as_str() {
            Some(text) if name.chars().count() <= 20 && text.chars().count() <= 50 => {}
            Some(_) => {
                return Err(mapper_parsing(format!(
                    "[meta] keys can't be longer than 20 chars and values not longer than 50 chars, but [{name}] is on field [{field}] of type [{}]",
                    kind.name()
                )));
            }
            None => {
                return Err(mapper_parsing(format!(
                    "[meta] values can only be strings, but got [{}] on field [{field}]",
                    java_text(value)
                )));
            }
        }
    }
    Ok(value.clone())
}
