//! `unsigned_long`: 0 to 2^64 - 1. Source: Elasticsearch's `UnsignedLongFieldMapper`.

use serde_json::Value;

use super::integer::{first_from, last_to};
use crate::RequestError;
use crate::date::DateFormat;
use crate::field::{
    Cause, DIMENSION, DOC_VALUES, DateContext, Dimension, Field, FieldType, IGNORE_MALFORMED, INDEX,
    IntegerWidth, KEEP, Leaf, META, METRIC, NULL_VALUE, Param, RangeEnd, STORE, Scalar, Selection, Typed,
    ValueKind, Wanted, cause, for_input_string, number_range,
};
use crate::json::java::java_text;
use crate::number::{TextInteger, integer_from_text, sortable_from_u64};

#[derive(Debug)]
pub(super) struct UnsignedLong;

impl FieldType for UnsignedLong {
    fn name(&self) -> &'static str {
        "unsigned_long"
    }

    fn params(&self) -> &'static [Param] {
        &[INDEX, DOC_VALUES, STORE, IGNORE_MALFORMED, NULL_VALUE, META, DIMENSION, METRIC, KEEP]
    }

    fn values(&self, _: &Leaf) -> Result<ValueKind, RequestError> {
        Ok(ValueKind::UnsignedLong)
    }

    fn null_value(&self, value: &Value) -> Result<Value, RequestError> {
        let text = java_text(value);
        let for_input = |_| RequestError::illegal_argument(format!("For input string: \"{text}\""));
        text.parse::<u64>().map(Value::from).map_err(for_input)
    }

    fn dimension(&self) -> Dimension {
        Dimension::Allowed
    }

    fn read<'a>(&self, _: &Field, scalar: Scalar<'a>, _: &'a mut [u8; 16]) -> Result<Typed<'a>, Cause> {
        let out_of_range = |text: &str| cause(format!("Value [{text}] is out of range for unsigned long"));
        match scalar {
            Scalar::Integer { value, text } => match u64::try_from(value) {
                Ok(value) => Ok(Typed::Number(sortable_from_u64(value))),
                Err(_) => Err(out_of_range(text)),
            },
            Scalar::Number(text) if text.contains(['.', 'e', 'E']) => Err(unreadable(text)),
            Scalar::Number(text) => match text.parse() {
                Ok(value) => Ok(Typed::Number(sortable_from_u64(value))),
                Err(_) => Err(out_of_range(text)),
            },
            Scalar::Text("") => Ok(Typed::Nothing),
            Scalar::Text(text) => match text.parse() {
                Ok(value) => Ok(Typed::Number(sortable_from_u64(value))),
                Err(_) => Err(unreadable(text)),
            },
            Scalar::Bool(_) | Scalar::Stored(_) => Err(unreadable(scalar.text())),
        }
    }

    fn select_term(
        &self,
        _: &Field,
        wanted: &Wanted<'_>,
        _: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        let found = end(wanted.text)?;
        Ok(match u64::try_from(found.value) {
            Ok(value) if !found.has_fraction => Selection::Number(sortable_from_u64(value)),
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
        let least = |text: &str, given: RangeEnd<'_>| Ok(shifted(first_from(end(text)?, text, given)));
        let most = |text: &str, given: RangeEnd<'_>| Ok(shifted(last_to(end(text)?, text, given)));
        number_range((lower, upper), IntegerWidth::Long.limits(), least, most)
    }

    fn show_source(&self, _: &Field, text: String, _: Option<&DateFormat>) -> Option<Value> {
        text.parse::<u64>().ok().map(Value::from)
    }

    fn sorts_indices(&self) -> bool {
        true
    }

    fn collapses(&self) -> bool {
        true
    }
}

fn end(text: &str) -> Result<TextInteger, RequestError> {
    integer_from_text(text).ok_or_else(|| for_input_string(text))
}

/// Converts an integer to its stored form. Values that are out of range stay out of range.
fn shifted(value: i128) -> i128 {
    value.saturating_sub(1 << 63)
}

#[cold]
fn unreadable(text: &str) -> Cause {
    cause(match text.trim().is_empty() {
        true => "empty String".to_owned(),
        false => format!("For input string: \"{text}\""),
    })
}
