//! `rule`: a query with documents that query rules pin to the top or exclude.
//!
//! Source: Elasticsearch's documentation of the rule query. The rules are evaluated when the query is bound,
//! once per request. The result is a `pinned` query inside a `bool` query that excludes documents.

use limber_mapping::{ObjectParser, RequestError};
use limber_store::sync::Mutex;
use limber_work as work;
use serde_json::{Map, Value, json};

use crate::context::documents::RuledDocuments;
use crate::error::Error;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::parse::{Common, Parser, Query, QueryLimits, QueryNode, parse_query};
use crate::values::json;

/// Largest number of rulesets of one query (`MAX_RULESETS`).
const SETS_MAX: usize = 10;
/// Largest number of documents that `pinned` accepts.
const PINS_MAX: usize = 100;

/// About how many bytes of memory a parsed byte of JSON takes.
const TREE_BYTES_A_BYTE: u64 = 24;

#[derive(Debug)]
struct Rule {
    /// The JSON of the query: it is parsed again as part of the query that results from the rules.
    organic: Value,
    sets: Vec<String>,
    match_criteria: Map<String, Value>,
    limits: QueryLimits,
    made: Mutex<Option<Query>>,
}

fn refused(reason: impl Into<String>) -> RequestError {
    RequestError::illegal_argument(reason.into())
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (mut organic, mut sets, mut match_criteria) = (None, Vec::new(), None);
    for (key, value) in members {
        match (key.as_str(), value) {
            ("organic", Value::Object(_)) => {
                parser.query(value)?;
                // Nested `rule` queries each keep a copy of what is inside them.
                work::claim(value.to_string().len() as u64 * TREE_BYTES_A_BYTE)?;
                organic = Some(value.clone());
            }
            ("match_criteria", Value::Object(criteria)) => match_criteria = Some(criteria.clone()),
            ("ruleset_ids", Value::Array(ids)) => {
                sets.extend(ids.iter().filter_map(json::scalar_text));
            }
            // The names before version 8.15, with one ruleset.
            ("ruleset_ids" | "ruleset_id", Value::String(id)) => sets.push(id.clone()),
            ("organic" | "match_criteria" | "ruleset_ids" | "ruleset_id", other) => {
                return Err(ObjectParser::new("rule").unsupported(key, other));
            }
            (key, value) if common.take(key, value)? => {}
            (key, _) => return Err(ObjectParser::new("rule").unknown(key)),
        }
    }
    let organic = organic.ok_or_else(|| ObjectParser::required("organic"))?;
    let match_criteria = match_criteria.ok_or_else(|| ObjectParser::required("match_criteria"))?;
    if match_criteria.is_empty() {
        return Err(refused("matchCriteria must not be null or empty"));
    }
    if sets.is_empty() || sets.iter().any(String::is_empty) {
        return Err(refused("rulesetIds must not be null or empty"));
    }
    if sets.len() > SETS_MAX {
        return Err(refused(format!("rulesetIds must not contain more than {SETS_MAX} rulesets")));
    }
    let limits = parser.limits().clone();
    Ok(common.query(Rule { organic, sets, match_criteria, limits, made: Mutex::new(None) }))
}

impl Rule {
    fn made(&self, binder: &Binder<'_>) -> Result<Query, Error> {
        // The lock is held while the rules are evaluated, so that the other shards wait for the result.
        let mut made = self.made.lock();
        if let Some(query) = &*made {
            return Ok(query.clone());
        }
        let Some(documents) = &binder.shard().documents else {
            return Err(Error::Lookup(RequestError::unsupported("a [rule] query here")));
        };
        let ruled = documents.apply_rules(&self.sets, &self.match_criteria).map_err(|error| {
            // A request that has ended says so itself: after its timeout the hits found so far are shown.
            work::check().err().map_or(Error::Lookup(error), Error::from)
        })?;
        let query = parse_query(&over(&self.organic, &ruled), &self.limits).map_err(Error::Lookup)?;
        Ok(made.insert(query).clone())
    }
}

/// Applies the results of the rules to the query.
fn over(organic: &Value, ruled: &RuledDocuments) -> Value {
    let pinned = match ruled.pinned.is_empty() {
        true => organic.clone(),
        false => {
            let docs = &ruled.pinned[..ruled.pinned.len().min(PINS_MAX)];
            json!({"pinned": {"docs": docs, "organic": organic}})
        }
    };
    if ruled.excluded.is_empty() {
        return pinned;
    }
    let excluded = ruled.excluded.iter().map(|document| {
        let id = json!({"ids": {"values": [document["_id"]]}});
        match document.get("_index") {
            None => id,
            Some(index) => json!({"bool": {"filter": [id, {"term": {"_index": index}}]}}),
        }
    });
    json!({"bool": {"must": [pinned], "must_not": excluded.collect::<Value>()}})
}

impl QueryNode for Rule {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        binder.query(&self.made(binder)?, boost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told() {
        let all = json!({"match_all": {}});
        for (body, reason) in [
            (json!({"organic": all, "ruleset_ids": ["a"]}), "Required [match_criteria]"),
            (json!({"match_criteria": {"q": 1}, "ruleset_ids": ["a"]}), "Required [organic]"),
            (json!({"match_criteria": {"q": 1}, "organic": all}), "rulesetIds must not be null or empty"),
            (
                json!({"match_criteria": {}, "organic": all, "ruleset_ids": ["a"]}),
                "matchCriteria must not be null or empty",
            ),
            (json!({"x": 1, "organic": all}), "[rule] unknown field [x]"),
        ] {
            let error = parse_query(&json!({"rule": body}), &QueryLimits::default()).unwrap_err();
            assert_eq!(error.reason, reason);
        }
    }

    #[test]
    fn rules_go_around_the_query() {
        let ruled = RuledDocuments {
            pinned: vec![json!({"_id": "1"})],
            excluded: vec![json!({"_id": "2", "_index": "i"})],
        };
        let made = over(&json!({"match_all": {}}), &ruled);
        assert_eq!(made["bool"]["must"][0]["pinned"]["docs"], json!([{"_id": "1"}]));
        assert!(parse_query(&made, &QueryLimits::default()).is_ok());
        assert_eq!(over(&json!({"match_all": {}}), &RuledDocuments::default()), json!({"match_all": {}}));
    }
}
