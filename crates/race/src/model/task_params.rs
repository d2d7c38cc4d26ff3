//! Parameters of a task that both its author and a plugin can set.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::{Params, Throughput, bare_text};

/// An error in a task that the author of the track has to correct.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidTask(pub String);

/// Reads `target-throughput` (a number of `ops/s`, or a string such as `1000 docs/s`) or the inverse of
/// `target-interval`; 0 means unthrottled.
///
/// # Errors
/// Both are given, or one has the wrong type.
pub(crate) fn target_throughput(task: &str, params: &Params) -> Result<Option<Throughput>, InvalidTask> {
    static TARGET: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^((?:\d*\.)?\d+)\s(\w+/s)").expect("the pattern is a constant"));
    let given = |name: &str| params.get(name).filter(|value| !value.is_null());
    let (throughput, interval) = (given("target-throughput"), given("target-interval"));
    let operations =
        |value: f64| Some(Throughput { value, unit: "ops/s".to_owned() }).filter(|_| value > 0.0);
    match (throughput, interval) {
        (Some(throughput), Some(interval)) => Err(InvalidTask(format!(
            "Task [{task}] specifies target-interval [{interval}] and target-throughput [{throughput}] but only one of them is \
             allowed."
        ))),
        (None, None) => Ok(None),
        (None, Some(interval)) => match interval.as_f64() {
            Some(seconds) if seconds > 0.0 => Ok(operations(1.0 / seconds)),
            Some(_) => Ok(None),
            None => Err(InvalidTask(format!(
                "Target interval [{}] for task [{task}] must be numeric.",
                bare_text(interval)
            ))),
        },
        (Some(Value::String(text)), None) if text.is_empty() => Ok(None),
        (Some(Value::String(text)), None) => {
            let parsed = TARGET.captures(text).and_then(|parts| {
                Some(Throughput { value: parts[1].parse().ok()?, unit: parts[2].to_owned() })
            });
            match parsed {
                Some(target) => Ok(Some(target).filter(|target| target.value > 0.0)),
                None => {
                    Err(InvalidTask(format!("Task [{task}] specifies invalid target throughput [{text}].")))
                }
            }
        }
        (Some(number), None) => match number.as_f64() {
            Some(value) => Ok(operations(value)),
            None => Err(InvalidTask(format!(
                "Target throughput [{number}] for task [{task}] must be string or numeric."
            ))),
        },
    }
}

/// Reads `ignore-response-error-level`, which has only one valid value.
///
/// # Errors
/// Any other value.
pub(crate) fn ignore_response_error_level(
    task: &str,
    params: &Params,
) -> Result<Option<String>, InvalidTask> {
    match params.get("ignore-response-error-level") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(level)) if level == "non-fatal" => Ok(Some(level.clone())),
        Some(other) => Err(InvalidTask(format!(
            "Task [{task}] specifies ignore-response-error-level to [{}] but the only allowed values are [non-fatal].",
            bare_text(other)
        ))),
    }
}
