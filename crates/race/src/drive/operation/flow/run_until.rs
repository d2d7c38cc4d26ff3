//! `run-until`: repeats a request until a value of its answer meets a criterion (`runner.py`, `RunUntil`).
//!
//! Differs from Rally for a value that is missing, 0 or false: Rally then repeats the request forever without
//! a pause. Here a missing value meets `not_exists`.

use std::time::Duration;

use serde_json::Value;

use super::raw_request::request;
use super::retry::retried;
use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Failure, Operation, Outcome, Plan, Steady};
use crate::error::Error;
use crate::http::Request;

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let criterion = plan.mandatory("criterion")?;
    let operator = criterion["operator"].as_str().unwrap_or_default();
    let number = || {
        let value = criterion.get("value").filter(|value| !value.is_null());
        let value = value.ok_or_else(|| {
            Error::Parameter(format!("Criterion operator {operator} requires a 'value' field."))
        })?;
        integer(value).ok_or_else(|| {
            Error::Parameter(format!("'value' of the criterion must be a number but was {value}"))
        })
    };
    let criterion = match operator {
        "exists" => Criterion::Exists,
        "not_exists" => Criterion::NotExists,
        "gte" => Criterion::AtLeast(number()?),
        "lte" => Criterion::AtMost(number()?),
        "eq" => Criterion::Equal(number()?),
        "neq" => Criterion::NotEqual(number()?),
        other => return Err(Error::Parameter(format!("Unsupported operator: {other}"))),
    };
    let operation = RunUntil {
        request: request(plan)?.build(),
        timeout: plan.timeout()?,
        path: plan.mandatory_text("json-path")?.to_owned(),
        criterion,
        wait: plan.wait("retry-wait-interval", 60.0)?,
    };
    retried(plan, operation)
}

enum Criterion {
    Exists,
    NotExists,
    AtLeast(i64),
    AtMost(i64),
    Equal(i64),
    NotEqual(i64),
}

struct RunUntil {
    request: Request,
    timeout: Option<Duration>,
    /// Keys joined by dots. `item` means the items of an array, of which the first is used.
    path: String,
    criterion: Criterion,
    wait: Duration,
}

impl Steady for RunUntil {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            loop {
                let answer = exchange.send(&self.request, self.timeout).await?.json()?;
                if self.criterion.holds(value_at(&answer, &self.path))? {
                    return Ok(Outcome::ops(1));
                }
                tokio::time::sleep(self.wait).await;
            }
        })
    }
}

fn value_at<'v>(answer: &'v Value, path: &str) -> Option<&'v Value> {
    let step = |value: &'v Value, key: &str| match value {
        Value::Array(items) if key == "item" => items.first(),
        other => other.get(key),
    };
    path.split('.').try_fold(answer, step).filter(|value| !value.is_null())
}

impl Criterion {
    /// Errors: [`Failure::Fatal`] for a value that is not a number.
    fn holds(&self, value: Option<&Value>) -> Result<bool, Failure> {
        let compared = |compare: &dyn Fn(i64) -> bool| match value {
            None => Ok(false),
            Some(value) => integer(value)
                .map(compare)
                .ok_or_else(|| Failure::from(Error::Answer(format!("[{value}] is not a number")))),
        };
        match self {
            Criterion::Exists => Ok(value.is_some()),
            Criterion::NotExists => Ok(value.is_none()),
            Criterion::AtLeast(target) => compared(&|value| value >= *target),
            Criterion::AtMost(target) => compared(&|value| value <= *target),
            Criterion::Equal(target) => compared(&|value| value == *target),
            Criterion::NotEqual(target) => compared(&|value| value != *target),
        }
    }
}

/// Returns a number, which may be written as a string, truncated to an integer.
fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| number.as_f64().map(|number| number as i64)),
        Value::String(text) => text.trim().parse().ok(),
        Value::Bool(flag) => Some(i64::from(*flag)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn criteria() {
        #[track_caller]
        fn check(criterion: Criterion, path: &str, expected: Option<bool>) {
            let answer =
                json!({"a": {"n": 3, "t": "4", "f": 3.7, "z": 0, "x": "y"}, "l": [{"n": 1}, {"n": 2}]});
            assert_eq!(criterion.holds(value_at(&answer, path)).ok(), expected, "{path}");
        }
        check(Criterion::AtLeast(3), "a.n", Some(true));
        check(Criterion::AtMost(2), "a.n", Some(false));
        check(Criterion::Equal(4), "a.t", Some(true));
        check(Criterion::Equal(3), "a.f", Some(true));
        check(Criterion::Equal(0), "a.z", Some(true));
        check(Criterion::NotEqual(1), "l.item.n", Some(false));
        check(Criterion::Exists, "a.none", Some(false));
        check(Criterion::NotExists, "a.none", Some(true));
        check(Criterion::AtLeast(1), "a.none", Some(false));
        check(Criterion::AtLeast(1), "a.x", None);
    }
}
