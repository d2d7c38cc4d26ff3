//! Does an answer hold what the track says it must? (`runner.py`, `AssertingRunner`)
//!
//! Assertions are checked only with `--enable-assertions`; one that fails ends the race.

use serde_json::{Map, Value};

use super::contract::{Failure, Plan};

#[derive(Debug)]
pub struct Assertions(Vec<Assertion>);

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
    /// The operation's `assertions`; `None` when there are none or they are not to be checked.
    pub fn plan(plan: &Plan<'_>) -> Result<Option<Assertions>, String> {
        let items = match plan.param("assertions") {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Array(items)) => items,
            Some(_) => return Err("parameter 'assertions' must be a list".into()),
        };
        let parsed = items.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        Ok((plan.checks_assertions && !parsed.is_empty()).then_some(Assertions(parsed)))
    }

    /// Errors: [`Failure::Fatal`] for the first assertion that does not hold.
    pub fn check(&self, properties: &Map<String, Value>) -> Result<(), Failure> {
        for assertion in &self.0 {
            let actual = assertion.property.split('.').try_fold(None::<&Value>, |found, key| {
                let next = match found {
                    None => properties.get(key),
                    Some(value) => value.get(key),
                };
                next.map(Some)
            });
            let actual = actual.flatten().ok_or_else(|| Failure::Fatal {
                reason: format!("assertion on [{}], which the answer does not have", assertion.property),
            })?;
            if !assertion.condition.holds(actual, &assertion.expected) {
                let condition = CONDITIONS[assertion.condition as usize].0;
                return Err(Failure::Fatal {
                    reason: format!(
                        "Expected [{}] to be {condition} [{}] but was [{actual}].",
                        assertion.property, assertion.expected
                    ),
                });
            }
        }
        Ok(())
    }
}

fn parse(item: &Value) -> Result<Assertion, String> {
    let text =
        |name: &str| item[name].as_str().ok_or(format!("an assertion needs the text property '{name}'"));
    let name = text("condition")?;
    let (_, condition) = CONDITIONS
        .iter()
        .find(|(known, _)| *known == name)
        .ok_or_else(|| format!("assertion condition [{name}] is not one of >, >=, <, <=, =="))?;
    let expected = item.get("value").ok_or("an assertion needs the property 'value'")?.clone();
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
        let assertions = Assertions(vec![parse(&assertion).unwrap()]);
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
            Assertions(vec![assertion]).check(properties.as_object().unwrap()).is_ok()
        };
        assert!(of("shards.failed") && !of("shards") && !of("shards.none"));
    }
}
