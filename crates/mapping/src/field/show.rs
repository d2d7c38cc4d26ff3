//! Converts values back to JSON: "how are the values of a segment or of a source shown?"

use serde_json::{Number, Value};

use super::described::FieldType;
use super::mapped::Field;
use super::range_value::RangeKind;
use super::value_kind::{Precision, ValueKind};
use crate::RequestError;
use crate::date::{DateFormat, Resolution, Zone};
use crate::geo::{GeoPoint, decode_on_plane};
use crate::number::{f64_from_sortable, java_double, u64_from_sortable};

/// Decodes the terms of a field without a reference to the field.
#[derive(Debug, Clone, Copy)]
pub struct TermCodec(&'static dyn FieldType);

impl TermCodec {
    /// Returns the string that a term represents.
    pub fn decode(self, term: &[u8]) -> String {
        self.0.decode_term(term)
    }
}

impl Field {
    /// Returns a column's value as the JSON number in a hit's `sort`: dates as stored, booleans as 0 or 1.
    pub fn decode_number(&self, stored: i64) -> Value {
        match self.values {
            ValueKind::Double(Precision::Double) => double(f64_from_sortable(stored)),
            ValueKind::Double(_) => float(f64_from_sortable(stored) as f32),
            ValueKind::Scaled(factor) => double(stored as f64 / factor),
            ValueKind::UnsignedLong => u64_from_sortable(stored).into(),
            _ => stored.into(),
        }
    }

    /// Returns a column's value for arithmetic in aggregations: floats widened, dates in milliseconds.
    #[inline]
    pub fn decode_f64(&self, stored: i64) -> f64 {
        match self.values {
            ValueKind::Double(_) => f64_from_sortable(stored),
            ValueKind::Scaled(factor) => stored as f64 / factor,
            ValueKind::UnsignedLong => u64_from_sortable(stored) as f64,
            ValueKind::Date { resolution, .. } => resolution.millis(stored) as f64,
            _ => stored as f64,
        }
    }

    /// Returns a column's value as `key_as_string` shows it: dates in the field's format (in UTC), booleans
    /// as `true` or `false`, numbers as numbers.
    pub fn format_number(&self, stored: i64) -> Value {
        match &self.values {
            ValueKind::Date { format, resolution } => {
                format.format_instant(resolution.instant(stored), &Zone::Utc).into()
            }
            ValueKind::Bool => (stored != 0).into(),
            ValueKind::Point => GeoPoint::decode(stored).to_text().into(),
            ValueKind::CartesianPoint => {
                let (x, y) = decode_on_plane(stored);
                format!("{}, {}", java_double(x), java_double(y)).into()
            }
            _ => self.decode_number(stored),
        }
    }

    /// Returns a column's value as `docvalue_fields` shows it. Dates use `format` if it is given.
    pub fn show_number(&self, stored: i64, format: Option<&DateFormat>) -> Value {
        match (format, &self.values) {
            // Elasticsearch uses this value as the sort key of missing values.
            (_, ValueKind::Date { resolution: Resolution::Nanos, .. }) if stored == i64::MAX => Value::Null,
            (Some(format), _) => format.format_instant(self.resolution().instant(stored), &Zone::Utc).into(),
            // Columns contain floats widened to doubles, and they are shown that way.
            (None, ValueKind::Double(Precision::Float | Precision::Half)) => f64_from_sortable(stored).into(),
            (None, _) => self.format_number(stored),
        }
    }

    /// Returns a column's value as it would be written in a document, for synthetic source.
    pub fn source_number(&self, stored: i64) -> Value {
        if self.is_point() {
            let point = GeoPoint::decode(stored);
            return serde_json::json!({"lat": point.latitude, "lon": point.longitude});
        }
        self.format_number(stored)
    }

    /// Returns a term as a string: addresses in their notation, everything else as UTF-8.
    pub fn decode_term(&self, term: &[u8]) -> String {
        self.of.decode_term(term)
    }

    /// Returns the decoder of its terms, if the terms are not plain strings.
    pub fn term_codec(&self) -> Option<TermCodec> {
        matches!(self.values, ValueKind::Coded | ValueKind::Ip).then_some(TermCodec(self.of))
    }

    /// Returns what `fields` shows for a null in the source.
    pub fn show_null(&self, format: Option<&DateFormat>) -> Option<Value> {
        self.of.show_null(self, self.null_value.as_ref()?, format)
    }

    /// Returns a value of the source as `fields` shows it; `None` if it does not parse (such values are
    /// skipped).
    pub fn show_source(&self, value: &Value, format: Option<&DateFormat>) -> Option<Value> {
        self.of.show_source(self, scalar_text(value)?, format)
    }

    /// Whether `fields` takes a date format for the field.
    pub fn takes_date_formats(&self) -> bool {
        matches!(self.values, ValueKind::Date { .. } | ValueKind::Range(RangeKind::Date { .. }))
    }

    /// Returns the error about a `format` that the field does not support.
    pub fn without_formats(&self) -> RequestError {
        RequestError::illegal_argument(format!(
            "Field [{}] of type [{}] does not support custom formats",
            self.path,
            self.type_name()
        ))
    }

    /// Parses a date format of `fields` and `docvalue_fields` for the field.
    ///
    /// # Errors
    /// The pattern is invalid, or the field does not support formats.
    pub fn shown_by(&self, pattern: &str) -> Result<DateFormat, RequestError> {
        self.of.shown_by(self, pattern)
    }
}

/// Converts a string, number or boolean to a string; `None` for null, arrays and objects.
pub fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// Converts a double to JSON. NaN and infinities, which a runtime field may have, become strings, as in
/// Elasticsearch.
fn double(value: f64) -> Value {
    Number::from_f64(value).map_or_else(|| java_double(value).into(), Value::Number)
}

/// Converts a float with the fewest digits that identify it (`0.1`, not `0.10000000149011612`).
pub(crate) fn float(value: f32) -> Value {
    double(value.to_string().parse().unwrap_or(f64::from(value)))
}
