//! Queries on a field: "which terms or numbers does this JSON value select?"
//!
//! Source: `termQuery` and `rangeQuery` of Elasticsearch's field types.

use std::borrow::Cow;
use std::ops::Bound;
use std::sync::LazyLock;

use serde_json::Value;

use super::mapped::Field;
use super::range_value::RangesWanted;
use crate::RequestError;
use crate::date::{DateFormat, Zone};
use crate::number::double_from_text;

/// What a value, or a range of values, selects.
#[derive(Debug, Clone, PartialEq)]
pub enum Selection {
    /// No document can match (`1.5` on a `long`, a value out of the type's range, an empty range).
    Nothing,
    /// Documents that have this term.
    Term(Vec<u8>),
    /// Terms in byte order between two bounds.
    Terms {
        /// The lower bound.
        lower: Bound<Vec<u8>>,
        /// The upper bound.
        upper: Bound<Vec<u8>>,
    },
    /// Documents whose stored number is this one.
    Number(i64),
    /// Documents whose stored number lies between two numbers, both inclusive.
    Numbers {
        /// The smallest stored number.
        lower: i64,
        /// The largest stored number.
        upper: i64,
    },
    /// Documents with a range whose bounds lie within these limits.
    Ranges(RangesWanted),
}

/// How dates in a query are parsed.
#[derive(Debug, Clone, Copy)]
pub struct DateContext<'a> {
    /// The instant of `now`, in milliseconds since 1970-01-01T00:00Z.
    pub now_millis: i64,
    /// The time zone of dates without one (`time_zone`).
    pub zone: &'a Zone,
    /// The query's own `format`, instead of the field's.
    pub format: Option<&'a DateFormat>,
}

impl DateContext<'_> {
    /// Creates a context for dates in UTC and in the field's own format, with `now` at this instant.
    pub fn at(now_millis: i64) -> DateContext<'static> {
        DateContext { now_millis, zone: &Zone::Utc, format: None }
    }
}

impl<'a> DateContext<'a> {
    /// Returns the context for a query with a number: numbers are milliseconds whatever the field's format,
    /// and so is the other bound of the range. The query's own format takes precedence. Source:
    /// Elasticsearch's `DateFieldType.rangeQuery`.
    pub(crate) fn for_numbers(&self, has_number: bool) -> DateContext<'a> {
        static EPOCH_MILLIS: LazyLock<DateFormat> =
            LazyLock::new(|| DateFormat::parse_list("epoch_millis").expect("a format of the table"));
        match self.format {
            None if has_number => DateContext { format: Some(&EPOCH_MILLIS), ..*self },
            _ => *self,
        }
    }
}

/// One bound of a range query.
#[derive(Debug, Clone, Copy)]
pub struct RangeEnd<'a> {
    /// The bound as the query gives it.
    pub value: &'a Value,
    /// Whether the bound itself belongs to the range (`gte`, `lte`).
    pub inclusive: bool,
}

/// Returns the string that a JSON scalar means in a query.
pub(crate) fn text_of(value: &Value) -> Result<Cow<'_, str>, RequestError> {
    match value {
        Value::String(text) => Ok(text.into()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string().into()),
        Value::Null => Err(RequestError::illegal_argument("value cannot be null")),
        Value::Array(_) | Value::Object(_) => {
            Err(RequestError::illegal_argument("a scalar is expected, found an object or a list"))
        }
    }
}

/// Creates a `number_format_exception`: the string is not a number.
pub(crate) fn for_input_string(text: &str) -> RequestError {
    match text {
        "" => RequestError::bad_request("number_format_exception", "empty String"),
        _ => RequestError::number_format(text),
    }
}

/// Parses a double of a query.
pub(crate) fn double_of(text: &str) -> Result<f64, RequestError> {
    double_from_text(text).ok_or_else(|| for_input_string(text))
}

/// The value of a `term` query, and its string.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub value: &'a Value,
    pub text: &'a str,
}

impl Field {
    /// Returns the term of a whole string in a field of terms (UTF-8, or the 16 bytes of an address), or of
    /// one token of a text field.
    pub fn encode_term(&self, text: &str) -> Result<Vec<u8>, RequestError> {
        self.of.encode_term(text)
    }

    /// Returns what a `term` query with this value selects. A date selects everything it may mean
    /// (`2020-01-01` the whole day), an address with a prefix length its block.
    pub fn select_term(&self, value: &Value, context: &DateContext<'_>) -> Result<Selection, RequestError> {
        let text = text_of(value)?;
        self.of.select_term(self, &Wanted { value, text: &text }, context)
    }

    /// Returns what a `range` query with these bounds selects. A bound that is `None` or null is open.
    pub fn select_range(
        &self,
        lower: Option<RangeEnd<'_>>,
        upper: Option<RangeEnd<'_>>,
        context: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        let lower = lower.filter(|end| !end.value.is_null());
        let upper = upper.filter(|end| !end.value.is_null());
        self.of.select_range(self, lower, upper, context)
    }

    /// Selects terms in byte order between two strings, to which the field's normalizer is applied.
    pub(crate) fn select_texts(
        &self,
        lower: Option<RangeEnd<'_>>,
        upper: Option<RangeEnd<'_>>,
    ) -> Result<Selection, RequestError> {
        let bound = |end: Option<RangeEnd<'_>>| -> Result<Bound<Vec<u8>>, RequestError> {
            let Some(end) = end else { return Ok(Bound::Unbounded) };
            let term = self.normalize(&text_of(end.value)?).as_bytes().to_vec();
            Ok(if end.inclusive { Bound::Included(term) } else { Bound::Excluded(term) })
        };
        Ok(Selection::Terms { lower: bound(lower)?, upper: bound(upper)? })
    }
}
