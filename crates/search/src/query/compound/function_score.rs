//! `function_score`: combines the scores of a query with functions of the documents.
//!
//! Source: Elasticsearch's `FunctionScoreQueryBuilder`.

use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::function::{FUNCTIONS, FunctionScoreNode, ScoreFunction, ScoredFunction};
use crate::context::seen::SeenDocs;
use crate::error::Error;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::parse::{Common, Parser, Query, QueryNode};
use crate::values::json;

/// How the values of several functions are combined to one factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ScoreMode {
    Multiply,
    Sum,
    Avg,
    First,
    Max,
    Min,
}

impl ScoreMode {
    fn parse(text: &str) -> Result<ScoreMode, RequestError> {
        Ok(match text.to_lowercase().as_str() {
            "multiply" => ScoreMode::Multiply,
            "sum" => ScoreMode::Sum,
            "avg" => ScoreMode::Avg,
            "first" => ScoreMode::First,
            "max" => ScoreMode::Max,
            "min" => ScoreMode::Min,
            _ => return Err(no_constant("FunctionScoreQuery.ScoreMode", text)),
        })
    }

    /// Returns the name of the mode as explanations print it.
    pub fn name(self) -> &'static str {
        match self {
            ScoreMode::Multiply => "multiply",
            ScoreMode::Sum => "sum",
            ScoreMode::Avg => "avg",
            ScoreMode::First => "first",
            ScoreMode::Max => "max",
            ScoreMode::Min => "min",
        }
    }
}

/// How the factor is combined with the query's score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum BoostMode {
    Multiply,
    Replace,
    Sum,
    Avg,
    Max,
    Min,
}

impl BoostMode {
    fn parse(text: &str) -> Result<BoostMode, RequestError> {
        Ok(match text.to_lowercase().as_str() {
            "multiply" => BoostMode::Multiply,
            "replace" => BoostMode::Replace,
            "sum" => BoostMode::Sum,
            "avg" => BoostMode::Avg,
            "max" => BoostMode::Max,
            "min" => BoostMode::Min,
            _ => return Err(no_constant("CombineFunction", text)),
        })
    }

    /// Combines as doubles, then rounds to a float (`CombineFunction#combine`).
    #[inline]
    pub fn combine(self, score: f32, factor: f64, factor_max: f32) -> f32 {
        let (score, factor) = (f64::from(score), java_min(factor, f64::from(factor_max)));
        let combined = match self {
            BoostMode::Multiply => score * factor,
            BoostMode::Replace => factor,
            BoostMode::Sum => score + factor,
            BoostMode::Avg => (factor + score) / 2.0,
            BoostMode::Max => java_max(score, factor),
            BoostMode::Min => java_min(score, factor),
        };
        combined as f32
    }

    /// Combines each score with its factor.
    pub fn combine_all(self, scores: &mut [f32], factors: &[f64], factor_max: f32) {
        for (score, factor) in scores.iter_mut().zip(factors) {
            *score = self.combine(*score, *factor, factor_max);
        }
    }
}

/// Java's `Math.min`, which returns NaN if either number is NaN.
#[inline]
fn java_min(left: f64, right: f64) -> f64 {
    if left.is_nan() || right.is_nan() { f64::NAN } else { left.min(right) }
}

/// Java's `Math.max`, which returns NaN if either number is NaN.
#[inline]
fn java_max(left: f64, right: f64) -> f64 {
    if left.is_nan() || right.is_nan() { f64::NAN } else { left.max(right) }
}

fn no_constant(class: &str, text: &str) -> RequestError {
    RequestError::illegal_argument(format!(
        "No enum constant org.elasticsearch.common.lucene.search.function.{class}.{}",
        text.to_uppercase()
    ))
}

/// One entry of `functions`.
#[derive(Debug, Default)]
struct Entry {
    filter: Option<Query>,
    /// `_name`: reported for documents that pass the filter.
    name: Option<Arc<str>>,
    weight: Option<f32>,
    /// Without a function the weight is the value.
    function: Option<Box<dyn ScoreFunction>>,
}

#[derive(Debug)]
struct FunctionScore {
    query: Query,
    entries: Vec<Entry>,
    score_mode: ScoreMode,
    boost_mode: BoostMode,
    max_boost: f32,
    min_score: Option<f32>,
}

fn refused(why: impl std::fmt::Display) -> RequestError {
    RequestError::parsing(format!("failed to parse [function_score] query. {why}"))
}

fn both(found: &str, now: &str) -> RequestError {
    refused(format_args!(
        "[you can either define [functions] array or a single function, not both. already found {found}, now encountering [{now}].]"
    ))
}

fn unknown_function() -> RequestError {
    RequestError::parsing("unknown query [function_score] did you mean any of [random_score, script_score]?")
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    parser: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let mut node = FunctionScore {
        query: Query::match_all(),
        entries: Vec::new(),
        score_mode: ScoreMode::Multiply,
        boost_mode: BoostMode::Multiply,
        max_boost: f32::MAX,
        min_score: None,
    };
    // The single function outside of `functions`, and the names that were found before `functions`.
    let (mut single, mut weight): (Option<Entry>, Option<f32>) = (None, None);
    let mut found: Option<String> = None;
    let mut is_list = false;
    for (key, value) in members {
        match (key.as_str(), value) {
            ("query", Value::Object(_)) => node.query = parser.query(value)?,
            ("functions", Value::Array(items)) => {
                if let Some(found) = &found {
                    return Err(both(&format!("[{found}]"), key));
                }
                is_list = true;
                for item in items {
                    node.entries.push(parse_entry(item, parser)?);
                }
            }
            (_, Value::Object(parameters)) => {
                let Some((_, parse)) = FUNCTIONS.iter().find(|(name, _)| name == key) else {
                    return Err(unknown_function());
                };
                if is_list {
                    return Err(both("[functions] array", key));
                }
                if let Some(found) = found.as_ref().filter(|_| single.is_some()) {
                    return Err(refused(format_args!(
                        "already found function [{found}], now encountering [{key}]. use [functions] array if you want to define several functions."
                    )));
                }
                found = Some(key.clone());
                single = Some(Entry { function: Some(parse(key, parameters)?), ..Entry::default() });
            }
            ("weight", value) => {
                if is_list {
                    return Err(both("[functions] array", key));
                }
                weight = Some(parse_weight(value)?);
                found.get_or_insert_with(|| key.clone());
            }
            ("score_mode", value) => {
                node.score_mode = ScoreMode::parse(&json::scalar_text(value).unwrap_or_default())?;
            }
            ("boost_mode", value) => {
                node.boost_mode = BoostMode::parse(&json::scalar_text(value).unwrap_or_default())?;
            }
            ("max_boost", value) => node.max_boost = json::float(value)?,
            ("min_score", value) => node.min_score = Some(json::float(value)?),
            (key, value) if common.take(key, value)? => {}
            (key, _) => return Err(refused(format_args!("field [{key}] is not supported"))),
        }
    }
    match (single, weight) {
        (Some(entry), weight) => node.entries.push(Entry { weight, ..entry }),
        (None, Some(weight)) => node.entries.push(Entry { weight: Some(weight), ..Entry::default() }),
        (None, None) => {}
    }
    Ok(common.query(node))
}

fn parse_weight(value: &Value) -> Result<f32, RequestError> {
    let weight = json::float(value)?;
    if weight < 0.0 {
        return Err(RequestError::illegal_argument("[weight] cannot be negative for a filtering function"));
    }
    Ok(weight)
}

fn parse_entry(item: &Value, parser: &mut Parser<'_>) -> Result<Entry, RequestError> {
    limber_work::check_beyond_deadline()?;
    let Value::Object(members) = item else {
        return Err(RequestError::parsing(format!(
            "failed to parse [START_OBJECT]. malformed query, expected a [{}] while parsing functions but got a [function_score] instead",
            json::token(item)
        )));
    };
    let mut entry = Entry::default();
    let mut found: Option<&str> = None;
    for (key, value) in members {
        match (key.as_str(), value) {
            ("filter", Value::Object(_)) => entry.filter = Some(parser.query(value)?),
            ("weight", value) if !value.is_object() => entry.weight = Some(parse_weight(value)?),
            ("_name", Value::String(name)) => entry.name = Some(name.as_str().into()),
            (name, Value::Object(parameters)) => {
                let Some((_, parse)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else {
                    return Err(unknown_function());
                };
                if let Some(found) = found {
                    return Err(RequestError::parsing(format!(
                        "failed to parse function_score functions. already found [{found}], now encountering [{name}]."
                    )));
                }
                found = Some(name);
                entry.function = Some(parse(name, parameters)?);
            }
            (name, _) => return Err(refused(format_args!("field [{name}] is not supported"))),
        }
    }
    if entry.function.is_none() && entry.weight.is_none() {
        return Err(refused("an entry in functions list is missing a function."));
    }
    Ok(entry)
}

impl QueryNode for FunctionScore {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let query = binder.query(&self.query, boost)?;
        let mut functions = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            let mut filter = match &entry.filter {
                Some(filter) => Some(binder.query(filter, 1.0)?),
                None => None,
            };
            if let Some(name) = &entry.name {
                let named = match filter {
                    Some(filter) => filter,
                    None => binder.query(&Query::match_all(), 1.0)?,
                };
                filter = Some(BoundQuery { name: Some(name.clone()), ..named });
            }
            functions.push(ScoredFunction {
                filter: filter.filter(|filter| filter.name.is_some() || !filter.node.is_everything()),
                weight: entry.weight,
                function: match &entry.function {
                    Some(function) => Some(function.bind(binder)?),
                    None => None,
                },
            });
        }
        if query.is_nothing() {
            return Ok(query);
        }
        let mut node = FunctionScoreNode {
            query,
            functions,
            score_mode: self.score_mode,
            boost_mode: self.boost_mode,
            max_boost: self.max_boost,
            min_score: self.min_score,
            seen: SeenDocs::of(binder.shard()),
        };
        if node.is_single() {
            // There is nothing to combine, so the function's value is used unchanged, even with `avg`.
            node.score_mode = ScoreMode::First;
        }
        Ok(node.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_combine_in_double_and_round_once() {
        for (mode, expected) in [
            (BoostMode::Multiply, 0.2),
            (BoostMode::Replace, 2.0),
            (BoostMode::Sum, 2.1),
            (BoostMode::Avg, 1.05),
            (BoostMode::Max, 2.0),
            (BoostMode::Min, 0.1),
        ] {
            assert_eq!(mode.combine(0.1, 5.0, 2.0), expected, "{mode:?}");
        }
        assert!(BoostMode::Max.combine(1.0, f64::NAN, 2.0).is_nan());
    }
}
