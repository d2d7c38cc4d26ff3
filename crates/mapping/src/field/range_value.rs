//! Ranges as values (`integer_range` and similar types): "which two bounds does this JSON name, and how are
//! they encoded?"
//!
//! Both stored bounds are inclusive: an exclusive one is moved by the smallest step of its type. Each bound
//! becomes an unsigned integer that sorts like it. A range is encoded as the bytes of its lower bound
//! followed by those of its upper bound, big-endian, 8 bytes each, or 16 for addresses. As terms, ranges sort
//! by their lower bounds, so that a scan of the dictionary can stop before ranges that begin too late.
//!
//! Source: Elasticsearch's `RangeFieldMapper` and `RangeType`.

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};

use super::mapped::Field;
use super::query::{DateContext, RangeEnd, for_input_string};
use super::scalar::{OwnedScalar, Typed};
use super::value_kind::IntegerWidth;
use crate::RequestError;
use crate::date::{DateFormat, Zone};
use crate::ip;
use crate::number::{
    double_from_text, f64_from_sortable, integer_from_text, java_double, java_float, sortable_from_f64,
};

/// The type of a range's bounds.
#[derive(Debug, Clone, PartialEq)]
pub enum RangeKind {
    /// 32-bit integers.
    Integer,
    /// 64-bit integers.
    Long,
    /// 32-bit floating point numbers.
    Float,
    /// 64-bit floating point numbers.
    Double,
    /// Dates in milliseconds, parsed by `format`.
    Date {
        /// How dates are parsed and printed.
        format: Arc<DateFormat>,
    },
    /// Addresses in the form of IPv6.
    Ip,
}

/// Both bounds, inclusive, each as a number that sorts like it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    /// The lower bound.
    pub lower: u128,
    /// The upper bound.
    pub upper: u128,
}

/// The relation that a document's range must have to a query's range (`relation`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RangeRelation {
    /// They intersect.
    #[default]
    Intersects,
    /// The document's range lies inside the query's.
    Within,
    /// The query's range lies inside the document's.
    Contains,
}

/// Selects ranges by limits for each of their bounds, all inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangesWanted {
    /// Smallest and largest lower bound.
    pub lower: (u128, u128),
    /// Smallest and largest upper bound.
    pub upper: (u128, u128),
    /// Number of bytes of a bound in a term.
    pub width: usize,
}

impl RangesWanted {
    /// Whether both bounds lie within their limits.
    pub fn accepts(&self, ends: Ends) -> bool {
        (self.lower.0..=self.lower.1).contains(&ends.lower)
            && (self.upper.0..=self.upper.1).contains(&ends.upper)
    }

    /// Decodes the bounds in `term`.
    pub fn decode(&self, term: &[u8]) -> Option<Ends> {
        decode(term, self.width)
    }

    /// Encodes a range.
    pub fn encode(&self, ends: Ends) -> Vec<u8> {
        encode(ends, self.width)
    }
}

fn encode(ends: Ends, width: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(2 * width);
    bytes.extend_from_slice(&ends.lower.to_be_bytes()[16 - width..]);
    bytes.extend_from_slice(&ends.upper.to_be_bytes()[16 - width..]);
    bytes
}

fn decode(term: &[u8], width: usize) -> Option<Ends> {
    if term.len() != 2 * width {
        return None;
    }
    let number = |bytes: &[u8]| bytes.iter().fold(0, |number, &byte| number << 8 | u128::from(byte));
    Some(Ends { lower: number(&term[..width]), upper: number(&term[width..]) })
}

/// Converts a column's number to a bound.
fn end_of(sortable: i64) -> u128 {
    u128::from(sortable as u64 ^ 1 << 63)
}

fn sortable_of(end: u128) -> i64 {
    (end as u64 ^ 1 << 63) as i64
}

impl RangeKind {
    /// Returns the name of the type, such as `integer_range`.
    pub fn name(&self) -> &'static str {
        match self {
            RangeKind::Integer => "integer_range",
            RangeKind::Long => "long_range",
            RangeKind::Float => "float_range",
            RangeKind::Double => "double_range",
            RangeKind::Date { .. } => "date_range",
            RangeKind::Ip => "ip_range",
        }
    }

    fn width(&self) -> usize {
        if *self == RangeKind::Ip { 16 } else { 8 }
    }

    /// Returns the range that is open on both sides.
    fn all(&self) -> Ends {
        let (lower, upper) = match self {
            RangeKind::Integer => (end_of(i32::MIN.into()), end_of(i32::MAX.into())),
            RangeKind::Long | RangeKind::Date { .. } => (0, u64::MAX.into()),
            RangeKind::Float | RangeKind::Double => {
                (end_of(sortable_from_f64(f64::NEG_INFINITY)), end_of(sortable_from_f64(f64::INFINITY)))
            }
            RangeKind::Ip => (0, u128::MAX),
        };
        Ends { lower, upper }
    }

    /// Returns the bound one step higher or lower; `None` beyond the type's limits.
    fn step(&self, end: u128, is_up: bool) -> Option<u128> {
        if *self == RangeKind::Float {
            let value = f64_from_sortable(sortable_of(end)) as f32;
            let next = if is_up { value.next_up() } else { value.next_down() };
            return Some(end_of(sortable_from_f64(next.into())));
        }
        if *self == RangeKind::Double {
            let value = f64_from_sortable(sortable_of(end));
            let next = if is_up { value.next_up() } else { value.next_down() };
            return Some(end_of(sortable_from_f64(next)));
        }
        let next = if is_up { end.checked_add(1) } else { end.checked_sub(1) };
        let all = self.all();
        next.filter(|next| (all.lower..=all.upper).contains(next))
    }

    /// Formats a bound as Java prints it.
    fn shown(&self, end: u128) -> String {
        match self {
            RangeKind::Float => java_float(f64_from_sortable(sortable_of(end)) as f32),
            RangeKind::Double => java_double(f64_from_sortable(sortable_of(end))),
            RangeKind::Ip => ip::format(&end.to_be_bytes()),
            _ => sortable_of(end).to_string(),
        }
    }

    /// Returns the range as synthetic source shows it: inclusive bounds, null where it is open.
    pub(crate) fn to_json(&self, ends: Ends) -> Value {
        let all = self.all();
        let shown = |end: u128, open: u128| match self {
            _ if end == open => Value::Null,
            RangeKind::Date { format } => format.format_millis(sortable_of(end)).into(),
            RangeKind::Ip => self.shown(end).into(),
            RangeKind::Double => f64_from_sortable(sortable_of(end)).into(),
            // Its shortest text, which is not that of the same number as a double.
            RangeKind::Float => serde_json::from_str(&self.shown(end)).unwrap_or(Value::Null),
            RangeKind::Integer | RangeKind::Long => sortable_of(end).into(),
        };
        json!({"gte": shown(ends.lower, all.lower), "lte": shown(ends.upper, all.upper)})
    }

    /// Decodes the bounds of a stored range.
    pub fn decode(&self, term: &[u8]) -> Option<Ends> {
        decode(term, self.width())
    }

    /// Encodes a range for storage.
    pub fn encode(&self, ends: Ends) -> Vec<u8> {
        encode(ends, self.width())
    }

    /// Returns the bounds of a stored range as doubles; `None` for addresses.
    pub fn numbers(&self, term: &[u8]) -> Option<(f64, f64)> {
        let ends = self.decode(term)?;
        let number = |end: u128| match self {
            RangeKind::Float | RangeKind::Double => f64_from_sortable(sortable_of(end)),
            _ => sortable_of(end) as f64,
        };
        (*self != RangeKind::Ip).then(|| (number(ends.lower), number(ends.upper)))
    }

    /// Returns the bounds of a stored range of dates in milliseconds.
    pub fn millis(&self, term: &[u8]) -> Option<(i64, i64)> {
        let ends = self.decode(term)?;
        matches!(self, RangeKind::Date { .. }).then(|| (sortable_of(ends.lower), sortable_of(ends.upper)))
    }
}

/// A document's range while its members are being read.
#[derive(Debug)]
pub(crate) struct RangeReader<'f> {
    field: &'f Field,
    kind: &'f RangeKind,
    /// Each bound as given, and whether it is inclusive.
    lower: (u128, bool),
    upper: (u128, bool),
}

impl<'f> RangeReader<'f> {
    /// Creates a range that is open until its members are read.
    pub fn new(field: &'f Field, kind: &'f RangeKind) -> RangeReader<'f> {
        let all = kind.all();
        RangeReader { field, kind, lower: (all.lower, true), upper: (all.upper, true) }
    }

    /// Reads one member. Returns false if ranges have no such member.
    ///
    /// # Errors
    /// As a field of the bounds' type would refuse the value.
    pub fn take(&mut self, name: &str, value: &Value) -> Result<bool, RequestError> {
        let (is_lower, is_included) = match name {
            "gte" => (true, true),
            "gt" => (true, false),
            "lte" => (false, true),
            "lt" => (false, false),
            _ => return Ok(false),
        };
        let all = self.kind.all();
        let end = match value {
            // An open bound: the type's limit, which `gt` and `lt` exclude.
            Value::Null if is_lower => all.lower,
            Value::Null => all.upper,
            // A date without its smaller units is rounded: down for `gte` and `lt`, up for `gt` and `lte`.
            value => self.end(value, is_lower != is_included)?,
        };
        *(if is_lower { &mut self.lower } else { &mut self.upper }) = (end, is_included);
        Ok(true)
    }

    fn end(&self, value: &Value, round_up: bool) -> Result<u128, RequestError> {
        if let Value::Array(_) | Value::Object(_) = value {
            let token = if value.is_array() { "START_ARRAY" } else { "START_OBJECT" };
            let reason = match self.kind {
                RangeKind::Date { .. } | RangeKind::Ip => {
                    return Err(RequestError::illegal_argument(format!("Expected text but found {token}")));
                }
                _ => format!("Current token ({token}) not numeric, can not use numeric value accessors"),
            };
            return Err(RequestError::bad_request("x_content_parse_exception", reason));
        }
        let owned = OwnedScalar::from_json(value);
        let scalar = owned.borrow();
        match self.kind {
            RangeKind::Ip => return address(scalar.text()),
            RangeKind::Date { format } => {
                let text = scalar.text();
                if text.starts_with("now") {
                    let cause = RequestError::illegal_argument("now is not used at indexing time");
                    let reason = "could not read the current timestamp";
                    return Err(RequestError::bad_request("parse_exception", reason).caused_by(cause));
                }
                return format.parse_with_math(text, 0, round_up, &Zone::Utc).map(end_of);
            }
            RangeKind::Integer | RangeKind::Long | RangeKind::Float | RangeKind::Double => {}
        }
        let Some(ends) = self.field.of.ends() else { unreachable!("ranges of numbers have ends") };
        match ends.read(self.field, scalar, &mut [0; 16]) {
            Ok(Typed::Number(sortable)) => Ok(end_of(sortable)),
            Ok(_) => Err(RequestError::bad_request("number_format_exception", "empty String")),
            Err(cause) => Err(*cause),
        }
    }

    /// Returns the range that was read.
    ///
    /// # Errors
    /// The lower bound is greater than the upper one.
    pub fn finish(self) -> Result<Ends, RequestError> {
        let included = |(end, is_included): (u128, bool), is_up: bool| match is_included {
            true => Some(end),
            false => self.kind.step(end, is_up),
        };
        let (lower, upper) = (included(self.lower, true), included(self.upper, false));
        match (lower, upper) {
            (Some(lower), Some(upper)) if lower <= upper => Ok(Ends { lower, upper }),
            _ if *self.kind == RangeKind::Ip => Err(RequestError::illegal_argument(
                "min value cannot be greater than max value for InetAddressRange field",
            )),
            (Some(lower), Some(upper)) => Err(RequestError::illegal_argument(format!(
                "min value ({}) is greater than max value ({})",
                self.kind.shown(lower),
                self.kind.shown(upper)
            ))),
            _ => Err(RequestError::illegal_argument("no value of the type lies within the range")),
        }
    }
}

/// Returns the block of addresses that a prefix such as `10.0.0.0/8` means.
pub(crate) fn block_of(text: &str) -> Result<Ends, RequestError> {
    if let Some((first, last)) = ip::parse_cidr(text) {
        return Ok(Ends { lower: u128::from_be_bytes(first), upper: u128::from_be_bytes(last) });
    }
    Err(RequestError::illegal_argument(match text.split_once('/') {
        Some((start, length)) if ip::parse(start.as_bytes()).is_some() && length.parse::<u64>().is_ok() => {
            format!(
                "Illegal prefix length [{length}] in [{text}]. Must be 0-32 for IPv4 ranges, 0-128 for IPv6 ranges"
            )
        }
        Some((start, _)) if ip::parse(start.as_bytes()).is_none() => {
            format!("'{start}' is not an IP string literal.")
        }
        _ => format!("Expected [ip/prefix] but was [{text}]"),
    }))
}

fn address(text: &str) -> Result<u128, RequestError> {
    ip::parse(text.as_bytes())
        .map(u128::from_be_bytes)
        .ok_or_else(|| RequestError::illegal_argument(format!("'{text}' is not an IP string literal.")))
}

impl Field {
    /// Selects the ranges of a field that have `relation` to the range with these bounds; a missing bound is
    /// open. `None` if nothing can match.
    ///
    /// # Errors
    /// The type cannot read a bound, or the lower bound is greater than the upper one.
    pub fn select_ranges(
        &self,
        lower: Option<RangeEnd<'_>>,
        upper: Option<RangeEnd<'_>>,
        relation: RangeRelation,
        context: &DateContext<'_>,
    ) -> Result<Option<RangesWanted>, RequestError> {
        let Some(kind) = self.range_kind() else { return Ok(None) };
        if !self.index {
            return Err(RequestError::illegal_argument(format!(
                "Cannot search on field [{}] since it is not indexed.",
                self.path
            )));
        }
        let all = kind.all();
        let lower = lower.filter(|end| !end.value.is_null());
        let upper = upper.filter(|end| !end.value.is_null());
        let has_number = [&lower, &upper].into_iter().flatten().any(|end| end.value.is_number());
        let read =
            |end: RangeEnd<'_>, round_up: bool| query_end(kind, end.value, round_up, has_number, context);
        let from = match &lower {
            None => (all.lower, true),
            Some(end) => (read(*end, !end.inclusive)?, end.inclusive),
        };
        let to = match &upper {
            None => (all.upper, true),
            Some(end) => (read(*end, end.inclusive)?, end.inclusive),
        };
        if from.0 > to.0 {
            return Err(RequestError::illegal_argument(format!(
                "Range query `from` value ({}) is greater than `to` value ({})",
                kind.shown(from.0),
                kind.shown(to.0)
            )));
        }
        let from = if from.1 { Some(from.0) } else { kind.step(from.0, true) };
        let to = if to.1 { Some(to.0) } else { kind.step(to.0, false) };
        let (Some(from), Some(to)) = (from, to) else { return Ok(None) };
        if from > to {
            return Ok(None);
        }
        let (least, most, width) = (all.lower, all.upper, kind.width());
        Ok(Some(match relation {
            RangeRelation::Intersects => RangesWanted { lower: (least, to), upper: (from, most), width },
            RangeRelation::Within => RangesWanted { lower: (from, most), upper: (least, to), width },
            RangeRelation::Contains => RangesWanted { lower: (least, from), upper: (to, most), width },
        }))
    }
}

/// Reads a bound of a query. Source: the `parse` methods of `RangeType`, `NumberFieldMapper.NumberType` and
/// `DateFieldType`.
fn query_end(
    kind: &RangeKind,
    value: &Value,
    round_up: bool,
    has_number: bool,
    context: &DateContext<'_>,
) -> Result<u128, RequestError> {
    let owned = OwnedScalar::from_json(value);
    let text = owned.borrow().text();
    let unreadable = || for_input_string(text);
    match kind {
        RangeKind::Ip => address(text),
        RangeKind::Date { format } => {
            static EPOCH_MILLIS: LazyLock<DateFormat> =
                LazyLock::new(|| DateFormat::parse_list("epoch_millis").expect("a format of the table"));
            let format = match context.format {
                Some(format) => format,
                None if has_number => &EPOCH_MILLIS,
                None => format,
            };
            format.parse_with_math(text, context.now_millis, round_up, context.zone).map(end_of)
        }
        RangeKind::Integer | RangeKind::Long => {
            let found = integer_from_text(text).ok_or_else(unreadable)?;
            if found.has_fraction {
                return Err(RequestError::illegal_argument(format!("Value [{text}] has a decimal part")));
            }
            let (width, name) = match kind {
                RangeKind::Integer => (IntegerWidth::Integer, "an integer"),
                _ => (IntegerWidth::Long, "a long"),
            };
            let (low, high) = width.limits();
            match i64::try_from(found.value) {
                Ok(whole) if (low..=high).contains(&whole) => Ok(end_of(whole)),
                _ => {
                    Err(RequestError::illegal_argument(format!("Value [{text}] is out of range for {name}")))
                }
            }
        }
        RangeKind::Float | RangeKind::Double => {
            let number = double_from_text(text).ok_or_else(unreadable)?;
            let (number, name) = match kind {
                RangeKind::Float => (number as f32 as f64, "float"),
                _ => (number, "double"),
            };
            if !number.is_finite() {
                return Err(RequestError::illegal_argument(format!(
                    "[{name}] supports only finite values, but got [{}]",
                    java_double(number)
                )));
            }
            Ok(end_of(sortable_from_f64(number)))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::FieldId;

    fn field(kind: RangeKind) -> Field {
        Field { index: true, coerce: true, ..crate::field_type::bare_range(FieldId(0), "r".into(), kind) }
    }

    fn read(kind: RangeKind, value: Value) -> Result<Ends, RequestError> {
        let field = field(kind);
        let mut reader = RangeReader::new(&field, field.range_kind().unwrap());
        for (name, end) in value.as_object().unwrap() {
            assert!(reader.take(name, end)?);
        }
        reader.finish()
    }

    #[test]
    fn ends_that_do_not_belong_to_a_range_are_moved_by_one_step() {
        let long = |value: i64| end_of(value);
        let double = |value: f64| end_of(sortable_from_f64(value));
        for (kind, value, lower, upper) in [
            (RangeKind::Long, json!({"gt": 1, "lt": 5}), long(2), long(4)),
            (RangeKind::Integer, json!({"gte": "7.0"}), long(7), long(i32::MAX.into())),
            (RangeKind::Long, json!({"gt": null}), long(i64::MIN + 1), long(i64::MAX)),
            (RangeKind::Double, json!({"gt": 0, "lte": 1}), double(f64::from_bits(1)), double(1.0)),
            (RangeKind::Float, json!({"lt": 1}), double(f64::NEG_INFINITY), double(0.99999994f32 as f64)),
            (RangeKind::Ip, json!({"gte": "::1", "lt": "::4"}), 1, 3),
        ] {
            assert_eq!(read(kind, value.clone()).unwrap(), Ends { lower, upper }, "{value}");
        }
        let reason = read(RangeKind::Float, json!({"gte": 2, "lte": 1})).unwrap_err().reason;
        assert_eq!(reason, "min value (2.0) is greater than max value (1.0)");
    }

    proptest! {
        #[test]
        fn bytes_sort_as_ends_do_and_queries_select_what_they_say(
            ranges in proptest::collection::vec((-9i64..9, 0i64..6), 2),
            from in -9i64..9,
            length in 0i64..6,
        ) {
            let kind = RangeKind::Long;
            let to = from + length;
            let ends = |&(lower, length): &(i64, i64)| Ends { lower: end_of(lower), upper: end_of(lower + length) };
            let (one, other) = (kind.encode(ends(&ranges[0])), kind.encode(ends(&ranges[1])));
            let key = |&(lower, length): &(i64, i64)| (lower, lower + length);
            prop_assert_eq!(one.cmp(&other), key(&ranges[0]).cmp(&key(&ranges[1])));
            prop_assert_eq!(kind.decode(&one), Some(ends(&ranges[0])));
            let field = field(kind);
            let (lower, upper) = key(&ranges[0]);
            for (relation, expected) in [
                (RangeRelation::Intersects, lower <= to && upper >= from),
                (RangeRelation::Within, lower >= from && upper <= to),
                (RangeRelation::Contains, lower <= from && upper >= to),
            ] {
                let (from, to) = (json!(from), json!(to));
                let end = |value| Some(RangeEnd { value, inclusive: true });
                let wanted = field.select_ranges(end(&from), end(&to), relation, &DateContext::at(0)).unwrap();
                prop_assert_eq!(wanted.is_some_and(|wanted| wanted.accepts(ends(&ranges[0]))), expected);
            }
        }
    }
}
