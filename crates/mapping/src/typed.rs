//! One JSON scalar under one field type: "which term or number is this value, and if none, why?"

use serde_json::Value;

use crate::RequestError;
use crate::date::{DateFormat, Instant, NANOS_FORMAT, Resolution};
use crate::field::{Field, FieldType};
use crate::ip;
use crate::number::{
    HALF_FLOAT_MAX, double_from_json, double_from_text, integer_from_text, java_double, round_to_half,
    sortable_from_f64, sortable_from_u64,
};

/// A scalar as it stands in JSON.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scalar<'a> {
    Text(&'a str),
    /// A number without fraction or exponent that fits.
    Integer {
        text: &'a str,
        value: i64,
    },
    /// Any other number.
    Number(&'a str),
    Bool(bool),
}

/// A scalar that owns its text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum OwnedScalar {
    Text(String),
    Integer(String, i64),
    Number(String),
    Bool(bool),
}

impl OwnedScalar {
    pub fn from_json(value: &Value) -> OwnedScalar {
        match value {
            Value::String(text) => OwnedScalar::Text(text.clone()),
            Value::Bool(flag) => OwnedScalar::Bool(*flag),
            Value::Number(number) => match number.as_i64() {
                Some(value) => OwnedScalar::Integer(number.to_string(), value),
                None => OwnedScalar::Number(number.to_string()),
            },
            other => OwnedScalar::Text(other.to_string()),
        }
    }

    pub fn borrow(&self) -> Scalar<'_> {
        match self {
            OwnedScalar::Text(text) => Scalar::Text(text),
            OwnedScalar::Integer(text, value) => Scalar::Integer { text, value: *value },
            OwnedScalar::Number(text) => Scalar::Number(text),
            OwnedScalar::Bool(flag) => Scalar::Bool(*flag),
        }
    }
}

impl<'a> Scalar<'a> {
    /// The text of the token, as Jackson's `text()` gives it.
    pub fn text(self) -> &'a str {
        match self {
            Scalar::Text(text) | Scalar::Integer { text, .. } | Scalar::Number(text) => text,
            Scalar::Bool(true) => "true",
            Scalar::Bool(false) => "false",
        }
    }
}

/// A field type reduced to what the conversion needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Shape {
    Text,
    Keyword,
    Integer(IntegerWidth),
    Unsigned,
    Double,
    Float,
    HalfFloat,
    Scaled(f64),
    Boolean,
    Date,
    Ip,
    GeoPoint,
    Geometry,
    Range,
    Binary,
    Completion,
    Join,
    Query,
    /// Of objects whose keys are not mapped.
    Flattened,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum IntegerWidth {
    Long,
    Integer,
    Short,
    Byte,
}

impl IntegerWidth {
    #[inline]
    pub fn limits(self) -> (i64, i64) {
        match self {
            IntegerWidth::Long => (i64::MIN, i64::MAX),
            IntegerWidth::Integer => (i32::MIN as i64, i32::MAX as i64),
            IntegerWidth::Short => (i16::MIN as i64, i16::MAX as i64),
            IntegerWidth::Byte => (i8::MIN as i64, i8::MAX as i64),
        }
    }

    fn name(self) -> &'static str {
        match self {
            IntegerWidth::Long => "long",
            IntegerWidth::Integer => "integer",
            IntegerWidth::Short => "short",
            IntegerWidth::Byte => "byte",
        }
    }

    fn with_article(self) -> String {
        let name = self.name();
        if name == "integer" { format!("an {name}") } else { format!("a {name}") }
    }
}

impl Shape {
    pub fn of(kind: &FieldType) -> Shape {
        match kind {
            FieldType::Text => Shape::Text,
            FieldType::Keyword => Shape::Keyword,
            FieldType::Long => Shape::Integer(IntegerWidth::Long),
            FieldType::UnsignedLong => Shape::Unsigned,
            FieldType::Integer => Shape::Integer(IntegerWidth::Integer),
            FieldType::Short => Shape::Integer(IntegerWidth::Short),
            FieldType::Byte => Shape::Integer(IntegerWidth::Byte),
            FieldType::Double => Shape::Double,
            FieldType::Float => Shape::Float,
            FieldType::HalfFloat => Shape::HalfFloat,
            FieldType::ScaledFloat { scaling_factor } => Shape::Scaled(*scaling_factor),
            FieldType::Boolean => Shape::Boolean,
            FieldType::Date { .. } => Shape::Date,
            FieldType::Ip => Shape::Ip,
            FieldType::GeoPoint => Shape::GeoPoint,
            FieldType::GeoShape { .. } => Shape::Geometry,
            FieldType::Range(_) => Shape::Range,
            FieldType::Binary => Shape::Binary,
            FieldType::Completion(_) => Shape::Completion,
            FieldType::Join(_) => Shape::Join,
            FieldType::Query => Shape::Query,
        }
    }
}

/// What the sink gets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Typed<'a> {
    /// The value counts for null (an empty string for a number).
    Nothing,
    Number(i64),
    Term(&'a [u8]),
    Text(&'a str),
}

/// Why a value cannot be read; becomes the `caused_by` of the document's error.
pub(crate) type Cause = Box<RequestError>;

#[cold]
fn cause(reason: String) -> Cause {
    Box::new(RequestError::illegal_argument(reason))
}

/// Converts a scalar. `buffer` holds the bytes of an address.
#[inline]
pub(crate) fn typed<'a>(
    shape: Shape,
    field: &Field,
    scalar: Scalar<'a>,
    buffer: &'a mut [u8; 16],
) -> Result<Typed<'a>, Cause> {
    match shape {
        Shape::Text => Ok(Typed::Text(scalar.text())),
        Shape::Keyword => Ok(Typed::Term(scalar.text().as_bytes())),
        Shape::Integer(width) => {
            if let Scalar::Integer { value, .. } = scalar {
                let (low, high) = width.limits();
                if low <= value && value <= high {
                    return Ok(Typed::Number(value));
                }
            }
            integer(width, field, scalar)
        }
        Shape::Unsigned => unsigned(scalar),
        Shape::Date => date(field, scalar).map(Typed::Number),
        Shape::Ip => {
            let Scalar::Text(text) = scalar else { return Err(not_an_ip(scalar.text())) };
            match ip::parse(text.as_bytes()) {
                Some(bytes) => {
                    *buffer = bytes;
                    Ok(Typed::Term(buffer))
                }
                None => Err(not_an_ip(text)),
            }
        }
        Shape::Boolean => match scalar {
            Scalar::Bool(flag) => Ok(Typed::Number(flag as i64)),
            _ => boolean(scalar),
        },
        Shape::Double => double(field, scalar, "double", f64::MAX).map(number),
        Shape::Float => {
            let value = double(field, scalar, "float", f64::INFINITY)?;
            finite(value, value.map(|value| value as f32 as f64), "float").map(number)
        }
        Shape::HalfFloat => {
            let value = double(field, scalar, "half_float", f64::INFINITY)?;
            finite(value, value.map(|value| round_to_half(value as f32) as f64), "half_float").map(number)
        }
        // The walker reads these as a whole.
        Shape::GeoPoint
        | Shape::Geometry
        | Shape::Range
        | Shape::Binary
        | Shape::Completion
        | Shape::Join
        | Shape::Query
        | Shape::Flattened => Ok(Typed::Nothing),
        Shape::Scaled(factor) => match double(field, scalar, "scaled_float", f64::MAX)? {
            Some(value) => Ok(Typed::Number(scaled(value, factor))),
            None => Ok(Typed::Nothing),
        },
    }
}

/// `Math.round(value * factor)`: half way goes up, saturating at the ends of `i64`.
pub(crate) fn scaled(value: f64, factor: f64) -> i64 {
    let product = value * factor;
    let floor = floor(product);
    (if product - floor >= 0.5 { floor + 1.0 } else { floor }) as i64
}

/// `value.floor()`, which without SSE 4.1 is a call of a function.
#[inline]
fn floor(value: f64) -> f64 {
    // Numbers beyond 2^52 have no fraction.
    if value.abs() >= (1u64 << 52) as f64 {
        return value;
    }
    let truncated = value as i64 as f64;
    if truncated > value { truncated - 1.0 } else { truncated }
}

fn number(value: Option<f64>) -> Typed<'static> {
    value.map_or(Typed::Nothing, |value| Typed::Number(sortable_from_f64(value)))
}

fn finite(given: Option<f64>, rounded: Option<f64>, name: &str) -> Result<Option<f64>, Cause> {
    match (given, rounded) {
        (Some(given), Some(rounded)) if !rounded.is_finite() => Err(not_finite(name, given, rounded)),
        _ => Ok(rounded),
    }
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

#[inline]
fn double(field: &Field, scalar: Scalar<'_>, name: &str, limit: f64) -> Result<Option<f64>, Cause> {
    let value = match scalar {
        Scalar::Integer { value, .. } => return Ok(Some(value as f64)),
        Scalar::Number(text) => double_from_json(text),
        Scalar::Text("") if field.coerce => return Ok(None),
        Scalar::Text(_) if !field.coerce => return Err(passed_as_string(name)),
        Scalar::Text(text) => match double_from_text(text) {
            Some(value) => value,
            None => return Err(for_input_string(text)),
        },
        Scalar::Bool(flag) => return Err(not_numeric(flag)),
    };
    if !value.is_finite() || value.abs() > limit {
        return Err(not_finite(name, value, value));
    }
    Ok(Some(value))
}

#[cold]
fn passed_as_string(name: &str) -> Cause {
    let mut shown = name.to_owned();
    shown[..1].make_ascii_uppercase();
    cause(format!("{shown} value passed as String"))
}

#[cold]
fn for_input_string(text: &str) -> Cause {
    cause(if text.trim().is_empty() {
        "empty String".to_owned()
    } else {
        format!("For input string: \"{text}\"")
    })
}

#[cold]
fn not_numeric(flag: bool) -> Cause {
    let token = if flag { "VALUE_TRUE" } else { "VALUE_FALSE" };
    let reason = format!("Current token ({token}) not numeric, can not use numeric value accessors");
    Box::new(RequestError::new(400, "x_content_parse_exception", reason))
}

#[cold]
fn not_an_ip(text: &str) -> Cause {
    cause(format!("'{text}' is not an IP string literal."))
}

#[cold]
fn integer<'a>(width: IntegerWidth, field: &Field, scalar: Scalar<'_>) -> Result<Typed<'a>, Cause> {
    let text = match scalar {
        Scalar::Bool(flag) => return Err(not_numeric(flag)),
        Scalar::Text("") if field.coerce => return Ok(Typed::Nothing),
        Scalar::Text(_) if !field.coerce => {
            return Err(passed_as_string(width.name()));
        }
        other => other.text(),
    };
    let Some(found) = integer_from_text(text) else {
        // Elasticsearch reads `long` as a decimal, the narrower types through a double.
        return Err(match width {
            IntegerWidth::Long => cause(format!("For input string: \"{text}\"")),
            _ => Box::new(RequestError::new(
                400,
                "number_format_exception",
                format!("For input string: \"{text}\""),
            )),
        });
    };
    if found.has_fraction && !field.coerce {
        return Err(cause(format!("{text} cannot be converted to {} without data loss", java_class(width))));
    }
    let (low, high) = width.limits();
    match i64::try_from(found.value) {
        Ok(value) if (low..=high).contains(&value) => Ok(Typed::Number(value)),
        _ if matches!(width, IntegerWidth::Long | IntegerWidth::Integer)
            && !matches!(scalar, Scalar::Text(_)) =>
        {
            let name = if width == IntegerWidth::Long { "long" } else { "int" };
            let reason = format!("Numeric value ({text}) out of range of {name} ({low} - {high})");
            Err(Box::new(
                RequestError::new(400, "x_content_parse_exception", reason.clone())
                    .caused_by(RequestError::new(400, "input_coercion_exception", reason)),
            ))
        }
        _ => Err(cause(format!("Value [{text}] is out of range for {}", width.with_article()))),
    }
}

/// Source: Elasticsearch's `UnsignedLongFieldMapper`.
fn unsigned<'a>(scalar: Scalar<'_>) -> Result<Typed<'a>, Cause> {
    let out_of_range = |text: &str| cause(format!("Value [{text}] is out of range for unsigned long"));
    match scalar {
        Scalar::Integer { value, text } => match u64::try_from(value) {
            Ok(value) => Ok(Typed::Number(sortable_from_u64(value))),
            Err(_) => Err(out_of_range(text)),
        },
        Scalar::Number(text) if text.contains(['.', 'e', 'E']) => Err(for_input_string(text)),
        Scalar::Number(text) => match text.parse() {
            Ok(value) => Ok(Typed::Number(sortable_from_u64(value))),
            Err(_) => Err(out_of_range(text)),
        },
        Scalar::Text("") => Ok(Typed::Nothing),
        Scalar::Text(text) => match text.parse() {
            Ok(value) => Ok(Typed::Number(sortable_from_u64(value))),
            Err(_) => Err(for_input_string(text)),
        },
        Scalar::Bool(_) => Err(for_input_string(scalar.text())),
    }
}

fn java_class(width: IntegerWidth) -> &'static str {
    match width {
        IntegerWidth::Long => "Long",
        IntegerWidth::Integer => "Integer",
        IntegerWidth::Short => "Short",
        IntegerWidth::Byte => "Byte",
    }
}

#[cold]
fn boolean<'a>(scalar: Scalar<'_>) -> Result<Typed<'a>, Cause> {
    match scalar {
        Scalar::Text("true") => Ok(Typed::Number(1)),
        Scalar::Text("false" | "") => Ok(Typed::Number(0)),
        Scalar::Bool(flag) => Ok(Typed::Number(flag as i64)),
        Scalar::Text(text) => {
            Err(cause(format!("Failed to parse value [{text}] as only [true] or [false] are allowed.")))
        }
        Scalar::Integer { .. } | Scalar::Number(_) => {
            let is_integer = !scalar.text().bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
            let token = if is_integer { "VALUE_NUMBER_INT" } else { "VALUE_NUMBER_FLOAT" };
            let reason = format!("Current token ({token}) not of boolean type");
            Err(Box::new(
                RequestError::new(400, "x_content_parse_exception", reason.clone())
                    .caused_by(RequestError::new(400, "json_parse_exception", reason)),
            ))
        }
    }
}

#[inline]
fn date(field: &Field, scalar: Scalar<'_>) -> Result<i64, Cause> {
    let Some((format, resolution)) = field.date() else { unreachable!("a date's shape belongs to a date") };
    let found = match (scalar, resolution) {
        (Scalar::Integer { text, value }, Resolution::Millis) => format.parse_integer(value, text),
        (other, Resolution::Millis) => format.parse_millis(other.text()),
        (Scalar::Integer { text, value }, Resolution::Nanos) => {
            return nanos_of_integer(format, value, text);
        }
        (other, Resolution::Nanos) => match format.parse_instant(other.text()) {
            Ok(instant) => return instant.to_nanos().map_err(Box::new),
            Err(error) => Err(error),
        },
    };
    found.map_err(|error| unreadable_date(format, scalar.text(), error))
}

/// An integer in nanoseconds. What is too large for them is the last one under the default format, as in Elasticsearch.
#[cold]
fn nanos_of_integer(format: &DateFormat, value: i64, text: &str) -> Result<i64, Cause> {
    let instant = match format.parse_integer_quickly(value, text) {
        Some(millis) => Instant::of_millis(millis),
        None => format.parse_instant(text).map_err(|error| unreadable_date(format, text, error))?,
    };
    if instant.millis > 0 && format.pattern == NANOS_FORMAT {
        return Ok(instant.to_nanos().unwrap_or(i64::MAX));
    }
    instant.to_nanos().map_err(Box::new)
}

#[cold]
fn unreadable_date(format: &DateFormat, text: &str, error: RequestError) -> Cause {
    let reason = format!("failed to parse date field [{text}] with format [{}]", format.pattern);
    Box::new(RequestError::illegal_argument(reason).caused_by(error))
}
