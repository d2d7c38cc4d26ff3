//! Rollover conditions: "is this index old or large enough?"
//!
//! Source: Elasticsearch's `RolloverConditions`, `RolloverRequest`.

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value};

use crate::api::Result;
use crate::notation::value::{parse_bytes, parse_time_ms};

/// When an index is rolled over: when at least one `max_` condition and all `min_` conditions are met.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conditions {
    /// In the order in which the user gave them.
    list: Vec<Condition>,
}

#[derive(Debug, Clone, PartialEq)]
struct Condition {
    kind: &'static ConditionKind,
    /// The value as it is shown: `5gb`, `7d`, `100`.
    text: String,
    /// The value in bytes, milliseconds or documents.
    bound: u64,
}

#[derive(Debug, PartialEq)]
struct ConditionKind {
    name: &'static str,
    unit: Unit,
    figure: Figure,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Unit {
    Bytes,
    Time,
    Count,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Figure {
    Age,
    Docs,
    Size,
    ShardSize,
    ShardDocs,
}

const fn kind(name: &'static str, unit: Unit, figure: Figure) -> ConditionKind {
    ConditionKind { name, unit, figure }
}

/// All supported conditions.
static KINDS: [ConditionKind; 10] = [
    kind("max_age", Unit::Time, Figure::Age),
    kind("max_docs", Unit::Count, Figure::Docs),
    kind("max_size", Unit::Bytes, Figure::Size),
    kind("max_primary_shard_size", Unit::Bytes, Figure::ShardSize),
    kind("max_primary_shard_docs", Unit::Count, Figure::ShardDocs),
    kind("min_age", Unit::Time, Figure::Age),
    kind("min_docs", Unit::Count, Figure::Docs),
    kind("min_size", Unit::Bytes, Figure::Size),
    kind("min_primary_shard_size", Unit::Bytes, Figure::ShardSize),
    kind("min_primary_shard_docs", Unit::Count, Figure::ShardDocs),
];

/// The measurements of an index that conditions are compared with.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Figures {
    pub age_ms: u64,
    pub docs: u64,
    pub bytes: u64,
    pub largest_shard_bytes: u64,
    pub largest_shard_docs: u64,
}

impl Conditions {
    /// Parses an object of conditions.
    ///
    /// # Errors
    /// Fails for unknown conditions and for invalid values.
    pub fn parse(body: &Value) -> Result<Conditions> {
        let Value::Object(members) = body else {
            return Err(RequestError::parsing("[conditions] is an object"));
        };
        let mut list = Vec::with_capacity(members.len());
        for (name, given) in members {
            let Some(kind) = KINDS.iter().find(|kind| kind.name == name) else {
                return Err(ObjectParser::new("conditions").unknown(name));
            };
            list.push(Condition::parse(kind, given)?);
        }
        Ok(Conditions { list })
    }

    /// Whether there are no conditions.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether any condition limits the size or age of an index.
    pub fn has_max(&self) -> bool {
        self.list.iter().any(Condition::is_max)
    }

    /// Whether a condition requires a minimum number of documents.
    pub(crate) fn asks_for_docs(&self) -> bool {
        let is_asking =
            |one: &Condition| !one.is_max() && matches!(one.kind.figure, Figure::Docs | Figure::ShardDocs);
        self.list.iter().any(is_asking)
    }

    /// Renders the conditions as the user gave them, with times and sizes as strings.
    pub fn to_json(&self) -> Value {
        let value = |condition: &Condition| match condition.kind.unit {
            Unit::Count => condition.bound.into(),
            _ => Value::from(condition.text.as_str()),
        };
        Value::Object(self.list.iter().map(|one| (one.kind.name.to_owned(), value(one))).collect())
    }

    /// Returns which conditions are met (`{"[max_docs: 1]": true}`), and whether they call for a rollover.
    pub(crate) fn judge(&self, figures: &Figures) -> (Map<String, Value>, bool) {
        let met = |condition: &Condition| condition.is_met(figures);
        let results = self.list.iter().map(|one| (one.to_string(), met(one).into())).collect();
        let any_max = self.list.is_empty() || self.list.iter().filter(|one| one.is_max()).any(met);
        let all_min = self.list.iter().filter(|one| !one.is_max()).all(met);
        (results, any_max && all_min)
    }
}

impl Condition {
    fn parse(kind: &'static ConditionKind, given: &Value) -> Result<Condition> {
        let text = match given {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            other => {
                return Err(ObjectParser::new("conditions").unsupported(kind.name, other));
            }
        };
        let bound = match kind.unit {
            Unit::Time => parse_time_ms(kind.name, &text)?,
            Unit::Bytes => parse_bytes(kind.name, &text)?,
            Unit::Count => text.parse::<i64>().map_err(|_| {
                RequestError::illegal_argument(format!("For input string: \"{text}\" of [{}]", kind.name))
            })?,
        };
        let bound = u64::try_from(bound).map_err(|_| {
            RequestError::illegal_argument(format!("[{}] must not be negative, got [{text}]", kind.name))
        })?;
        Ok(Condition { kind, text, bound })
    }

    fn is_max(&self) -> bool {
        self.kind.name.starts_with("max_")
    }

    fn is_met(&self, figures: &Figures) -> bool {
        let found = match self.kind.figure {
            Figure::Age => figures.age_ms,
            Figure::Docs => figures.docs,
            Figure::Size => figures.bytes,
            Figure::ShardSize => figures.largest_shard_bytes,
            Figure::ShardDocs => figures.largest_shard_docs,
        };
        found >= self.bound
    }
}

impl std::fmt::Display for Condition {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "[{}: {}]", self.kind.name, self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn any_maximum_and_all_minima() {
        let figures = Figures {
            age_ms: 60_000,
            docs: 10,
            bytes: 2048,
            largest_shard_bytes: 2048,
            largest_shard_docs: 10,
        };
        let check = |body: Value, expected: Value, is_met: bool| {
            let conditions = Conditions::parse(&body).expect("valid");
            let (results, met) = conditions.judge(&figures);
            assert_eq!((Value::Object(results), met), (expected, is_met), "{body}");
            assert_eq!(Conditions::parse(&conditions.to_json()), Ok(conditions));
        };
        check(json!({}), json!({}), true);
        check(
            json!({"max_docs": 11, "max_age": "1m"}),
            json!({"[max_docs: 11]": false, "[max_age: 1m]": true}),
            true,
        );
        check(
            json!({"max_docs": 5, "min_size": "1gb"}),
            json!({"[max_docs: 5]": true, "[min_size: 1gb]": false}),
            false,
        );
        check(json!({"min_docs": 10}), json!({"[min_docs: 10]": true}), false);
        check(json!({"max_primary_shard_size": "2kb"}), json!({"[max_primary_shard_size: 2kb]": true}), true);
        for wrong in
            [json!({"foo": 1}), json!({"max_docs": "x"}), json!({"max_age": 5}), json!({"max_size": []})]
        {
            assert!(Conditions::parse(&wrong).is_err(), "{wrong}");
        }
    }
}
