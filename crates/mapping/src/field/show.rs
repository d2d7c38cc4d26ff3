//! Values back to JSON: "how is what a segment holds, or what a source says, shown?"

use serde_json::{Number, Value};

use super::mapped::Field;
use super::value_kind::{Precision, ValueKind};
use crate::RequestError;
use crate::date::{DateFormat, Resolution, Zone};
use crate::geo::GeoPoint;
use crate::number::{f64_from_sortable, u64_from_sortable};

impl Field {
    /// A column's value as a JSON number: what `sort` answers. Dates as they are stored, booleans 0 or 1.
    pub fn decode_number(&self, stored: i64) -> Value {
        match self.values {
            ValueKind::Double(Precision::Double) => double(f64_from_sortable(stored)),
            ValueKind::Double(_) => float(f64_from_sortable(stored) as f32),
            ValueKind::Scaled(factor) => double(stored as f64 / factor),
            ValueKind::UnsignedLong => u64_from_sortable(stored).into(),
            _ => stored.into(),
        }
    }

    /// A column's value for arithmetic (aggregations): floats widened, dates in milliseconds.
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

    /// A column's value as `key_as_string` shows it: dates in the field's format (in UTC), booleans as `true` or `false`, numbers as
    /// numbers.
    pub fn format_number(&self, stored: i64) -> Value {
        match &self.values {
            ValueKind::Date { format, resolution } => {
                format.format_instant(resolution.instant(stored), &Zone::Utc).into()
            }
            ValueKind::Bool => (stored != 0).into(),
            ValueKind::Point => GeoPoint::decode(stored).to_text().into(),
            _ => self.decode_number(stored),
        }
    }

    /// A column's value as `docvalue_fields` shows it, dates by `format` where it is given.
    pub fn show_number(&self, stored: i64, format: Option<&DateFormat>) -> Value {
        match (format, &self.values) {
            // What Elasticsearch takes for the key of a missing value.
            (_, ValueKind::Date { resolution: Resolution::Nanos, .. }) if stored == i64::MAX => Value::Null,
            (Some(format), _) => format.format_instant(self.resolution().instant(stored), &Zone::Utc).into(),
            // Columns hold floats widened, and show them so.
            (None, ValueKind::Double(Precision::Float | Precision::Half)) => f64_from_sortable(stored).into(),
            (None, _) => self.format_number(stored),
        }
    }

    /// A column's value as a document would say it, where the source is made of columns.
    pub fn source_number(&self, stored: i64) -> Value {
        if self.is_point() {
            let point = GeoPoint::decode(stored);
            return serde_json::json!({"lat": point.latitude, "lon": point.longitude});
        }
        self.format_number(stored)
    }

    /// A term as text: addresses in their notation, everything else as UTF-8.
    pub fn decode_term(&self, term: &[u8]) -> String {
        self.of.decode_term(term)
    }

    /// A source's value as `fields` shows it; `None` where it does not parse (such values are passed over).
    pub fn show_source(&self, value: &Value, format: Option<&DateFormat>) -> Option<Value> {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            _ => return None,
        };
        self.of.show_source(self, text, format)
    }

    /// What a `format` of `fields` and `docvalue_fields` means for the field.
    ///
    /// # Errors
    /// Patterns that are none, and fields that know no formats.
    pub fn shown_by(&self, pattern: &str) -> Result<DateFormat, RequestError> {
        self.of.shown_by(self, pattern)
    }
}

/// A double as JSON; null where JSON has no such number.
fn double(value: f64) -> Value {
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// A float with the fewest digits that name it (`0.1`, not `0.10000000149011612`).
pub(crate) fn float(value: f32) -> Value {
    double(value.to_string().parse().unwrap_or(f64::from(value)))
}
