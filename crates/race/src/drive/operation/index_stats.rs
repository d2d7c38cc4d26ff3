//! `index-stats`: index statistics, optionally until a value is reached (`runner.py`, `IndicesStats`).

use std::time::Duration;

use serde_json::Value;

use super::contract::{Answer, Operation, Outcome, Plan, Steady};
use super::retry::retried;
use crate::drive::exchange::Exchange;
use crate::drive::http::{Method, Request};

pub fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, String> {
    let target = plan.names("index")?.map_or_else(|| "_all".to_owned(), |names| names.join(","));
    let builder = plan.with_request_params(plan.request(Method::Get, &format!("/{target}/_stats/_all"))?)?;
    let condition = match plan.param("condition") {
        None | Some(Value::Null) => None,
        Some(condition) => {
            let path = condition["path"].as_str().ok_or("'condition' needs the text property 'path'")?;
            let expected =
                condition.get("expected-value").ok_or("'condition' needs the property 'expected-value'")?;
            Some((path.to_owned(), expected.clone()))
        }
    };
    retried(plan, IndexStats { request: builder.build(), timeout: plan.timeout()?, condition })
}

struct IndexStats {
    request: Request,
    timeout: Option<Duration>,
    /// Dotted path and the value expected there.
    condition: Option<(String, Value)>,
}

impl Steady for IndexStats {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let response = exchange.send(&self.request, self.timeout).await?;
            let Some((path, expected)) = &self.condition else { return Ok(Outcome::ops(1)) };
            let stats = response.json()?;
            let actual =
                path.split('.').try_fold(&stats, |value, key| value.get(key)).unwrap_or(&Value::Null);
            // Rally compares with Python's ==, for which 0 and 0.0 are the same.
            let is_equal = match (actual.as_f64(), expected.as_f64()) {
                (Some(actual), Some(expected)) => actual == expected,
                _ => actual == expected,
            };
            if is_equal {
                return Ok(Outcome::ops(1));
            }
            Ok(Outcome::unmet(format!("[{path}] is [{actual}], expected [{expected}]")))
        })
    }
}
