//! The options of one aggregation in a request: parses and validates them.
//!
//! Options are taken one by one; any that are left at the end are refused. The messages are those of
//! Elasticsearch's `ObjectParser` and `ValuesSourceAggregationBuilder`, without positions in the text.

use limber_mapping::geo::{parse_point, read_position};
use limber_mapping::{ObjectParser, RequestError};
use limber_script::Script;
use limber_text::likeness::did_you_mean;
use serde_json::{Map, Value};

use super::values::value_type::ValueType;
use crate::values::json;

type Result<T> = std::result::Result<T, RequestError>;

/// The body of one aggregation.
#[derive(Debug)]
pub struct Options {
    /// The aggregation's type, such as `terms`.
    pub kind: &'static str,
    /// The name that the request gave it.
    pub name: String,
    map: Map<String, Value>,
    /// Set if the required `field` is missing: the options that could replace it. Reported after unknown
    /// options.
    has_no_field: Option<&'static str>,
    /// The names of all options that were asked for, which are the valid ones.
    known: Vec<String>,
}

impl Options {
    /// Wraps the options `map` of the aggregation `name` of type `kind`.
    pub fn new(kind: &'static str, name: &str, map: Map<String, Value>) -> Options {
        Options { kind, name: name.to_owned(), map, has_no_field: None, known: Vec::new() }
    }

    /// Makes the `x_content_parse_exception` "[terms] failed to parse field [size]" with its cause.
    pub fn failed(&self, option: &str, cause: RequestError) -> RequestError {
        ObjectParser::new(self.kind).failed(option, cause)
    }

    /// Makes [`Self::failed`] with an `illegal_argument_exception` as its cause.
    pub fn refused(&self, option: &str, reason: impl Into<String>) -> RequestError {
        self.failed(option, RequestError::illegal_argument(reason))
    }

    /// Takes the raw option; JSON `null` counts as absent.
    pub fn take(&mut self, option: &str) -> Option<Value> {
        self.known.push(option.to_owned());
        self.map.shift_remove(option).filter(|value| !value.is_null())
    }

    /// Takes all remaining options.
    pub fn take_all(&mut self) -> Map<String, Value> {
        std::mem::take(&mut self.map)
    }

    /// Takes the raw option; JSON `null` is refused.
    pub fn take_typed(&mut self, option: &str) -> Result<Option<Value>> {
        self.known.push(option.to_owned());
        match self.map.shift_remove(option) {
            Some(Value::Null) => Err(self.wrong_type(option, &Value::Null)),
            value => Ok(value),
        }
    }

    /// Returns the first option that was not taken.
    pub fn first_left(&self) -> Option<&str> {
        self.map.keys().next().map(String::as_str)
    }

    /// Returns the options that were not taken, with their values.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.map.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Returns the names of the options that were not taken.
    pub fn names_left(&self) -> impl Iterator<Item = &str> {
        self.map.keys().map(String::as_str)
    }

    /// Whether an option is present and is a number.
    pub fn is_number(&self, option: &str) -> bool {
        self.map.get(option).is_some_and(Value::is_number)
    }

    /// Whether an option is present. It is not taken.
    pub fn has(&self, option: &str) -> bool {
        self.map.contains_key(option)
    }

    /// Makes the `x_content_parse_exception` "[terms] order doesn't support values of type: VALUE_BOOLEAN".
    pub fn wrong_type(&self, option: &str, value: &Value) -> RequestError {
        ObjectParser::new(self.kind).unsupported(option, value)
    }

    /// Takes an option that is a string.
    pub fn text(&mut self, option: &str) -> Result<Option<String>> {
        match self.take_typed(option)? {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(value) => Err(self.wrong_type(option, &value)),
        }
    }

    /// Takes an option that is a boolean; `None` if it is absent.
    pub fn boolean(&mut self, option: &str) -> Result<Option<bool>> {
        match self.take_typed(option)? {
            None => Ok(None),
            Some(value) if !(value.is_boolean() || value.is_string()) => Err(self.wrong_type(option, &value)),
            Some(value) => json::boolean(&value).map(Some).map_err(|cause| self.failed(option, cause)),
        }
    }

    /// Takes an option that is a 32-bit integer, or a string of one.
    pub fn int(&mut self, option: &str) -> Result<Option<i32>> {
        match self.take_typed(option)? {
            None => Ok(None),
            Some(value) if !(value.is_number() || value.is_string()) => Err(self.wrong_type(option, &value)),
            Some(value) => json::int(&value).map(Some).map_err(|cause| self.failed(option, cause)),
        }
    }

    /// Takes an option that is a 64-bit integer, or a string of one.
    pub fn long(&mut self, option: &str) -> Result<Option<i64>> {
        let Some(value) = self.take_typed(option)? else { return Ok(None) };
        let number = value.as_i64().or_else(|| value.as_f64().map(|double| double as i64));
        let number = number.or_else(|| value.as_str().and_then(|text| text.parse().ok()));
        let wrong =
            || self.failed(option, json::number_format(json::scalar_text(&value).unwrap_or_default()));
        number.map(Some).ok_or_else(wrong)
    }

    /// Takes an option that is a number, or a string of one.
    pub fn double(&mut self, option: &str) -> Result<Option<f64>> {
        let Some(value) = self.take_typed(option)? else { return Ok(None) };
        let number = value.as_f64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()));
        let wrong =
            || self.failed(option, json::number_format(json::scalar_text(&value).unwrap_or_default()));
        number.map(Some).ok_or_else(wrong)
    }

    /// Takes `missing`, which must be a scalar.
    fn missing(&mut self) -> Result<Option<Value>> {
        match self.replacement()? {
            Some(value @ (Value::Array(_) | Value::Object(_))) => Err(self.wrong_type("missing", &value)),
            value => Ok(value),
        }
    }

    /// Takes `missing` in whichever form. The parts of aggregations with several fields may have `null`.
    fn replacement(&mut self) -> Result<Option<Value>> {
        let is_part = matches!(self.kind, "weighted_avg" | "t_test" | "multi_terms" | "field_config");
        if !is_part && self.map.get("missing").is_some_and(Value::is_null) {
            let reason = format!("[missing] must not be null: [{}]", self.name);
            return Err(self.refused("missing", reason));
        }
        Ok(self.take("missing"))
    }

    /// Takes an option that is an object.
    pub fn object(&mut self, option: &str) -> Result<Option<Map<String, Value>>> {
        match self.take(option) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(map)),
            Some(other) => Err(self.wrong_type(option, &other)),
        }
    }

    /// Refuses options that were not taken.
    pub fn finish(&self) -> Result<()> {
        match self.map.keys().next() {
            None => match self.has_no_field {
                None => Ok(()),
                Some(wanted) => Err(RequestError::illegal_argument(format!(
                    "Required one of fields [{wanted}], but none were specified."
                ))),
            },
            Some(option) => Err(self.unknown(option, &[])),
        }
    }

    /// Returns the error for an unknown option of an aggregation in which a heuristic can be given by its
    /// name: the option is neither an option nor a heuristic.
    pub fn no_heuristic(&self, option: &str, heuristics: &[&str]) -> RequestError {
        self.unknown(option, heuristics).caused_by(ObjectParser::no_named_object(option))
    }
}

impl Options {
    /// Makes [`unknown_field`] with suggestions of similar options. `others` are valid options besides those
    /// that were asked for.
    fn unknown(&self, option: &str, others: &[&str]) -> RequestError {
        let known = self.known.iter().map(String::as_str).chain(others.iter().copied());
        let mut error = unknown_field(self.kind, option);
        error.reason.push_str(&did_you_mean(option, known));
        error
    }
}

/// Makes the `x_content_parse_exception` "[terms] unknown field [foo]".
pub fn unknown_field(kind: &str, option: &str) -> RequestError {
    ObjectParser::new(kind).unknown(option)
}

/// The source of an aggregation's values, as given in the request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ValuesOptions {
    pub field: String,
    /// The value of documents without a value.
    pub missing: Option<Value>,
    pub format: Option<String>,
    pub time_zone: Option<String>,
    /// Computes the values, or changes those of `field`.
    pub script: Option<Script>,
    /// The type of an unmapped field; a mapped field must be compatible with it.
    pub value_type: Option<ValueType>,
}

/// Aggregations whose values can come from a script.
const SCRIPTED: &[&str] = &[
    "auto_date_histogram",
    "avg",
    "boxplot",
    "cardinality",
    "date_histogram",
    "date_range",
    "diversified_sampler",
    "extended_stats",
    "histogram",
    "max",
    "median_absolute_deviation",
    "min",
    "missing",
    "multi_terms",
    "percentile_ranks",
    "percentiles",
    "range",
    "rare_terms",
    "rate",
    "stats",
    "string_stats",
    "sum",
    "t_test",
    "terms",
    "value_count",
    "variable_width_histogram",
    "weighted_avg",
];

/// Aggregations whose script may read `_score`.
pub(super) const SCORED: &[&str] = &[
    "avg",
    "boxplot",
    "extended_stats",
    "max",
    "median_absolute_deviation",
    "min",
    "percentile_ranks",
    "percentiles",
    "stats",
    "sum",
];

impl ValuesOptions {
    /// Whether there is a script that reads the score. What a stored script reads is not known here.
    pub fn may_read_score(&self) -> bool {
        let reads = |script: &Script| script.is_stored() || script.text().contains("_score");
        self.script.as_ref().is_some_and(reads)
    }

    /// Reads `field`, `script`, `missing`, `format`.
    pub fn parse(options: &mut Options) -> Result<ValuesOptions> {
        let script = match options.take_typed("script")? {
            Some(_) if !SCRIPTED.contains(&options.kind) => {
                return Err(RequestError::unsupported(format!(
                    "[script] in the aggregation [{}]",
                    options.kind
                )));
            }
            Some(script) => Some(Script::parse(&script).map_err(|cause| options.failed("script", cause))?),
            None => None,
        };
        let value_type = match options.take_typed("value_type")? {
            Some(value) => Some(ValueType::parse(&value, options)?),
            None => None,
        };
        let field = options.text("field")?;
        options.has_no_field = (field.is_none() && script.is_none()).then_some("field, script");
        let field = field.unwrap_or_default();
        let missing = options.missing()?;
        let format = options.text("format")?;
        Ok(ValuesOptions { field, missing, format, time_zone: None, script, value_type })
    }

    /// Reads the same as [`ValuesOptions::parse`]; returns `None` if there is neither a field nor a script.
    pub fn parse_optional(options: &mut Options) -> Result<Option<ValuesOptions>> {
        let values = ValuesOptions::parse(options)?;
        Ok(options.has_no_field.take().is_none().then_some(values))
    }

    /// Reads the same as [`ValuesOptions::parse`], without scripts and formats.
    pub fn parse_only_field(options: &mut Options) -> Result<ValuesOptions> {
        let values = ValuesOptions::parse_plain(options)?;
        options.has_no_field = values.field.is_empty().then_some("field");
        Ok(values)
    }

    /// Makes the options of an aggregation that always reads the same field.
    pub fn of_field(path: &str) -> ValuesOptions {
        ValuesOptions { field: path.to_owned(), ..ValuesOptions::default() }
    }

    /// Reads `field` and `missing`. Without a field, its name is empty.
    pub fn parse_plain(options: &mut Options) -> Result<ValuesOptions> {
        let field = options.text("field")?.unwrap_or_default();
        let missing = options.missing()?;
        Ok(ValuesOptions { field, missing, ..ValuesOptions::default() })
    }

    /// Reads `field` and `missing` of an aggregation of geo points. `wanted` is what Elasticsearch's error
    /// names if there is no field.
    pub fn parse_places(options: &mut Options, wanted: &'static str) -> Result<ValuesOptions> {
        ValuesOptions::parse_points(options, wanted, |missing| parse_point(missing, true).map(drop))
    }

    /// Does the same as [`ValuesOptions::parse_places`] for points of a plane.
    pub fn parse_cartesian_places(options: &mut Options, wanted: &'static str) -> Result<ValuesOptions> {
        ValuesOptions::parse_points(options, wanted, |missing| read_position(missing, "", true).map(drop))
    }

    fn parse_points(
        options: &mut Options,
        wanted: &'static str,
        check: impl FnOnce(&Value) -> Result<()>,
    ) -> Result<ValuesOptions> {
        if wanted != "field" && options.has("script") {
            return Err(RequestError::unsupported(format!("[script] in the aggregation [{}]", options.kind)));
        }
        let field = options.text("field")?;
        options.has_no_field = field.is_none().then_some(wanted);
        let missing = options.replacement()?;
        if let Some(missing) = &missing {
            check(missing).map_err(|cause| options.failed("missing", cause))?;
        }
        Ok(ValuesOptions { field: field.unwrap_or_default(), missing, ..ValuesOptions::default() })
    }

    /// Reads the same as [`ValuesOptions::parse`], and `time_zone`.
    pub fn parse_with_zone(options: &mut Options) -> Result<ValuesOptions> {
        let mut values = ValuesOptions::parse(options)?;
        values.time_zone = match options.take("time_zone") {
            None => None,
            Some(Value::Number(hours)) => Some(format!("{:+03}:00", hours.as_f64().unwrap_or(0.0) as i64)),
            Some(Value::String(zone)) => Some(zone),
            Some(value) => return Err(options.wrong_type("time_zone", &value)),
        };
        if let Some(zone) = &values.time_zone {
            limber_mapping::date::Zone::parse(zone).map_err(|error| {
                let cause = error
                    .caused_by
                    .map_or_else(|| RequestError::illegal_argument(error.reason), |cause| *cause);
                options.failed("time_zone", cause)
            })?;
        }
        Ok(values)
    }
}
