//! Checks that a value of an answer equals what the track expects (`runner.py`, `IndicesStats`,
//! `TransformStats`).

use serde_json::{Value, json};

use crate::drive::operation::contract::{Outcome, Plan};
use crate::error::Error;

/// The operation's `condition`.
pub(in crate::drive::operation) struct Condition {
    /// Keys joined by dots.
    path: String,
    expected: Value,
}

impl Condition {
    /// Reads the condition; `None` when the operation has none.
    pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Option<Condition>, Error> {
        let condition = match plan.param("condition") {
            None | Some(Value::Null) => return Ok(None),
            Some(condition) => condition,
        };
        let path = condition["path"]
            .as_str()
            .ok_or_else(|| Error::parameter("'condition' needs the text property 'path'"))?;
        let expected = condition
            .get("expected-value")
            .ok_or_else(|| Error::parameter("'condition' needs the property 'expected-value'"))?;
        Ok(Some(Condition { path: path.to_owned(), expected: expected.clone() }))
    }

    /// Returns the outcome of an operation whose answer is `answer`.
    pub(in crate::drive::operation) fn outcome(&self, answer: &Value) -> Outcome {
        let Condition { path, expected } = self;
        let actual = path.split('.').try_fold(answer, |value, key| value.get(key)).unwrap_or(&Value::Null);
        // Rally compares with Python's ==, for which 0 and 0.0 are the same.
        let is_equal = match (actual.as_f64(), expected.as_f64()) {
            (Some(actual), Some(expected)) => actual == expected,
            _ => actual == expected,
        };
        let outcome = match is_equal {
            true => Outcome::ops(1),
            false => Outcome::unmet(format!("[{path}] is [{actual}], expected [{expected}]")),
        };
        outcome.with_meta(json!({
            "condition": { "path": path, "actual-value": shown(actual), "expected-value": shown(expected) },
        }))
    }
}

/// Returns a value as the string that Python makes of it; null stays null.
fn shown(value: &Value) -> Value {
    match value {
        Value::Null => Value::Null,
        Value::String(text) => json!(text),
        Value::Bool(true) => json!("True"),
        Value::Bool(false) => json!("False"),
        other => json!(other.to_string()),
    }
}
