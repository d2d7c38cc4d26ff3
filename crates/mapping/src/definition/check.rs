//! Checks a parameter's value and converts it to normal form: "may this field have this setting?"

use serde_json::{Value, json};

use crate::RequestError;
use crate::date::{DateFormat, Locale};
use crate::field::{Check, FieldType, FrequencyFilter, Param, SummaryColumn};
use crate::json::java::{boolean, java_text, mapper_parsing, named_boolean};
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
    let given = Given { param, value, field, kind, settings };
    match param.check {
        Check::Bool if param.name == "doc_values" && kind.name() == "keyword" => {
            named_boolean(param.name, value).map(Value::Bool)
        }
        Check::Bool | Check::ExplicitBool => boolean(value).map(Value::Bool),
        Check::Constant => given.constant(),
        Check::Count => given.count(),
        Check::Number => given.number(),
        Check::IndexOptions | Check::TextIndexOptions => given.index_options(),
        Check::Analyzer => given.analyzer(),
        Check::Normalizer => given.normalizer(),
        Check::Similarity => given.similarity(),
        Check::DateFormat => given.date_format(),
        Check::Locale => Locale::parse(&java_text(value)).map(|locale| locale.tag().into()),
        Check::NullValue => given.null_value(),
        Check::NullPoint => given.null_point(),
        Check::NullCartesianPoint => given.null_cartesian_point(),
        Check::Orientation => given.orientation(),
        Check::Relations => Ok(crate::field::join::Relations::parse(value)?.to_json()),
        Check::Prefixes => prefixes(value, field),
        Check::FrequencyFilter => FrequencyFilter::parse(value, field).map(FrequencyFilter::to_json),
        Check::Contexts => {
            let contexts = crate::field::completion::Completion::parse_contexts(value)?;
            Ok(contexts.iter().map(crate::field::completion::CompletionContext::to_json).collect())
        }
        Check::Script => crate::definition::field_script::long_form(value, field),
        Check::ScriptError => given.script_error(),
        Check::Keep => Keep::parse(&java_text(value)).map(|keep| keep.name().into()),
        Check::Dimension => super::time_series::dimension(value, kind),
        Check::Metric => super::time_series::metric(value, field, kind, &["gauge", "counter"]),
        Check::PositionMetric => super::time_series::metric(value, field, kind, &["position"]),
        Check::GaugeMetric => super::time_series::metric(value, field, kind, &["gauge"]),
        Check::SummaryMetrics => given.summary_metrics(),
        Check::SummaryMetric => summary_metric(value).map(|metric| metric.name().into()),
        Check::Meta => meta(value, field, kind),
        Check::TermVector => given.term_vector(),
        Check::OnlyDefault => given.only_default(),
        Check::Dimensions => super::time_series::keys(value),
    }
}

/// A parameter of a field as the request gives it.
struct Given<'a> {
    param: &'a Param,
    value: &'a Value,
    /// The field's name, without the names of the objects around it.
    field: &'a str,
    kind: &'a dyn FieldType,
    settings: &'a MappingSettings,
}

impl Given<'_> {
    /// Returns the error for a value that is not `what` the parameter takes.
    fn conversion(&self, what: &str) -> RequestError {
        mapper_parsing(format!(
            "Failed to parse [{}] on field [{}] of type [{}]: [{}] is not {what}",
            self.param.name,
            self.field,
            self.kind.name(),
            java_text(self.value)
        ))
    }

    /// Checks a string or a number, which is stored as a string.
    fn constant(&self) -> Result<Value, RequestError> {
        let Given { value, field, .. } = *self;
        match value {
            Value::String(_) | Value::Number(_) => Ok(java_text(value).into()),
            other => Err(mapper_parsing(format!(
                "Property [{}] on field [{field}] must be a number or a string, but got [{}]",
                self.param.name,
                java_text(other)
            ))),
        }
    }

    /// Checks a whole number that is not negative.
    fn count(&self) -> Result<Value, RequestError> {
        let value = self.value;
        let count = match value {
            Value::Number(number) => number.as_i64(),
            Value::String(text) => text.parse::<i64>().ok(),
            _ => None,
        };
        match count {
            Some(count) if self.param.name == "max_input_length" && count <= 0 => {
                let reason = format!("[max_input_length] must be > 0 but was [{count}]");
                Err(RequestError::illegal_argument(reason))
            }
            Some(count @ 0..=2_147_483_647) => Ok(count.into()),
            Some(count) if matches!(self.param.name, "ignore_above" | "depth_limit") => {
                let reason = format!("[{}] must be positive, got [{count}]", self.param.name);
                Err(RequestError::illegal_argument(reason))
            }
            Some(count) => {
                Err(mapper_parsing(format!("[{}] must be positive, got [{count}]", self.param.name)))
            }
            None => Err(self.conversion("an integer")),
        }
    }

    /// Checks a number that is more than 0.
    fn number(&self) -> Result<Value, RequestError> {
        let value = self.value;
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
            None => Err(self.conversion("a number")),
        }
    }

    /// Checks `index_options`.
    fn index_options(&self) -> Result<Value, RequestError> {
        let value = self.value;
        match value.as_str() {
            Some("docs" | "freqs") => Ok(value.clone()),
            Some("positions" | "offsets") if self.param.check == Check::TextIndexOptions => Ok(value.clone()),
            _ => Err(mapper_parsing(format!(
                "Unknown value [{}] for field [index_options] - accepted values are [{}]",
                java_text(value),
                match self.param.check {
                    Check::TextIndexOptions => "positions, docs, freqs, offsets",
                    _ => "docs, freqs",
                }
            ))),
        }
    }

    /// Checks the name of an analyzer of the index.
    fn analyzer(&self) -> Result<Value, RequestError> {
        let value = self.value;
        let name = value.as_str().ok_or_else(|| self.conversion("an analyzer's name"))?;
        // The index's default analyzer has this name even if it is not declared.
        if name != "default" && self.settings.analyzers.get(name).is_none() {
            return Err(RequestError::illegal_argument(format!(
                "analyzer [{name}] has not been configured in mappings"
            )));
        }
        let of_index = if self.param.name == "analyzer" { self.settings.analyzers.get(name) } else { None };
        match of_index.map(|analyzer| analyzer.updateable_filters()).filter(|names| !names.is_empty()) {
            Some(names) => Err(mapper_parsing(format!(
                "analyzer [{name}] contains filters [{}] that are not allowed to run in index time mode.",
                names.join(", ")
            ))),
            None => Ok(value.clone()),
        }
    }

    /// Checks the name of a normalizer of the index.
    fn normalizer(&self) -> Result<Value, RequestError> {
        let Given { value, field, .. } = *self;
        let name = value.as_str().ok_or_else(|| self.conversion("a normalizer's name"))?;
        match self.settings.analyzers.normalizer(name) {
            Some(_) => Ok(value.clone()),
            None => Err(mapper_parsing(format!("normalizer [{name}] not found for field [{field}]"))),
        }
    }

    /// Checks the name of a similarity of the index.
    fn similarity(&self) -> Result<Value, RequestError> {
        let Given { value, field, .. } = *self;
        match value.as_str().and_then(|name| self.settings.similarities.get(name)) {
            Some(_) => Ok(value.clone()),
            None => Err(mapper_parsing(format!(
                "Unknown Similarity type [{}] for field [{field}]",
                java_text(value)
            ))),
        }
    }

    /// Checks the format of a date.
    fn date_format(&self) -> Result<Value, RequestError> {
        let Given { value, field, .. } = *self;
        // Elasticsearch reads a list as Java prints it, where brackets enclose what is optional.
        let format = &*match value {
            Value::String(_) | Value::Array(_) => java_text(value),
            _ => return Err(self.conversion("a date format")),
        };
        DateFormat::shared(format).map_err(|error| {
            let reason = format!("Error parsing [format] on field [{field}]: {}", error.reason);
            RequestError::illegal_argument(reason).caused_by(error)
        })?;
        Ok(format.into())
    }

    /// Checks the value that stands for `null`.
    fn null_value(&self) -> Result<Value, RequestError> {
        let value = self.value;
        match value {
            Value::Object(_) | Value::Array(_) => Err(self.conversion("a scalar")),
            Value::Null => Ok(Value::Null),
            scalar => self.kind.null_value(scalar),
        }
    }

    /// Checks the point that stands for `null`.
    fn null_point(&self) -> Result<Value, RequestError> {
        let value = self.value;
        match value {
            Value::Null => Ok(Value::Null),
            value => {
                let point = crate::geo::parse_point(value, true)?.checked("")?;
                Ok(json!({"lat": point.latitude, "lon": point.longitude}))
            }
        }
    }

    /// Checks the point of a plane that stands for `null`.
    fn null_cartesian_point(&self) -> Result<Value, RequestError> {
        match self.value {
            Value::Null => Ok(Value::Null),
            value => {
                let (x, y) = crate::geo::read_position(value, "", true)?;
                Ok(json!({"x": x, "y": y}))
            }
        }
    }

    /// Checks the orientation of outer rings.
    fn orientation(&self) -> Result<Value, RequestError> {
        let value = self.value;
        let name = value.as_str().map_or_else(|| java_text(value), str::to_owned);
        let is_clockwise = crate::geo::parse_orientation(&name)?;
        Ok(if is_clockwise { "LEFT" } else { "RIGHT" }.into())
    }

    /// Checks `on_script_error`.
    fn script_error(&self) -> Result<Value, RequestError> {
        let value = self.value;
        match value.as_str() {
            Some("fail" | "continue") => Ok(value.clone()),
            _ => Err(mapper_parsing(format!(
                "Unknown value [{}] for field [{}] - accepted values are [fail, continue]",
                java_text(value),
                self.param.name
            ))),
        }
    }

    /// Checks `term_vector`.
    fn term_vector(&self) -> Result<Value, RequestError> {
        let value = self.value;
        match value.as_str() {
            Some(name) if TERM_VECTORS.contains(&name) => Ok(value.clone()),
            _ => Err(mapper_parsing(format!(
                "Unknown value [{}] for field [term_vector] - accepted values are [{}]",
                java_text(value),
                TERM_VECTORS.join(", ")
            ))),
        }
    }

    /// Checks a list of metrics of a summary. Their order and repetitions have no meaning.
    fn summary_metrics(&self) -> Result<Value, RequestError> {
        let Value::Array(names) = self.value else { return Err(self.conversion("a list of metrics")) };
        let metrics = names.iter().map(summary_metric).collect::<Result<Vec<_>, _>>()?;
        let in_order = SummaryColumn::METRICS.into_iter().filter(|metric| metrics.contains(metric));
        Ok(in_order.map(SummaryColumn::name).collect())
    }

    /// Refuses everything but the default.
    fn only_default(&self) -> Result<Value, RequestError> {
        let Given { value, field, .. } = *self;
        if *value == self.kind.default_of(self.param.name) {
            return Ok(Value::Null);
        }
        Err(RequestError::unsupported(format!(
            "parameter [{}: {}] on field [{field}] of type [{}]",
            self.param.name,
            java_text(value),
            self.kind.name()
        )))
    }
}

/// Returns the metric of a summary with this name.
fn summary_metric(value: &Value) -> Result<SummaryColumn, RequestError> {
    let name = java_text(value);
    SummaryColumn::metric(&name)
        .ok_or_else(|| RequestError::illegal_argument(format!("Metric [{name}] is not supported.")))
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
