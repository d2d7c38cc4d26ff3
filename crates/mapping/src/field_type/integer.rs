//! `long`, `integer`, `short` and `byte`. Source: Elasticsearch's `NumberFieldMapper`.

use serde_json::Value;

use crate::RequestError;
use crate::date::DateFormat;
use crate::field::{
    BOOST, COERCE, Cause, DIMENSION, DOC_VALUES, DateContext, Dimension, Field, FieldType, IGNORE_MALFORMED,
    INDEX, IntegerWidth, KEEP, Leaf, META, METRIC, NULL_VALUE, ON_SCRIPT_ERROR, Param, RangeEnd, Reads,
    SCRIPT, SKIP_LIST, STORE, Scalar, Selection, Typed, ValueKind, Wanted, cause, for_input_string,
    not_numeric, number_range, passed_as_string,
};
use crate::json::java::java_text;
use crate::number::{TextInteger, integer_from_text, java_double};

/// The parameters of all number types except `scaled_float` and `unsigned_long`.
pub(super) static NUMBER: &[Param] = &[
    INDEX,
    DOC_VALUES,
    STORE,
    IGNORE_MALFORMED,
    COERCE,
    NULL_VALUE,
    SCRIPT,
    ON_SCRIPT_ERROR,
    BOOST,
    SKIP_LIST,
    META,
    DIMENSION,
    METRIC,
    KEEP,
];

#[derive(Debug)]
pub(crate) struct Whole(pub IntegerWidth);

impl FieldType for Whole {
    fn name(&self) -> &'static str {
        match self.0 {
            IntegerWidth::Long => "long",
            IntegerWidth::Integer => "integer",
            IntegerWidth::Short => "short",
            IntegerWidth::Byte => "byte",
        }
    }

    fn params(&self) -> &'static [Param] {
        NUMBER
    }

    fn values(&self, _: &Leaf) -> Result<ValueKind, RequestError> {
        Ok(ValueKind::Long(self.0))
    }

    fn null_value(&self, value: &Value) -> Result<Value, RequestError> {
        let text = java_text(value);
        let whole = integer_from_text(&text).ok_or_else(|| RequestError::number_format(&text))?;
        let (low, high) = self.0.limits();
        match i64::try_from(whole.value) {
            Ok(_) if whole.has_fraction => {
                Err(RequestError::illegal_argument(format!("Value [{text}] has a decimal part")))
            }
            Ok(whole) if (low..=high).contains(&whole) => Ok(whole.into()),
            _ => Err(RequestError::illegal_argument(format!(
                "Value [{text}] is out of range for {}",
                self.with_article()
            ))),
        }
    }

    fn dimension(&self) -> Dimension {
        Dimension::Allowed
    }

    fn takes_script(&self) -> bool {
        self.0 == IntegerWidth::Long
    }

    fn runtime_params(&self) -> Option<&'static [&'static str]> {
        (self.0 == IntegerWidth::Long).then_some(&[])
    }

    fn reads(&self) -> Reads {
        Reads::Integer(self.0)
    }

    fn read<'a>(&self, field: &Field, scalar: Scalar<'a>, _: &'a mut [u8; 16]) -> Result<Typed<'a>, Cause> {
        if let Scalar::Integer { value, .. } = scalar {
            let (low, high) = self.0.limits();
            if low <= value && value <= high {
                return Ok(Typed::Number(value));
            }
        }
        self.read_slowly(field, scalar)
    }

    fn select_term(
        &self,
        _: &Field,
        wanted: &Wanted<'_>,
        _: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        let found = integer_from_text(wanted.text).ok_or_else(|| for_input_string(wanted.text))?;
        let (low, high) = self.0.limits();
        Ok(match i64::try_from(found.value) {
            Ok(value) if !found.has_fraction && (low..=high).contains(&value) => Selection::Number(value),
            _ => Selection::Nothing,
        })
    }

    fn select_range(
        &self,
        _: &Field,
        lower: Option<RangeEnd<'_>>,
        upper: Option<RangeEnd<'_>>,
        _: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        let least = |text: &str, end: RangeEnd<'_>| Ok(first_from(self.end(text, end.value)?, text, end));
        let most = |text: &str, end: RangeEnd<'_>| Ok(last_to(self.end(text, end.value)?, text, end));
        number_range((lower, upper), self.0.limits(), least, most)
    }

    fn show_source(&self, _: &Field, text: String, _: Option<&DateFormat>) -> Option<Value> {
        if text == "NaN" && self.0 != IntegerWidth::Long {
            return Some(0.into());
        }
        let (low, high) = self.0.limits();
        let value = i64::try_from(integer_from_text(&text)?.value).ok()?;
        (low..=high).contains(&value).then(|| value.into())
    }

    fn sorts_indices(&self) -> bool {
        true
    }

    fn collapses(&self) -> bool {
        true
    }
}

/// Returns the smallest integer within a lower bound. A bound with a fraction is rounded up.
pub(super) fn first_from(found: TextInteger, text: &str, end: RangeEnd<'_>) -> i128 {
    let beyond = match found.has_fraction {
        true => !text.starts_with('-'),
        false => !end.inclusive,
    };
    found.value.saturating_add(beyond.into())
}

/// Returns the largest integer within an upper bound. A bound with a fraction is rounded down.
pub(super) fn last_to(found: TextInteger, text: &str, end: RangeEnd<'_>) -> i128 {
    let before = match found.has_fraction {
        true => text.starts_with('-'),
        false => !end.inclusive,
    };
    found.value.saturating_sub(before.into())
}

impl Whole {
    fn with_article(&self) -> String {
        let name = self.name();
        if name == "integer" { format!("an {name}") } else { format!("a {name}") }
    }

    fn java_class(&self) -> &'static str {
        match self.0 {
            IntegerWidth::Long => "Long",
            IntegerWidth::Integer => "Integer",
            IntegerWidth::Short => "Short",
            IntegerWidth::Byte => "Byte",
        }
    }

    /// Reads a bound of a range, which must fit into 64 bits for a long and 32 bits for narrower fields.
    fn end(&self, text: &str, value: &Value) -> Result<TextInteger, RequestError> {
        let found = integer_from_text(text).ok_or_else(|| for_input_string(text))?;
        let (name, (low, high)) = match self.0 {
            IntegerWidth::Long => ("a long", IntegerWidth::Long.limits()),
            _ => ("an integer", IntegerWidth::Integer.limits()),
        };
        if !(i128::from(low)..=i128::from(high)).contains(&found.value) {
            let shown = match value.as_f64().filter(|_| !value.is_i64() && !value.is_u64()) {
                Some(double) => java_double(double),
                None => text.to_owned(),
            };
            let reason = format!("Value [{shown}] is out of range for {name}");
            return Err(RequestError::illegal_argument(reason));
        }
        Ok(found)
    }

    #[cold]
    fn read_slowly<'a>(&self, field: &Field, scalar: Scalar<'_>) -> Result<Typed<'a>, Cause> {
        let text = match scalar {
            Scalar::Bool(flag) => return Err(not_numeric(flag)),
            Scalar::Text("") if field.coerce => return Ok(Typed::Nothing),
            Scalar::Text(_) if !field.coerce => return Err(passed_as_string(self.name())),
            // Java casts the double to 0. `long` is parsed as a decimal.
            Scalar::Text("NaN") if self.0 != IntegerWidth::Long => return Ok(Typed::Number(0)),
            other => other.text(),
        };
        let Some(found) = integer_from_text(text) else {
            // Elasticsearch parses `long` as a decimal, and the narrower types through a double.
            return Err(match self.0 {
                IntegerWidth::Long => cause(format!("For input string: \"{text}\"")),
                _ => Box::new(RequestError::number_format(text)),
            });
        };
        if found.has_fraction && !field.coerce {
            let class = self.java_class();
            return Err(cause(format!("{text} cannot be converted to {class} without data loss")));
        }
        let (low, high) = self.0.limits();
        match i64::try_from(found.value) {
            Ok(value) if (low..=high).contains(&value) => Ok(Typed::Number(value)),
            _ if matches!(self.0, IntegerWidth::Long | IntegerWidth::Integer)
                && !matches!(scalar, Scalar::Text(_)) =>
            {
                let name = if self.0 == IntegerWidth::Long { "long" } else { "int" };
                let reason = format!("Numeric value ({text}) out of range of {name} ({low} - {high})");
                Err(Box::new(
                    RequestError::bad_request("x_content_parse_exception", reason.clone())
                        .caused_by(RequestError::bad_request("input_coercion_exception", reason)),
                ))
            }
            _ => Err(cause(format!("Value [{text}] is out of range for {}", self.with_article()))),
        }
    }
}
