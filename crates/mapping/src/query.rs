//! Query side of a field: "which terms or numbers does this JSON value select, and how is a stored number shown?"
//!
//! Source: `termQuery` and `rangeQuery` of Elasticsearch's field types.

use std::ops::Bound;
use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Number, Value};

use crate::RequestError;
use crate::date::{DateFormat, Zone};
use crate::field::{Field, FieldType, Representation};
use crate::geo::GeoPoint;
use crate::ip;
use crate::number::{
    TextInteger, double_from_text, f64_from_sortable, integer_from_text, java_double, round_to_half,
    sortable_from_f64, sortable_from_u64, u64_from_sortable,
};
use crate::range::{RangeRelation, RangesWanted};
use crate::typed::{IntegerWidth, Shape, scaled};

/// What a value, or a range of values, selects.
#[derive(Debug, Clone, PartialEq)]
pub enum Selection {
    /// No document can match (`1.5` on a `long`, a value out of the type's range, an empty range).
    Nothing,
    Term(Vec<u8>),
    /// Terms in byte order between two bounds.
    Terms {
        lower: Bound<Vec<u8>>,
        upper: Bound<Vec<u8>>,
    },
    Number(i64),
    /// Both ends included.
    Numbers {
        lower: i64,
        upper: i64,
    },
    /// Ranges by where their ends lie.
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
    pub fn at(now_millis: i64) -> DateContext<'static> {
        DateContext { now_millis, zone: &Zone::Utc, format: None }
    }
}

impl<'a> DateContext<'a> {
    /// Numbers are milliseconds whatever the field's format says, and so is the other end of their range; the query's own format wins.
    /// Source: Elasticsearch's `DateFieldType.rangeQuery`.
    fn for_numbers(&self, has_number: bool) -> DateContext<'a> {
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
    pub value: &'a Value,
    pub inclusive: bool,
}

/// The text of a JSON scalar as a query means it.
fn text_of(value: &Value) -> Result<std::borrow::Cow<'_, str>, RequestError> {
    match value {
        Value::String(text) => Ok(text.into()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string().into()),
        Value::Null => Err(RequestError::illegal_argument("value cannot be null")),
        Value::Array(_) | Value::Object(_) => {
            Err(RequestError::illegal_argument("a scalar is expected, found an object or a list"))
        }
    }
}

fn for_input_string(text: &str) -> RequestError {
    let reason =
        if text.is_empty() { "empty String".to_owned() } else { format!("For input string: \"{text}\"") };
    RequestError::new(400, "number_format_exception", reason)
}

/// A whole number as `unsigned_long` stores it; beyond what that holds it stays beyond.
fn shifted(value: i128) -> i128 {
    value.saturating_sub(1 << 63)
}

fn numbers(lower: i128, upper: i128) -> Selection {
    let lower = lower.max(i64::MIN as i128);
    let upper = upper.min(i64::MAX as i128);
    if lower > upper {
        return Selection::Nothing;
    }
    if lower == upper {
        return Selection::Number(lower as i64);
    }
    Selection::Numbers { lower: lower as i64, upper: upper as i64 }
}

fn not_searchable() -> RequestError {
    RequestError::illegal_argument(
        "Percolator fields are not searchable directly, use a percolate query instead",
    )
}

impl Field {
    /// The term of a whole text under a field of terms (UTF-8, or the 16 bytes of an address), or of one token of a text field.
    pub fn encode_term(&self, text: &str) -> Result<Vec<u8>, RequestError> {
        match self.kind {
            FieldType::Ip => ip::parse(text.as_bytes()).map(|bytes| bytes.to_vec()).ok_or_else(|| {
                RequestError::illegal_argument(format!("'{text}' is not an IP string literal."))
            }),
            _ => Ok(text.as_bytes().to_vec()),
        }
    }

    /// What a `term` query with this value selects. A date selects all it may stand for (`2020-01-01` the whole day), an
    /// address with a prefix length its block.
    pub fn select_term(&self, value: &Value, context: &DateContext<'_>) -> Result<Selection, RequestError> {
        let text = text_of(value)?;
        Ok(match Shape::of(&self.kind) {
            Shape::Text | Shape::Keyword | Shape::Join | Shape::Flattened => {
                Selection::Term(self.normalize(&text).as_bytes().to_vec())
            }
            Shape::GeoPoint | Shape::Geometry => {
                return Err(RequestError::illegal_argument(format!(
                    "Geometry fields do not support exact searching, use dedicated geometry queries instead: [{}]",
                    self.path
                )));
            }
            Shape::Range => {
                let end = RangeEnd { value, inclusive: true };
                let wanted = self.select_ranges(Some(end), Some(end), RangeRelation::Intersects, context)?;
                wanted.map_or(Selection::Nothing, Selection::Ranges)
            }
            Shape::Binary => {
                return Err(RequestError::illegal_argument("Binary fields do not support searching"));
            }
            // Terms of inputs: what finds them is a suggester.
            Shape::Completion => {
                return Err(RequestError::illegal_argument(format!(
                    "Field [{}] of type [completion] does not support exact searching",
                    self.path
                )));
            }
            Shape::Query => return Err(not_searchable()),
            Shape::Ip => match ip::parse_cidr(&text) {
                Some((first, last)) if first == last => Selection::Term(first.to_vec()),
                Some((first, last)) => Selection::Terms {
                    lower: Bound::Included(first.to_vec()),
                    upper: Bound::Included(last.to_vec()),
                },
                None => Selection::Term(self.encode_term(&text)?),
            },
            Shape::Boolean => Selection::Number(self.boolean(&text)?),
            Shape::Integer(width) => {
                let found = integer_from_text(&text).ok_or_else(|| for_input_string(&text))?;
                let (low, high) = width.limits();
                match i64::try_from(found.value) {
                    Ok(value) if !found.has_fraction && (low..=high).contains(&value) => {
                        Selection::Number(value)
                    }
                    _ => Selection::Nothing,
                }
            }
            Shape::Unsigned => {
                let found = integer_from_text(&text).ok_or_else(|| for_input_string(&text))?;
                match u64::try_from(found.value) {
                    Ok(value) if !found.has_fraction => Selection::Number(sortable_from_u64(value)),
                    _ => Selection::Nothing,
                }
            }
            Shape::Double | Shape::Float | Shape::HalfFloat => {
                Selection::Number(sortable_from_f64(self.rounded(self.double(&text)?)?))
            }
            Shape::Scaled(factor) => Selection::Number(scaled(self.double(&text)?, factor)),
            Shape::Date => {
                let context = &context.for_numbers(value.is_number());
                let (lower, upper) =
                    (self.stored_date(&text, false, context)?, self.stored_date(&text, true, context)?);
                numbers(lower as i128, upper as i128)
            }
        })
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
        match Shape::of(&self.kind) {
            Shape::Text | Shape::Keyword | Shape::Join | Shape::Flattened => {
                Ok(Selection::Terms { lower: self.term_end(lower)?, upper: self.term_end(upper)? })
            }
            Shape::Ip => self.ip_range(lower, upper),
            Shape::Range => {
                let wanted = self.select_ranges(lower, upper, RangeRelation::Intersects, context)?;
                Ok(wanted.map_or(Selection::Nothing, Selection::Ranges))
            }
            Shape::Query => Err(not_searchable()),
            Shape::GeoPoint | Shape::Geometry | Shape::Binary | Shape::Completion => {
                Err(RequestError::illegal_argument(format!(
                    "Field [{}] of type [{}] does not support range queries",
                    self.path,
                    self.type_name()
                )))
            }
            shape => {
                let has_number = [lower, upper].iter().flatten().any(|end| end.value.is_number());
                let context = &context.for_numbers(shape == Shape::Date && has_number);
                let lower =
                    lower.map(|end| self.lower(shape, end, context)).transpose()?.unwrap_or(i128::MIN);
                let upper =
                    upper.map(|end| self.upper(shape, end, context)).transpose()?.unwrap_or(i128::MAX);
                let (low, high) = match shape {
                    Shape::Integer(width) => width.limits(),
                    _ => IntegerWidth::Long.limits(),
                };
                if lower > high as i128 || upper < low as i128 {
                    return Ok(Selection::Nothing);
                }
                Ok(numbers(lower.max(low.into()), upper.min(high.into())))
            }
        }
    }

    fn lower(
        &self,
        shape: Shape,
        end: RangeEnd<'_>,
        context: &DateContext<'_>,
    ) -> Result<i128, RequestError> {
        let text = text_of(end.value)?;
        let beyond = !end.inclusive as i128;
        Ok(match shape {
            Shape::Integer(_) | Shape::Unsigned => {
                let found = whole_end(&text, end.value, shape)?;
                let least = if found.has_fraction {
                    // Up to the next integer.
                    found.value.saturating_add(!text.starts_with('-') as i128)
                } else {
                    found.value.saturating_add(beyond)
                };
                if shape == Shape::Unsigned { shifted(least) } else { least }
            }
            Shape::Scaled(factor) => {
                let value = self.double(&text)?;
                let value = if end.inclusive { value } else { value.next_up() };
                (value * factor).ceil() as i128
            }
            Shape::Date => self.stored_date(&text, !end.inclusive, context)? as i128 + beyond,
            Shape::Boolean => self.boolean(&text)? as i128 + beyond,
            _ => sortable_from_f64(self.rounded_for_range(self.double(&text)?)) as i128 + beyond,
        })
    }

    fn upper(
        &self,
        shape: Shape,
        end: RangeEnd<'_>,
        context: &DateContext<'_>,
    ) -> Result<i128, RequestError> {
        let text = text_of(end.value)?;
        let beyond = !end.inclusive as i128;
        Ok(match shape {
            Shape::Integer(_) | Shape::Unsigned => {
                let found = whole_end(&text, end.value, shape)?;
                let most = if found.has_fraction {
                    found.value.saturating_sub(text.starts_with('-') as i128)
                } else {
                    found.value.saturating_sub(beyond)
                };
                if shape == Shape::Unsigned { shifted(most) } else { most }
            }
            Shape::Scaled(factor) => {
                let value = self.double(&text)?;
                let value = if end.inclusive { value } else { value.next_down() };
                (value * factor).floor() as i128
            }
            Shape::Date => self.stored_date(&text, end.inclusive, context)? as i128 - beyond,
            Shape::Boolean => self.boolean(&text)? as i128 - beyond,
            _ => sortable_from_f64(self.rounded_for_range(self.double(&text)?)) as i128 - beyond,
        })
    }

    fn term_end(&self, end: Option<RangeEnd<'_>>) -> Result<Bound<Vec<u8>>, RequestError> {
        let Some(end) = end else { return Ok(Bound::Unbounded) };
        let term = self.normalize(&text_of(end.value)?).as_bytes().to_vec();
        Ok(if end.inclusive { Bound::Included(term) } else { Bound::Excluded(term) })
    }

    fn ip_range(
        &self,
        lower: Option<RangeEnd<'_>>,
        upper: Option<RangeEnd<'_>>,
    ) -> Result<Selection, RequestError> {
        let bytes = |end: RangeEnd<'_>| -> Result<ip::IpBytes, RequestError> {
            let text = text_of(end.value)?;
            ip::parse(text.as_bytes()).ok_or_else(|| {
                RequestError::illegal_argument(format!("'{text}' is not an IP string literal."))
            })
        };
        let first = match lower {
            None => Some([0; 16]),
            Some(end) if end.inclusive => Some(bytes(end)?),
            Some(end) => ip::next(&bytes(end)?),
        };
        let last = match upper {
            None => Some([0xff; 16]),
            Some(end) if end.inclusive => Some(bytes(end)?),
            Some(end) => ip::previous(&bytes(end)?),
        };
        Ok(match (first, last) {
            (Some(first), Some(last)) if first <= last => Selection::Terms {
                lower: Bound::Included(first.to_vec()),
                upper: Bound::Included(last.to_vec()),
            },
            _ => Selection::Nothing,
        })
    }

    fn double(&self, text: &str) -> Result<f64, RequestError> {
        double_from_text(text).ok_or_else(|| for_input_string(text))
    }

    fn rounded(&self, value: f64) -> Result<f64, RequestError> {
        let (rounded, name) = match self.kind {
            FieldType::Float => (value as f32 as f64, "float"),
            FieldType::HalfFloat => (round_to_half(value as f32) as f64, "half_float"),
            _ => (value, "double"),
        };
        if !rounded.is_finite() {
            return Err(RequestError::illegal_argument(format!(
                "[{name}] supports only finite values, but got [{}]",
                crate::number::java_double(rounded)
            )));
        }
        Ok(rounded)
    }

    /// Ends of a range are rounded to a float but not to a half float, and may be infinite.
    fn rounded_for_range(&self, value: f64) -> f64 {
        if matches!(self.kind, FieldType::Float | FieldType::HalfFloat) { value as f32 as f64 } else { value }
    }

    fn boolean(&self, text: &str) -> Result<i64, RequestError> {
        match text {
            "true" => Ok(1),
            "false" => Ok(0),
            other => Err(RequestError::illegal_argument(format!(
                "Can't parse boolean value [{other}], expected [true] or [false]"
            ))),
        }
    }

    fn stored_date(
        &self,
        text: &str,
        round_up: bool,
        context: &DateContext<'_>,
    ) -> Result<i64, RequestError> {
        let Some((format, resolution)) = self.date() else {
            return Err(RequestError::illegal_argument(format!("field [{}] is not a date", self.path)));
        };
        let format = context.format.unwrap_or(format);
        let instant = format.parse_instant_with_math(text, context.now_millis, round_up, context.zone)?;
        resolution.stored(instant)
    }

    /// A column's value as a JSON number: what `sort` answers. Dates as they are stored, booleans 0 or 1.
    pub fn decode_number(&self, stored: i64) -> Value {
        let from_double = |value: f64| Number::from_f64(value).map_or(Value::Null, Value::Number);
        match self.kind {
            FieldType::Double => from_double(f64_from_sortable(stored)),
            FieldType::Float | FieldType::HalfFloat => {
                from_double(shortest(f64_from_sortable(stored) as f32))
            }
            FieldType::ScaledFloat { scaling_factor } => from_double(stored as f64 / scaling_factor),
            FieldType::UnsignedLong => u64_from_sortable(stored).into(),
            _ => stored.into(),
        }
    }

    /// A column's value for arithmetic (aggregations): floats widened, dates in milliseconds.
    #[inline]
    pub fn decode_f64(&self, stored: i64) -> f64 {
        match self.kind {
            FieldType::Double | FieldType::Float | FieldType::HalfFloat => f64_from_sortable(stored),
            FieldType::ScaledFloat { scaling_factor } => stored as f64 / scaling_factor,
            FieldType::UnsignedLong => u64_from_sortable(stored) as f64,
            FieldType::Date { resolution, .. } => resolution.millis(stored) as f64,
            _ => stored as f64,
        }
    }

    /// A column's value as `docvalue_fields` and `key_as_string` show it: dates in the field's format (in UTC), booleans
    /// as `true` or `false`, numbers as numbers.
    pub fn format_number(&self, stored: i64) -> Value {
        match &self.kind {
            FieldType::Date { format, resolution } => {
                format.format_instant(resolution.instant(stored), &Zone::Utc).into()
            }
            FieldType::Boolean => (stored != 0).into(),
            FieldType::GeoPoint => GeoPoint::decode(stored).to_text().into(),
            _ => self.decode_number(stored),
        }
    }

    /// A term as text: addresses in their notation, everything else as UTF-8.
    pub fn decode_term(&self, term: &[u8]) -> String {
        match (&self.kind, <&ip::IpBytes>::try_from(term)) {
            (FieldType::Ip, Ok(bytes)) => ip::format(bytes),
            (FieldType::Binary, _) => BASE64.encode(term),
            _ => String::from_utf8_lossy(term).into_owned(),
        }
    }

    /// Whether values are numbers in a column.
    pub fn is_numeric(&self) -> bool {
        self.representation() == Representation::Number
    }
}

/// The double whose digits are the shortest that name this float.
fn shortest(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(value as f64)
}

/// An end of a range of whole numbers, which must lie within 64 bits for a long and 32 for narrower fields.
fn whole_end(text: &str, value: &Value, shape: Shape) -> Result<TextInteger, RequestError> {
    let found = integer_from_text(text).ok_or_else(|| for_input_string(text))?;
    let (name, (low, high)) = match shape {
        Shape::Integer(IntegerWidth::Long) => ("a long", IntegerWidth::Long.limits()),
        Shape::Integer(_) => ("an integer", IntegerWidth::Integer.limits()),
        _ => return Ok(found),
    };
    if !(i128::from(low)..=i128::from(high)).contains(&found.value) {
        let shown = match value.as_f64().filter(|_| !value.is_i64() && !value.is_u64()) {
            Some(double) => java_double(double),
            None => text.to_owned(),
        };
        return Err(RequestError::illegal_argument(format!("Value [{shown}] is out of range for {name}")));
    }
    Ok(found)
}
