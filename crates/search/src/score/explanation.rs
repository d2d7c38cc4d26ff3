//! The tree that `explain: true` returns.

use serde_json::{Value, json};

/// One node: a value, what it is, and what it was computed from.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The value that is explained, mostly a score or a part of one.
    pub value: f32,
    /// Set for counts, which are printed as whole numbers.
    pub whole: Option<u64>,
    /// Set for values that Lucene computes in double.
    pub double: Option<f64>,
    /// What the value is, in Lucene's words.
    pub description: String,
    /// What the value was computed from.
    pub details: Vec<Detail>,
}

/// A part of an explanation, which has the same shape.
pub type Detail = Explanation;

impl Explanation {
    /// Creates a node for a value that was computed from others.
    pub fn of(value: f32, description: impl Into<String>, details: Vec<Detail>) -> Explanation {
        Explanation { value, whole: None, double: None, description: description.into(), details }
    }

    /// Creates a node without details.
    pub fn leaf(value: f32, description: impl Into<String>) -> Explanation {
        Explanation::of(value, description, Vec::new())
    }

    /// Returns `{"value", "description", "details"}`.
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

/// Converts a float without adding digits (`0.1`, not `0.10000000149011612`).
pub fn float_to_json(value: f32) -> Value {
    match format!("{value:?}").parse::<f64>() {
        Ok(shortest) if shortest.is_finite() => Value::from(shortest),
        _ => Value::Null,
    }
}
