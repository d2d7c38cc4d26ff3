//! Parses JSON to a query tree, with limits on the depth and on the number of clauses.

use std::fmt::Debug;
use std::sync::Arc;

use limber_mapping::{ObjectParser, RequestError};
use limber_text::likeness::did_you_mean;
use serde_json::{Map, Value};

use super::bind::Binder;
use super::bound::BoundQuery;
use super::extract::asked::AskedVisitor;
use super::joining::inner_hits::{InnerHitsRequest, ReadInnerHits};
use super::spans::{MultiTermQuery, SpanQuery};
use super::table::{QUERIES, UNSUPPORTED};
use crate::error::Error;
use crate::values::json;

/// Limits of a query tree, and how the parts of it that are not queries are parsed.
#[derive(Debug, Clone)]
pub(crate) struct QueryLimits {
    /// `indices.query.bool.max_nested_depth`.
    pub depth_max: u32,
    /// `indices.query.bool.max_clause_count`: the number of leaves of a tree. Elasticsearch computes it from
    /// the sizes of the heap and of the thread pool.
    pub clauses_max: u32,
    /// Parses `inner_hits`. `None`: the hits of this query are not shown, and `inner_hits` are ignored.
    pub inner_hits: Option<ReadInnerHits>,
}

impl Default for QueryLimits {
    fn default() -> QueryLimits {
        QueryLimits { depth_max: 30, clauses_max: 4096, inner_hits: None }
    }
}

/// A parsed query before it is bound to a shard.
pub trait QueryNode: Debug + Send + Sync {
    /// Resolves fields, converts values, and collects the statistics that scores depend on. `boost` is the
    /// product of all boosts from the root down to this node.
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error>;

    /// Whether it certainly matches every document of any shard.
    fn is_match_all(&self) -> bool {
        false
    }

    /// Shows the visitor what the query asks of a field, or its clauses.
    fn show_asked(&self, _: &mut dyn AskedVisitor) {}

    /// Returns itself if it is a span query.
    #[expect(private_interfaces, reason = "implemented and asked for by queries alone")]
    fn as_span(&self) -> Option<&dyn SpanQuery> {
        None
    }

    /// Returns itself if it is a query that stands for a set of terms.
    #[expect(private_interfaces, reason = "implemented and asked for by queries alone")]
    fn as_multi_term(&self) -> Option<&dyn MultiTermQuery> {
        None
    }
}

/// A parsed query. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Query {
    /// The factor of its scores.
    pub(crate) boost: f32,
    /// `_name`, reported in `matched_queries`.
    pub(crate) name: Option<Arc<str>>,
    /// The query itself.
    pub(crate) node: Arc<dyn QueryNode>,
}

impl Query {
    pub(crate) fn new(node: impl QueryNode + 'static) -> Query {
        Query { boost: 1.0, name: None, node: Arc::new(node) }
    }

    pub(crate) fn match_none() -> Query {
        Query::new(super::compound::match_all::MatchNone)
    }

    /// Makes a query that matches every document with its boost as the score.
    pub fn match_all() -> Query {
        Query::new(super::compound::match_all::MatchAll)
    }

    /// Whether it certainly matches every document of any shard. False for queries that match all documents
    /// only by chance.
    pub fn is_match_all(&self) -> bool {
        self.node.is_match_all()
    }
}

/// Parses one query object such as `{"term": {"user": "kimchy"}}`.
///
/// # Errors
/// `parsing_exception` and similar ones, with Elasticsearch's messages.
pub(crate) fn parse_query(value: &Value, limits: &QueryLimits) -> Result<Query, RequestError> {
    Parser { limits, depth: 0, clauses: 0 }.query(value)
}

/// State of one parse. Recursion is bounded by `limits.depth_max`.
#[derive(Debug)]
pub(crate) struct Parser<'l> {
    limits: &'l QueryLimits,
    depth: u32,
    clauses: u32,
}

impl Parser<'_> {
    /// Returns the limits of this parse.
    pub(super) fn limits(&self) -> &QueryLimits {
        self.limits
    }

    pub(super) fn query(&mut self, value: &Value) -> Result<Query, RequestError> {
        let Value::Object(members) = value else {
            return Err(RequestError::parsing("[_na] query malformed, must start with start_object"));
        };
        let mut names = members.iter();
        let Some((name, body)) = names.next() else {
            return Err(RequestError::illegal_argument("query malformed, empty clause found"));
        };
        let Some(&(_, parse)) = QUERIES.iter().find(|(known, _)| known == name) else {
            return Err(unknown_query(name));
        };
        let Value::Object(body) = body else {
            return Err(RequestError::parsing(format!(
                "[{name}] query malformed, no start_object after query name"
            )));
        };
        self.depth += 1;
        if self.depth > self.limits.depth_max {
            return Err(RequestError::illegal_argument(format!(
                "The nested depth of the query exceeds the maximum nested depth for bool queries set in \
                 [indices.query.bool.max_nested_depth] of [{}]",
                self.limits.depth_max
            )));
        }
        self.count_clause()?;
        let query = parse(body, self)?;
        self.depth -= 1;
        if names.next().is_some() {
            return Err(RequestError::parsing(format!(
                "[{name}] malformed query, expected [END_OBJECT] but found [FIELD_NAME]"
            )));
        }
        Ok(query)
    }

    /// Parses the `inner_hits` of a query; `None` if its hits are not shown.
    ///
    /// # Errors
    /// Fails with Elasticsearch's messages.
    pub(super) fn inner_hits(
        &self,
        body: &Map<String, Value>,
    ) -> Result<Option<Arc<dyn InnerHitsRequest>>, RequestError> {
        self.limits.inner_hits.map(|read| read(body)).transpose()
    }

    pub(super) fn count_clause(&mut self) -> Result<(), RequestError> {
        self.clauses += 1;
        if self.clauses > self.limits.clauses_max {
            return Err(too_many_nested_clauses(self.limits.clauses_max));
        }
        Ok(())
    }
}

/// Refuses more clauses than a query may have, because they determine its work and memory (Lucene's
/// `BooleanQuery`).
///
/// # Errors
/// `too_many_clauses` (`BadRequest`).
pub(super) fn check_clauses(count: usize) -> Result<(), RequestError> {
    let clauses_max = QueryLimits::default().clauses_max;
    if count > clauses_max as usize {
        let reason = format!("maxClauseCount is set to {clauses_max}");
        return Err(RequestError::bad_request("too_many_clauses", reason));
    }
    Ok(())
}

pub(super) fn too_many_nested_clauses(clauses_max: u32) -> RequestError {
    RequestError::bad_request(
        "too_many_nested_clauses",
        format!("Query contains too many nested clauses; maxClauseCount is set to {clauses_max}"),
    )
}

fn unknown_query(name: &str) -> RequestError {
    if UNSUPPORTED.contains(&name) {
        return RequestError::unsupported(format_args!("query [{name}]"));
    }
    let known = QUERIES.iter().map(|(known, _)| *known).chain(UNSUPPORTED.iter().copied());
    let hint = did_you_mean(name, known);
    RequestError::parsing(format!("unknown query [{name}]{hint}"))
        .caused_by(ObjectParser::no_named_object(name))
}

/// The options `boost` and `_name`, which every query has.
#[derive(Debug, Clone, Default)]
pub(super) struct Common {
    boost: Option<f32>,
    name: Option<Arc<str>>,
}

impl Common {
    /// Takes `key` if it is one of the two options. Returns whether it did.
    pub fn take(&mut self, key: &str, value: &Value) -> Result<bool, RequestError> {
        match key {
            "boost" => {
                let boost = json::float(value)?;
                if boost < 0.0 || boost.is_nan() {
                    return Err(RequestError::illegal_argument(format!(
                        "negative [boost] are not allowed, found [{boost}], use a value between 0 and 1 to deboost"
                    )));
                }
                self.boost = Some(boost);
            }
            "_name" => self.name = json::scalar_text(value).map(Arc::from),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether a boost was given.
    pub fn has_boost(&self) -> bool {
        self.boost.is_some()
    }

    /// Makes a query of `node` with the boost and the name.
    pub fn query(self, node: impl QueryNode + 'static) -> Query {
        Query { boost: self.boost.unwrap_or(1.0), name: self.name, node: Arc::new(node) }
    }
}

pub(super) fn does_not_support(query: &str, key: &str) -> RequestError {
    RequestError::parsing(format!("[{query}] query does not support [{key}]"))
}

/// Returns the only field of a query such as `{"term": {"user": ...}}`. `_name` and `boost` beside it are
/// taken if they are not objects.
pub(super) fn single_field<'a>(
    query: &str,
    members: &'a Map<String, Value>,
    common: &mut Common,
) -> Result<Option<(&'a str, &'a Value)>, RequestError> {
    let mut found: Option<(&str, &Value)> = None;
    for (key, value) in members {
        if matches!(key.as_str(), "_name" | "boost")
            && !value.is_object()
            && members.len() > 1
            && common.take(key, value)?
        {
            continue;
        }
        if let Some((first, _)) = found {
            return Err(RequestError::parsing(format!(
                "[{query}] query doesn't support multiple fields, found [{first}] and [{key}]"
            )));
        }
        found = Some((key, value));
    }
    Ok(found)
}

pub(super) fn no_field() -> RequestError {
    RequestError::illegal_argument("field name is null or empty")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reason(query: Value) -> String {
        parse_query(&query, &QueryLimits::default()).unwrap_err().reason
    }

    /// Error messages recorded from Elasticsearch 8.19.13, without the `[line:column]` of its parser.
    #[test]
    fn refusals_are_worded_as_elasticsearch_words_them() {
        for (query, expected) in [
            (json!({"foo": {}}), "unknown query [foo]"),
            (json!({"mach": {"a": "b"}}), "unknown query [mach] did you mean [match]?"),
            (json!({}), "query malformed, empty clause found"),
            (
                json!({"match_all": {}, "term": {}}),
                "[match_all] malformed query, expected [END_OBJECT] but found [FIELD_NAME]",
            ),
            (json!({"match_all": []}), "[match_all] query malformed, no start_object after query name"),
            (json!({"match_all": {"x": 1}}), "[match_all] unknown field [x]"),
            (json!({"term": {}}), "field name is null or empty"),
            (
                json!({"term": {"a": 1, "b": 2}}),
                "[term] query doesn't support multiple fields, found [a] and [b]",
            ),
            (json!({"term": {"a": {"value": 1, "x": 2}}}), "[term] query does not support [x]"),
            (json!({"term": {"a": [1]}}), "[term] query does not support array of values"),
            (json!({"term": {"a": null}}), "field name is null or empty"),
            (json!({"terms": {"a": "b"}}), "[terms] query does not support [a]"),
            (
                json!({"terms": {}}),
                "[terms] query requires a field name, followed by array of terms or a document lookup specification",
            ),
            (json!({"terms": {"a": ["b"], "c": ["d"]}}), "[terms] query does not support multiple fields"),
            (json!({"terms": {"a": ["b"], "x": 1}}), "[terms] query does not support [x]"),
            (json!({"terms": {"a": [null]}}), "No value specified for terms query"),
            (json!({"range": {}}), "field name is null or empty"),
            (json!({"range": {"n": {"foo": 1}}}), "[range] query does not support [foo]"),
            (json!({"range": {"n": null}}), "field name is null or empty"),
            (json!({"range": {"n": 5}}), "[range] query does not support [n]"),
            (
                json!({"range": {"a": {"gte": 1}, "b": {"gte": 1}}}),
                "[range] query doesn't support multiple fields, found [a] and [b]",
            ),
            (json!({"exists": {}}), "[exists] must be provided with a [field]"),
            (json!({"exists": {"foo": "zz"}}), "[exists] query does not support [foo]"),
            (json!({"ids": {"x": [1]}}), "[ids] unknown field [x]"),
            (json!({"bool": {"foo": []}}), "[bool] unknown field [foo]"),
            (json!({"bool": {"must": 5}}), "[bool] must doesn't support values of type: VALUE_NUMBER"),
            (json!({"bool": {"must": {"match": 5}}}), "[bool] failed to parse field [must]"),
            (json!({"bool": []}), "[bool] query malformed, no start_object after query name"),
            (json!({"constant_score": {}}), "[constant_score] requires a 'filter' element"),
            (
                json!({"constant_score": {"filter": {"match_all": {}}, "x": 1}}),
                "[constant_score] query does not support [x]",
            ),
            (json!({"constant_score": {"filter": []}}), "unexpected token [START_ARRAY]"),
            (json!({"match": {}}), "No text specified for text query"),
            (
                json!({"match": {"a": 1, "b": 2}}),
                "[match] query doesn't support multiple fields, found [a] and [b]",
            ),
            (json!({"match": {"a": {}}}), "No text specified for text query"),
            (json!({"match": {"a": null}}), "No text specified for text query"),
            (json!({"match": {"a": {"query": "x", "foo": 1}}}), "[match] query does not support [foo]"),
            (
                json!({"match": {"a": {"query": "x", "operator": "xor"}}}),
                "No enum constant org.elasticsearch.index.query.Operator.XOR",
            ),
            (
                json!({"match": {"a": {"query": "x", "zero_terms_query": "xx"}}}),
                "Unsupported zero_terms_query value [xx]",
            ),
            (
                json!({"match": {"a": {"query": "x", "fuzziness": 3}}}),
                "Valid edit distances are [0, 1, 2] but was [3]",
            ),
            (json!({"match_phrase": {"a": {"query": "x", "slop": -1}}}), "No negative slop allowed."),
            (
                json!({"match_phrase": {"a": {"query": "x", "foo": -1}}}),
                "[match_phrase] query does not support [foo]",
            ),
            (json!({"span_term": {}}), "field name is null or empty"),
            (json!({"knn": {}}), "query [knn] is not supported by Limber yet"),
        ] {
            assert_eq!(reason(query.clone()), expected, "{query}");
        }
    }

    #[test]
    fn depth_and_clauses_are_limited() {
        let nested = |levels: usize| {
            let mut query = json!({"match_all": {}});
            for _ in 0..levels {
                query = json!({"bool": {"must": [query]}});
            }
            parse_query(&query, &QueryLimits::default())
        };
        assert!(nested(29).is_ok());
        assert!(nested(30).is_err());
        let wide: Vec<Value> = (0..5000).map(|n| json!({"term": {"n": n}})).collect();
        let error = parse_query(&json!({"bool": {"should": wide}}), &QueryLimits::default()).unwrap_err();
        assert_eq!(error.caused_by.unwrap().kind, "too_many_nested_clauses");
    }
}
