//! `retriever`: a search given as a tree of retrievers. Source: Elasticsearch's `StandardRetrieverBuilder`,
//! `RRFRetrieverBuilder`, `LinearRetrieverBuilder`, and its documentation of the other ones.

use std::sync::Arc;

use limber_mapping::{ObjectParser, RequestError};
use limber_work as work;
use serde_json::{Map, Value, json};

use super::SearchRequest;
use super::read_query::read_query;
use super::rescore::Rescore;
use crate::values::json;

/// `rrf` and `linear`: several rankings combined by ranks (reciprocal rank fusion) or by scores.
#[derive(Debug, Clone)]
pub struct Fusion {
    /// The searches whose hits are fused.
    pub rankings: Vec<Ranking>,
    /// What a hit adds to its score for its place in a ranking.
    pub share: Share,
    /// Number of hits of each ranking that count.
    pub window: u32,
}

/// One of the searches of a [`Fusion`].
#[derive(Debug, Clone)]
pub struct Ranking {
    /// The search, with a query of its own.
    pub search: SearchRequest,
    /// What its hits' shares are multiplied by.
    pub weight: f32,
    /// How its scores are made comparable; only used by [`Share::Score`].
    pub normalizer: Normalizer,
}

/// What a hit adds to its score for its place in a ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Share {
    /// `rrf`: 1 / (constant + rank). The greater the constant is, the less the rank matters.
    Rank {
        /// `rank_constant`.
        constant: u32,
    },
    /// `linear`: its normalized score.
    Score,
}

/// How the scores of a ranking are made comparable to those of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Normalizer {
    /// Scores are used as they are.
    None,
    /// The least score becomes 0 and the greatest 1.
    MinMax,
    /// Scores are divided by the square root of the sum of their squares.
    L2,
}

impl Normalizer {
    fn parse(value: &Value) -> Result<Normalizer, RequestError> {
        match json::text(value)?.as_str() {
            "none" => Ok(Normalizer::None),
            "minmax" => Ok(Normalizer::MinMax),
            "l2_norm" => Ok(Normalizer::L2),
            other => {
                let reason = format!("Unknown normalizer [{other}]");
                Err(RequestError::illegal_argument(reason))
            }
        }
    }

    /// Replaces scores by normalized ones.
    pub fn normalize(self, scores: &mut [f32]) {
        match self {
            Normalizer::None => {}
            Normalizer::MinMax => {
                let min = scores.iter().copied().fold(f32::INFINITY, f32::min);
                let max = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                // Equal scores stay as they are, as in Elasticsearch's `MinMaxScoreNormalizer`.
                if max - min > 1e-6 {
                    scores.iter_mut().for_each(|score| *score = (*score - min) / (max - min));
                }
            }
            Normalizer::L2 => {
                let norm = scores.iter().map(|score| score * score).sum::<f32>().sqrt();
                if norm > 1e-6 {
                    scores.iter_mut().for_each(|score| *score /= norm);
                }
            }
        }
    }
}

const RANK_CONSTANT_DEFAULT: u32 = 60;
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
            "rrf" | "linear" => self.take_fusion(name, options, depth),
            "rule" => self.take_rule(options, depth),
            "pinned" => self.take_pinned(options, depth),
            "rescorer" => self.take_rescorer(options, depth),
            "knn" | "text_similarity_reranker" | "random_reranker" | "diversify" => {
                Err(RequestError::unsupported(format_args!("the retriever [{name}]")))
            }
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

    /// Parses `pinned`: another retriever, with documents that come first.
    fn take_pinned(&mut self, options: &Map<String, Value>, depth: usize) -> Result<Value, RequestError> {
        let (mut pinned, mut retriever) = (Map::new(), None);
        for (key, value) in options {
            match key.as_str() {
                "ids" | "docs" => drop(pinned.insert(key.clone(), value.clone())),
                "retriever" => retriever = Some(value),
                "rank_window_size" => drop(json::int(value)?),
                "min_score" => self.min_score = Some(json::float(value)?),
                "_name" => drop(json::text(value)?),
                other => return Err(unknown("pinned", other)),
            }
        }
        let retriever = retriever.ok_or_else(|| ObjectParser::required("retriever"))?;
        let organic = self.take_retriever(retriever, depth + 1)?;
        if self.fusion.is_some() {
            let reason = "[rrf] or [linear] within the retriever [pinned]";
            return Err(RequestError::unsupported(reason));
        }
        pinned.insert("organic".into(), organic);
        let whole = json!({ "pinned": pinned });
        self.query = Some(read_query(&whole)?);
        Ok(whole)
    }

    /// Parses `rescorer`: another retriever, whose best hits are rescored.
    fn take_rescorer(&mut self, options: &Map<String, Value>, depth: usize) -> Result<Value, RequestError> {
        let (mut retriever, mut rescore) = (None, None);
        for (key, value) in options {
            match key.as_str() {
                "retriever" => retriever = Some(value),
                "rescore" => rescore = Some(value),
                "min_score" => self.min_score = Some(json::float(value)?),
                "_name" => drop(json::text(value)?),
                other => return Err(unknown("rescorer", other)),
            }
        }
        let retriever = retriever.ok_or_else(|| ObjectParser::required("retriever"))?;
        let rescore = rescore.ok_or_else(|| ObjectParser::required("rescore"))?;
        let query = self.take_retriever(retriever, depth + 1)?;
        if self.fusion.is_some() {
            let reason = "[rrf] or [linear] within the retriever [rescorer]";
            return Err(RequestError::unsupported(reason));
        }
        self.rescores.extend(Rescore::parse_list(rescore, Some(&query))?);
        Ok(query)
    }

    /// Parses `rrf` or `linear`.
    fn take_fusion(
        &mut self,
        kind: &str,
        options: &Map<String, Value>,
        depth: usize,
    ) -> Result<Value, RequestError> {
        let mut given = FusionOptions::parse(kind, options)?;
        self.min_score = given.min_score.or(self.min_score);
        let refuse = |reason: String| Err(RequestError::illegal_argument(reason));
        if given.retrievers.is_empty() || given.retrievers.len() > RANKINGS_MAX {
            return refuse(format!("[retrievers] of [{kind}] must be 1 to {RANKINGS_MAX}"));
        }
        let window = given.window.unwrap_or(self.size() as i32);
        if window < 1 {
            return refuse(format!("[rank_window_size] must be greater than 0, was: {window}"));
        }
        let (mut rankings, mut queries) = (Vec::new(), Vec::new());
        for entry in std::mem::take(&mut given.retrievers) {
            // Each ranking has a copy of the filter.
            work::check_beyond_deadline()?;
            let weight = match entry.get("weight") {
                None => 1.0,
                Some(weight) => json::float(weight)?,
            };
            if weight < 0.0 {
                return refuse(format!("[weight] must be non-negative, got [{weight}]"));
            }
            let normalizer = match entry.get("normalizer") {
                None => given.normalizer,
                Some(normalizer) => Normalizer::parse(normalizer)?,
            };
            let retriever = entry.get("retriever").unwrap_or(&entry);
            let mut search = SearchRequest { size: Some(window as u32), ..SearchRequest::default() };
            let query = search.take_retriever(retriever, depth + 1)?;
            if let Some(filter) = given.filter.clone().filter(|_| search.fusion.is_none()) {
                search.query = Some(read_query(&within(query.clone(), Some(filter)))?);
            }
            queries.push(query);
            rankings.push(Ranking { search, weight, normalizer });
        }
        let any = within(json!({"bool": {"should": queries, "minimum_should_match": 1}}), given.filter);
        self.query = Some(read_query(&any)?);
        self.fusion = Some(Arc::new(Fusion { rankings, share: given.share, window: window as u32 }));
        Ok(any)
    }
}

/// The options of `rrf` and `linear`.
struct FusionOptions {
    /// Retrievers, or objects with `retriever`, `weight` and `normalizer`.
    retrievers: Vec<Value>,
    filter: Option<Value>,
    window: Option<i32>,
    min_score: Option<f32>,
    normalizer: Normalizer,
    share: Share,
}

impl FusionOptions {
    fn parse(kind: &str, options: &Map<String, Value>) -> Result<FusionOptions, RequestError> {
        let is_linear = kind == "linear";
        let mut given = FusionOptions {
            retrievers: Vec::new(),
            filter: None,
            window: None,
            min_score: None,
            normalizer: Normalizer::None,
            share: if is_linear { Share::Score } else { Share::Rank { constant: RANK_CONSTANT_DEFAULT } },
        };
        let (mut query, mut fields) = (None, Vec::new());
        for (key, value) in options {
            match key.as_str() {
                "retrievers" => given.retrievers = value.as_array().cloned().unwrap_or_default(),
                "rank_constant" if !is_linear => {
                    let constant = json::int(value)?;
                    let constant = u32::try_from(constant).ok().filter(|&constant| constant > 0).ok_or_else(|| {
                        RequestError::illegal_argument(format!(
                            "[rank_constant] must be greater or equal to [1] for [rrf] but was [{constant}]"
                        ))
                    })?;
                    given.share = Share::Rank { constant };
                }
                "normalizer" if is_linear => given.normalizer = Normalizer::parse(value)?,
                "rank_window_size" => given.window = Some(json::int(value)?),
                "filter" => given.filter = Some(value.clone()),
                "min_score" => given.min_score = Some(json::float(value)?),
                "query" => query = Some(json::text(value)?),
                "fields" => fields = value.as_array().cloned().unwrap_or_default(),
                "_name" => drop(json::text(value)?),
                other => return Err(unknown(kind, other)),
            }
        }
        match query {
            Some(_) if !given.retrievers.is_empty() => {
                let reason = format!("[{kind}] cannot combine [retrievers] and [query]");
                Err(RequestError::illegal_argument(reason))
            }
            // There are no fields of an inference here, so that one ranking has all fields.
            Some(query) => {
                let mut body = json!({"query": query, "type": "most_fields", "lenient": true});
                if !fields.is_empty() {
                    body["fields"] = fields.into();
                }
                given.retrievers = vec![json!({"standard": {"query": {"multi_match": body}}})];
                Ok(given)
            }
            None => Ok(given),
        }
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
