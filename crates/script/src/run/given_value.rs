//! `_value` of an aggregation's script: "in which type does it get the numbers of a field?"

use limber_mapping::Field;

use crate::values::Value;

/// The type of `_value` in the script of an aggregation over a field of numbers. Source: the classes of
/// values in Elasticsearch's `ValuesSource.Numeric.WithScript`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GivenValue {
    /// For histograms of dates, which read integers; dates are in milliseconds.
    Long,
    /// For all other aggregations.
    Double,
}

impl GivenValue {
    /// Returns `_value` for a stored number of a field.
    pub(super) fn value(self, field: &Field, stored: i64) -> Value {
        match self {
            GivenValue::Double => Value::Double(self.double(field, stored)),
            GivenValue::Long => Value::Long(match field.date() {
                Some((_, resolution)) => resolution.millis(stored),
                None => field.decode_f64(stored) as i64,
            }),
        }
    }

    /// Returns a stored number of a field as a double; dates are in milliseconds.
    pub(super) fn double(self, field: &Field, stored: i64) -> f64 {
        match field.date() {
            Some((_, resolution)) => resolution.millis(stored) as f64,
            None => field.decode_f64(stored),
        }
    }
}
