//! `fielddata_frequency_filter`: which terms of a text field `fielddata` reads.
//!
//! Source: Elasticsearch's `TextFieldMapper#parseFrequencyFilter`, and `FrequencyFilter` of
//! `PagedBytesIndexFieldData`.

use std::ops::RangeInclusive;

use serde_json::{Value, json};

use crate::RequestError;
use crate::json::java::{java_class, java_text, mapper_parsing};

/// The frequencies that terms must have. Up to 1, a frequency is a fraction of the segment's documents with
/// the field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrequencyFilter {
    min: f64,
    max: f64,
    /// Segments with fewer documents that have the field are not filtered.
    min_segment_size: i64,
}

impl FrequencyFilter {
    /// Reads the parameter of `field`.
    ///
    /// # Errors
    /// It is no object, a number cannot be read, or it has other members.
    pub(crate) fn parse(value: &Value, field: &str) -> Result<FrequencyFilter, RequestError> {
        let Value::Object(members) = value else {
            return Err(mapper_parsing(format!(
                "class {} cannot be cast to class java.util.Map",
                java_class(value)
            )));
        };
        let mut filter = FrequencyFilter { min: 0.0, max: f64::from(i32::MAX), min_segment_size: 0 };
        for (name, value) in members {
            let unreadable =
                || RequestError::illegal_argument(format!("For input string: \"{}\"", java_text(value)));
            match name.as_str() {
                "min" => filter.min = double(value).ok_or_else(unreadable)?,
                "max" => filter.max = double(value).ok_or_else(unreadable)?,
                "min_segment_size" => filter.min_segment_size = whole(value).ok_or_else(unreadable)?,
                other => {
                    return Err(mapper_parsing(format!(
                        "Mapping definition for [{field}] has unsupported parameters:  [{other} : {}]",
                        java_text(value)
                    )));
                }
            }
        }
        Ok(filter)
    }

    /// Returns the filter that [`FrequencyFilter::to_json`] has written; `None` if `value` is something else.
    pub fn of(value: &Value) -> Option<FrequencyFilter> {
        FrequencyFilter::parse(value, "").ok()
    }

    pub(crate) fn to_json(self) -> Value {
        json!({"min": self.min, "max": self.max, "min_segment_size": self.min_segment_size})
    }

    /// Returns how many documents a term must have in a segment in which `doc_count` documents have the
    /// field; `None` if every term is read.
    pub fn doc_freqs(self, doc_count: u32) -> Option<RangeInclusive<u32>> {
        if i64::from(doc_count) < self.min_segment_size {
            return None;
        }
        // Casts are those of Java, which truncate.
        let frequency =
            |given: f64| if given > 1.0 { given as u32 } else { (f64::from(doc_count) * given) as u32 };
        let (min, max) = (frequency(self.min), frequency(self.max));
        (min > 1 || max < doc_count).then_some(min..=max)
    }
}

fn double(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_f64().map(|number| i64::from(number as i32)),
        Value::String(text) => text.parse::<i32>().ok().map(i64::from),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_are_fractions_up_to_1() {
        let filter = |value: Value| FrequencyFilter::parse(&value, "d").expect("a sound filter");
        assert_eq!(filter(json!({})).doc_freqs(10), None);
        assert_eq!(filter(json!({"min": 0.2, "max": 0.5})).doc_freqs(10), Some(2..=5));
        assert_eq!(filter(json!({"min": "3", "max": 4})).doc_freqs(10), Some(3..=4));
        assert_eq!(filter(json!({"min": 3, "min_segment_size": 11})).doc_freqs(10), None);
        assert_eq!(filter(json!({"max": 1})).doc_freqs(10), None);
        let kept = filter(json!({"min": 2}));
        assert_eq!(kept.to_json(), json!({"min": 2.0, "max": 2147483647.0, "min_segment_size": 0}));
        assert_eq!(FrequencyFilter::of(&kept.to_json()), Some(kept));
        for wrong in [json!("a"), json!({"min": "a"}), json!({"min": 1, "x": 1}), json!([])] {
            assert!(FrequencyFilter::parse(&wrong, "d").is_err(), "{wrong}");
        }
    }
}
