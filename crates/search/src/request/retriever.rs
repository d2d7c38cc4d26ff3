//! `retriever`: a search given as a tree of retrievers. Source: Elasticsearch's `StandardRetrieverBuilder`
//! and `RRFRetrieverBuilder`, and its documentation of the rule retriever.

use std::sync::Arc;

use limber_mapping::{ObjectParser, RequestError};
use serde_json::{Map, Value, json};

use super::SearchRequest;
use super::read_query::read_query;
use crate::values::json;

/// `rrf`: several rankings combined by ranks instead of scores (reciprocal rank fusion).
#[derive(Debug, Clone)]
pub struct Fusion {
    /// The searches whose hits are fused, each with a query of its own.
    pub rankings: Vec<SearchRequest>,
    /// The greater it is, the less the rank matters.
    pub rank_constant: u32,
    /// Number of hits of each ranking that count.
    pub window: u32,
}

const RANK_CONSTANT_DEFAULT: i32 = 60;
/// Largest nesting of retrievers.
const DEPTH_MAX: usize = 10;
/// Maximum number of rankings of one fusion.
const RANKINGS_MAX: usize = 100;

impl SearchRequest {
    /// Parses a retriever into the request.
    ///
    /// # Errors
    /// Those of Elasticsearch, in its words; unsupported retrievers are refused by name.
    pub(super) fn parse_retriever(&mut self, value: &Value) -> Result<(), RequestError> {
        self.take_retriever(value, 0).map(drop)
    }

    /// Parses a retriever; returns the query that finds the same documents.
    fn take_retriever(&mut self, value: &Value, depth: usize) -> Result<Value, RequestError> {
        if depth > DEPTH_MAX {
            return Err(RequestError::illegal_argument(format!(
                "retrievers are more than [{DEPTH_MAX}] deep"
            )));
        }
        let Some((name, Value::Object(options))) =
            value.as_object().filter(|object| object.len() == 1).and_then(|object| object.iter().next())
        else {
            return Err(RequestError::parsing("[retriever] malformed, expected one retriever"));
        };
        match name.as_str() {
            "standard" => self.take_standard(options),
            "rrf" => self.take_fusion(options, depth),
            "rule" => self.take_rule(options, depth),
            "knn"
            | "linear"
            | "rescorer"
            | "text_similarity_reranker"
            | "random_reranker"
            | "pinned"
            | "diversify" => Err(RequestError::unsupported(format_args!("the retriever [{name}]"))),
            other => {
                let reason = format!("unknown retriever [{other}]");
                Err(RequestError::bad_request("named_object_not_found_exception", reason))
            }
        }
    }

    fn take_standard(&mut self, options: &Map<String, Value>) -> Result<Value, RequestError> {
        let mut query = json!({"match_all": {}});
        let mut filter = None;
        for (key, value) in options {
            match key.as_str() {
                "query" => query = value.clone(),
                "filter" => filter = Some(value.clone()),
                "sort" | "search_after" | "min_score" | "terminate_after" | "collapse" => {
                    self.parse_key(key, value)?;
                }
                "_name" => drop(json::text(value)?),
                other => return Err(unknown("standard", other)),
            }
        }
        let whole = within(query, filter);
        self.query = Some(read_query(&whole)?);
        Ok(whole)
    }

    /// Parses `rule`: another retriever with query rules applied to it.
    fn take_rule(&mut self, options: &Map<String, Value>, depth: usize) -> Result<Value, RequestError> {
        let (mut rule, mut retriever, mut window) = (Map::new(), None, None);
        for (key, value) in options {
            match key.as_str() {
                "match_criteria" | "ruleset_ids" => drop(rule.insert(key.clone(), value.clone())),
                "retriever" => retriever = Some(value),
                "rank_window_size" => window = Some(json::int(value)?),
                "min_score" => self.min_score = Some(json::float(value)?),
                "_name" => drop(json::text(value)?),
                other => return Err(unknown("rule", other)),
            }
        }
        let retriever = retriever.ok_or_else(|| ObjectParser::required("retriever"))?;
        if window.is_some_and(|window| window < self.size() as i32) {
            let reason = format!(
                "[rule] requires [rank_window_size: {}] be greater than or equal to [size: {}]",
                window.unwrap_or(0),
                self.size()
            );
            return Err(RequestError::illegal_argument(reason));
        }
        let organic = self.take_retriever(retriever, depth + 1)?;
        if self.fusion.is_some() {
            return Err(RequestError::unsupported("[rrf] within the retriever [rule]"));
        }
        rule.insert("organic".into(), organic);
        let whole = json!({ "rule": rule });
        self.query = Some(read_query(&whole)?);
        Ok(whole)
    }

    fn take_fusion(&mut self, options: &Map<String, Value>, depth: usize) -> Result<Value, RequestError> {
        let (mut constant, mut window) = (RANK_CONSTANT_DEFAULT, None);
        let (mut retrievers, mut filter) = (None, None);
        for (key, value) in options {
            match key.as_str() {
                "retrievers" => retrievers = value.as_array(),
                "rank_constant" => constant = json::int(value)?,
                "rank_window_size" => window = Some(json::int(value)?),
                "filter" => filter = Some(value.clone()),
                "min_score" => self.min_score = Some(json::float(value)?),
                "_name" => drop(json::text(value)?),
                "query" | "fields" => {
                    return Err(RequestError::unsupported(format_args!("[{key}] in the retriever [rrf]")));
                }
                other => return Err(unknown("rrf", other)),
            }
        }
        let retrievers = retrievers.map_or(&[][..], Vec::as_slice);
        let refuse = |reason: String| Err(RequestError::illegal_argument(reason));
        if retrievers.is_empty() || retrievers.len() > RANKINGS_MAX {
            return refuse(format!("[retrievers] of [rrf] must be 1 to {RANKINGS_MAX}"));
        }
        if constant < 1 {
            return refuse(format!(
                "[rank_constant] must be greater or equal to [1] for [rrf] but was [{constant}]"
            ));
        }
        let window = window.unwrap_or(self.size() as i32);
        if window < 1 {
            return refuse(format!("[rank_window_size] must be greater than 0, was: {window}"));
        }
        let (mut rankings, mut queries) = (Vec::new(), Vec::new());
        for retriever in retrievers {
            // From 9.x on, retrievers can be weighted: an object with `retriever` and `weight`.
            if retriever.get("weight").is_some() {
                return Err(RequestError::unsupported("[weight] in the retriever [rrf]"));
            }
            let retriever = retriever.get("retriever").unwrap_or(retriever);
            let mut ranking = SearchRequest { size: Some(window as u32), ..SearchRequest::default() };
            let query = ranking.take_retriever(retriever, depth + 1)?;
            if let Some(filter) = filter.clone().filter(|_| ranking.fusion.is_none()) {
                ranking.query = Some(read_query(&within(query.clone(), Some(filter)))?);
            }
            queries.push(query);
            rankings.push(ranking);
        }
        let any = within(json!({"bool": {"should": queries, "minimum_should_match": 1}}), filter);
        self.query = Some(read_query(&any)?);
        self.fusion =
            Some(Arc::new(Fusion { rankings, rank_constant: constant as u32, window: window as u32 }));
        Ok(any)
    }
}

fn within(query: Value, filter: Option<Value>) -> Value {
    match filter {
        None => query,
        Some(filter) => json!({"bool": {"must": [query], "filter": filter}}),
    }
}

fn unknown(retriever: &str, key: &str) -> RequestError {
    ObjectParser::new(retriever).unknown(key)
}
