//! The tree that `explain: true` returns.

use serde_json::{Value, json};

/// One node: a value, what it is, and what it was computed from.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// What it is that is explained, mostly a score or a part of one.
    pub value: f32,
    /// Counts are printed as whole numbers.
    pub whole: Option<u64>,
    /// Values that Lucene holds in double.
    pub double: Option<f64>,
    /// What the value is, in Lucene's words.
    pub description: String,
    /// What the value was computed from.
    pub details: Vec<Detail>,
}

/// A part of an explanation; the same shape.
pub type Detail = Explanation;

impl Explanation {
    /// A value that was computed from others.
    pub fn of(value: f32, description: impl Into<String>, details: Vec<Detail>) -> Explanation {
        Explanation { value, whole: None, double: None, description: description.into(), details }
    }

    /// A value that is explained by nothing else.
    pub fn leaf(value: f32, description: impl Into<String>) -> Explanation {
        Explanation::of(value, description, Vec::new())
    }

    /// `{"value", "description", "details"}`.
    pub fn to_json(&self) -> Value {
        let value = match (self.whole, self.double) {
            (Some(count), _) => count.into(),
            (None, Some(double)) => double.into(),
            (None, None) => float_to_json(self.value),
        };
        let details: Vec<Value> = self.details.iter().map(Detail::to_json).collect();
        json!({ "value": value, "description": self.description, "details": details })
    }
}

/// A float with no more digits than a float has (`0.1`, not `0.10000000149011612`).
pub fn float_to_json(value: f32) -> Value {
    match format!("{value:?}").parse::<f64>() {
        Ok(shortest) if shortest.is_finite() => Value::from(shortest),
        _ => Value::Null,
    }
}
