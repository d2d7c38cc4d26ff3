//! Checks that answers satisfy the track's assertions (`runner.py`, `AssertingRunner`).
//!
//! Assertions are checked only with `--enable-assertions`. A failed assertion ends the race.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Failure, Operation, Outcome, Plan, Runner};
use crate::error::Error;

#[derive(Debug)]
pub(in crate::drive::operation) struct Assertions {
    list: Vec<Assertion>,
    /// Name of the operation for messages; as in Rally, searches have none.
    operation: Option<String>,
}

/// Operation types whose answers have nothing to assert.
const WITHOUT_PROPERTIES: [&str; 26] = [
    "force-merge",
    "node-stats",
    "raw-request",
    "submit-async-search",
    "delete-async-search",
    "open-point-in-time",
    "close-point-in-time",
    "sleep",
    "create-snapshot",
    "restore-snapshot",
    "put-pipeline",
    "refresh",
    "create-ml-datafeed",
    "delete-ml-datafeed",
    "start-ml-datafeed",
    "stop-ml-datafeed",
    "create-ml-job",
    "delete-ml-job",
    "open-ml-job",
    "close-ml-job",
    "delete-snapshot-repository",
    "create-snapshot-repository",
    "wait-for-current-snapshots-create",
    "put-settings",
    "create-transform",
    "run-until",
];

const SEARCHES: [&str; 4] = ["search", "scroll-search", "paginated-search", "composite-agg"];

#[derive(Debug)]
struct Assertion {
    property: String,
    condition: Condition,
    expected: Value,
}

#[derive(Debug, Clone, Copy)]
enum Condition {
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Equal,
}

const CONDITIONS: [(&str, Condition); 5] = [
    (">", Condition::Greater),
    (">=", Condition::GreaterOrEqual),
    ("<", Condition::Less),
    ("<=", Condition::LessOrEqual),
    ("==", Condition::Equal),
];

impl Assertions {
    /// Reads the operation's `assertions`. Returns `None` when there are none or they are not to be checked.
    pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Option<Assertions>, Error> {
        let items = match plan.param("assertions") {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Array(items)) => items,
            Some(_) => return Err(Error::parameter("parameter 'assertions' must be a list")),
        };
        let list = items.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        if !plan.checks_assertions || list.is_empty() {
            return Ok(None);
        }
        let (name, kind) = (&plan.task.operation.name, plan.task.operation.kind.as_str());
        if WITHOUT_PROPERTIES.contains(&kind) {
            return Err(Error::Parameter(format!(
                "Cannot check assertion in [{name}] as [{kind}] did not return a dict."
            )));
        }
        let is_named = plan.is_in_composite || !SEARCHES.contains(&kind);
        Ok(Some(Assertions { list, operation: is_named.then(|| name.clone()) }))
    }

    /// Errors: [`Failure::Fatal`] for the first assertion that does not hold.
    pub(in crate::drive::operation) fn check(&self, properties: &Map<String, Value>) -> Result<(), Failure> {
        for assertion in &self.list {
            let actual = assertion.property.split('.').try_fold(None::<&Value>, |found, key| {
                let next = match found {
                    None => properties.get(key),
                    Some(value) => value.get(key),
                };
                next.map(Some)
            });
            let actual = actual.flatten().ok_or_else(|| {
                Failure::from(Error::Answer(format!(
                    "assertion on [{}], which the answer does not have",
                    assertion.property
                )))
            })?;
            if !assertion.condition.holds(actual, &assertion.expected) {
                let condition = CONDITIONS[assertion.condition as usize].0;
                let of = self.operation.as_ref().map_or_else(String::new, |name| format!(" in [{name}]"));
                return Err(Failure::from(Error::Failed(format!(
                    "Expected [{}]{of} to be {condition} [{}] but was [{actual}].",
                    assertion.property, assertion.expected
                ))));
            }
        }
        Ok(())
    }
}

/// Wraps an operation so that each of its outcomes is checked.
pub(in crate::drive::operation) fn asserting(
    operation: Box<dyn Operation>,
    assertions: Assertions,
) -> Box<dyn Operation> {
    Box::new(Asserting { operation, assertions: Arc::new(assertions) })
}

struct Asserting {
    operation: Box<dyn Operation>,
    assertions: Arc<Assertions>,
}

impl Operation for Asserting {
    fn is_finite(&self) -> bool {
        self.operation.is_finite()
    }

    fn runners(&self, clients: &[u32], clients_total: u32) -> Result<Vec<Box<dyn Runner>>, Error> {
        let around = |runner| -> Box<dyn Runner> {
            Box::new(AssertingRunner { runner, assertions: Arc::clone(&self.assertions) })
        };
        Ok(self.operation.runners(clients, clients_total)?.into_iter().map(around).collect())
    }
}

struct AssertingRunner {
    runner: Box<dyn Runner>,
    assertions: Arc<Assertions>,
}

impl Runner for AssertingRunner {
    fn prepare(&mut self) -> Result<bool, Error> {
        self.runner.prepare()
    }

    fn run<'a>(&'a mut self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let outcome = self.runner.run(exchange).await?;
            self.assertions.check(&properties(&outcome))?;
            Ok(outcome)
        })
    }

    fn progress(&self) -> Option<f64> {
        self.runner.progress()
    }
}

/// Returns what Rally's runner of the operation returns.
fn properties(outcome: &Outcome) -> Map<String, Value> {
    let mut properties = outcome.details.as_ref().map(|details| details.meta.clone()).unwrap_or_default();
    properties.insert("success".into(), json!(outcome.is_success));
    properties.insert("weight".into(), json!(outcome.weight));
    properties.insert("unit".into(), json!(outcome.unit));
    properties
}

fn parse(item: &Value) -> Result<Assertion, Error> {
    let text = |name: &str| {
        item[name]
            .as_str()
            .ok_or_else(|| Error::Parameter(format!("an assertion needs the text property '{name}'")))
    };
    let name = text("condition")?;
    let (_, condition) = CONDITIONS.iter().find(|(known, _)| *known == name).ok_or_else(|| {
        Error::Parameter(format!("assertion condition [{name}] is not one of >, >=, <, <=, =="))
    })?;
    let expected =
        item.get("value").ok_or_else(|| Error::parameter("an assertion needs the property 'value'"))?.clone();
    Ok(Assertion { property: text("property")?.to_owned(), condition: *condition, expected })
}

impl Condition {
    fn holds(self, actual: &Value, expected: &Value) -> bool {
        let numbers = actual.as_f64().zip(expected.as_f64());
        match self {
            Condition::Equal => numbers.map_or(actual == expected, |(actual, expected)| actual == expected),
            Condition::Greater => numbers.is_some_and(|(actual, expected)| actual > expected),
            Condition::GreaterOrEqual => numbers.is_some_and(|(actual, expected)| actual >= expected),
            Condition::Less => numbers.is_some_and(|(actual, expected)| actual < expected),
            Condition::LessOrEqual => numbers.is_some_and(|(actual, expected)| actual <= expected),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(condition: &str, value: Value, holds: bool) {
        let properties = json!({"hits": 20, "shards": {"failed": 0}, "hits_relation": "eq"});
        let assertion = json!({"property": "hits", "condition": condition, "value": value});
        let assertions = Assertions { list: vec![parse(&assertion).unwrap()], operation: None };
        assert_eq!(assertions.check(properties.as_object().unwrap()).is_ok(), holds, "{assertion}");
    }

    #[test]
    fn conditions() {
        check("==", json!(20), true);
        check("==", json!(20.0), true);
        check("==", json!("20"), false);
        check(">", json!(20), false);
        check(">=", json!(20), true);
        check("<", json!(21), true);
        check("<=", json!(19), false);
        assert!(parse(&json!({"property": "hits", "condition": "~", "value": 1})).is_err());
    }

    #[test]
    fn paths() {
        let properties = json!({"shards": {"failed": 0}});
        let of = |property: &str| {
            let assertion = parse(&json!({"property": property, "condition": "==", "value": 0})).unwrap();
            Assertions { list: vec![assertion], operation: None }
                .check(properties.as_object().unwrap())
                .is_ok()
        };
        assert!(of("shards.failed") && !of("shards") && !of("shards.none"));
    }
}
