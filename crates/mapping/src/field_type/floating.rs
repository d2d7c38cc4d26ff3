//! `double`, `float` and `half_float`. Source: Elasticsearch's `NumberFieldMapper`.

use serde_json::Value;

use super::integer::NUMBER;
use crate::RequestError;
use crate::date::DateFormat;
use crate::field::{
    Cause, DateContext, Dimension, Field, FieldType, IntegerWidth, Leaf, Param, Precision, RangeEnd, Scalar,
    Selection, Typed, ValueKind, Wanted, cause, double_of, float, not_numeric, number_range,
    passed_as_string,
};
use crate::json::java::java_text;
use crate::number::{
    HALF_FLOAT_MAX, double_from_json, double_from_text, java_double, round_to_half, sortable_from_f64,
};

#[derive(Debug)]
pub(super) struct Floating(pub Precision);

impl FieldType for Floating {
    fn name(&self) -> &'static str {
        match self.0 {
            Precision::Double => "double",
            Precision::Float => "float",
            Precision::Half => "half_float",
        }
    }

    fn params(&self) -> &'static [Param] {
        NUMBER
    }

    fn values(&self, _: &Leaf) -> Result<ValueKind, RequestError> {
        Ok(ValueKind::Double(self.0))
    }

    fn null_value(&self, value: &Value) -> Result<Value, RequestError> {
        null_double(value)
    }

    fn dimension(&self) -> Dimension {
        Dimension::Fractional
    }

    fn takes_script(&self) -> bool {
        self.0 == Precision::Double
    }

    fn runtime_params(&self) -> Option<&'static [&'static str]> {
        (self.0 == Precision::Double).then_some(&[])
    }

    fn read<'a>(&self, field: &Field, scalar: Scalar<'a>, _: &'a mut [u8; 16]) -> Result<Typed<'a>, Cause> {
        let limit = if self.0 == Precision::Double { f64::MAX } else { f64::INFINITY };
        let Some(value) = read_double(field, scalar, self.name(), limit)? else {
            return Ok(Typed::Nothing);
        };
        let rounded = self.round(value);
        match rounded.is_finite() {
            true => Ok(Typed::Number(sortable_from_f64(rounded))),
            false => Err(not_finite(self.name(), value, rounded)),
        }
    }

    fn select_term(
        &self,
        _: &Field,
        wanted: &Wanted<'_>,
        _: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        let rounded = self.round(double_of(wanted.text)?);
        match rounded.is_finite() {
            true => Ok(Selection::Number(sortable_from_f64(rounded))),
            false => Err(RequestError::illegal_argument(format!(
                "[{}] supports only finite values, but got [{}]",
                self.name(),
                java_double(rounded)
            ))),
        }
    }

    fn select_range(
        &self,
        _: &Field,
        lower: Option<RangeEnd<'_>>,
        upper: Option<RangeEnd<'_>>,
        _: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        // Bounds are rounded to a float but not to a half float, and may be infinite.
        let stored = |text: &str| -> Result<i128, RequestError> {
            let value = double_of(text)?;
            let value = if self.0 == Precision::Double { value } else { f64::from(value as f32) };
            Ok(sortable_from_f64(value).into())
        };
        let least = |text: &str, end: RangeEnd<'_>| Ok(stored(text)? + i128::from(!end.inclusive));
        let most = |text: &str, end: RangeEnd<'_>| Ok(stored(text)? - i128::from(!end.inclusive));
        number_range((lower, upper), IntegerWidth::Long.limits(), least, most)
    }

    fn show_source(&self, _: &Field, text: String, _: Option<&DateFormat>) -> Option<Value> {
        let value = double_from_text(&text)?;
        let shown = match self.0 {
            Precision::Double => value.into(),
            Precision::Float => float(value as f32),
            Precision::Half => float(round_to_half(value as f32)),
        };
        // Other numbers than finite ones are malformed.
        Some(shown).filter(Value::is_number)
    }

    fn sorts_indices(&self) -> bool {
        self.0 != Precision::Half
    }

    fn collapses(&self) -> bool {
        true
    }
}

impl Floating {
    #[inline]
    fn round(&self, value: f64) -> f64 {
        match self.0 {
            Precision::Double => value,
            Precision::Float => f64::from(value as f32),
            Precision::Half => f64::from(round_to_half(value as f32)),
        }
    }
}

/// Reads a numeric `null_value`.
pub(super) fn null_double(value: &Value) -> Result<Value, RequestError> {
    let text = java_text(value);
    double_from_text(&text).map(Value::from).ok_or_else(|| RequestError::number_format(&text))
}

/// Reads a number up to `limit`. `None` if it is an empty string, which counts as null.
#[inline]
pub(super) fn read_double(
    field: &Field,
    scalar: Scalar<'_>,
    name: &str,
    limit: f64,
) -> Result<Option<f64>, Cause> {
    let value = match scalar {
        Scalar::Integer { value, .. } => return Ok(Some(value as f64)),
        Scalar::Number(text) => double_from_json(text),
        Scalar::Text("") if field.coerce => return Ok(None),
        Scalar::Text(_) if !field.coerce => return Err(passed_as_string(name)),
        Scalar::Text(text) => match double_from_text(text) {
            Some(value) => value,
            None => return Err(unreadable(text)),
        },
        Scalar::Bool(flag) => return Err(not_numeric(flag)),
        Scalar::Stored(_) => return Ok(None),
    };
    if !value.is_finite() || value.abs() > limit {
        return Err(not_finite(name, value, value));
    }
    Ok(Some(value))
}

#[cold]
fn unreadable(text: &str) -> Cause {
    Box::new(match text.trim().is_empty() {
        true => RequestError::bad_request("number_format_exception", "empty String"),
        false => RequestError::number_format(text),
    })
}

#[cold]
fn not_finite(name: &str, given: f64, rounded: f64) -> Cause {
    let shown = if name == "half_float" && given.is_finite() && given.abs() > HALF_FLOAT_MAX {
        java_double(given)
    } else {
        java_double(rounded)
    };
    cause(format!("[{name}] supports only finite values, but got [{shown}]"))
}
