//! Query side of a field: "which terms or numbers does this JSON value select?"
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
        /// The first term, or what lies before it.
        lower: Bound<Vec<u8>>,
        /// The last term, or what lies after it.
        upper: Bound<Vec<u8>>,
    },
    /// Documents whose stored number is this one.
    Number(i64),
    /// Documents whose stored number lies between two, both included.
    Numbers {
        /// The smallest stored number.
        lower: i64,
        /// The largest stored number.
        upper: i64,
    },
    /// Documents with a range whose ends lie where this says.
    Ranges(RangesWanted),
}

/// How dates in a query are read.
#[derive(Debug, Clone, Copy)]
pub struct DateContext<'a> {
    /// The instant that `now` means, in milliseconds since 1970-01-01T00:00Z.
    pub now_millis: i64,
    /// Zone of dates that name none (`time_zone`).
    pub zone: &'a Zone,
    /// The query's own `format`, instead of the field's.
    pub format: Option<&'a DateFormat>,
}

impl DateContext<'_> {
    /// Dates in UTC and in the field's own format, with `now` at this instant.
    pub fn at(now_millis: i64) -> DateContext<'static> {
        DateContext { now_millis, zone: &Zone::Utc, format: None }
    }
}

impl<'a> DateContext<'a> {
    /// Numbers are milliseconds whatever the field's format says, and so is the other end of their range; the
    /// query's own format wins. Source: Elasticsearch's `DateFieldType.rangeQuery`.
    pub(crate) fn for_numbers(&self, has_number: bool) -> DateContext<'a> {
        static EPOCH_MILLIS: LazyLock<DateFormat> =
            LazyLock::new(|| DateFormat::parse_list("epoch_millis").expect("a format of the table"));
        match self.format {
            None if has_number => DateContext { format: Some(&EPOCH_MILLIS), ..*self },
            _ => *self,
        }
    }
}

/// One end of a range query.
#[derive(Debug, Clone, Copy)]
pub struct RangeEnd<'a> {
    /// The bound as the query gives it.
    pub value: &'a Value,
    /// Whether the bound itself belongs to the range (`gte`, `lte`).
    pub inclusive: bool,
}

/// The text of a JSON scalar as a query means it.
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

/// `number_format_exception`: a text that is not a number.
pub(crate) fn for_input_string(text: &str) -> RequestError {
    let reason =
        if text.is_empty() { "empty String".to_owned() } else { format!("For input string: \"{text}\"") };
    RequestError::bad_request("number_format_exception", reason)
}

/// A double that a query writes.
pub(crate) fn double_of(text: &str) -> Result<f64, RequestError> {
    double_from_text(text).ok_or_else(|| for_input_string(text))
}

/// The value of a `term` query, and its text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub value: &'a Value,
    pub text: &'a str,
}

impl Field {
    /// The term of a whole text under a field of terms (UTF-8, or the 16 bytes of an address), or of one
    /// token of a text field.
    pub fn encode_term(&self, text: &str) -> Result<Vec<u8>, RequestError> {
        self.of.encode_term(text)
    }

    /// What a `term` query with this value selects. A date selects all it may stand for (`2020-01-01` the
    /// whole day), an address with a prefix length its block.
    pub fn select_term(&self, value: &Value, context: &DateContext<'_>) -> Result<Selection, RequestError> {
        let text = text_of(value)?;
        self.of.select_term(self, &Wanted { value, text: &text }, context)
    }

    /// What a `range` query with these ends selects; an end that is None or null is open.
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

    /// Terms in byte order between two texts, each in the form of the field's normalizer.
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
