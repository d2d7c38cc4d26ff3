//! Parses queries of a request, including the search requests in them.

use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::InnerHits;
use crate::query::{InnerHitsRequest, Query, QueryLimits, parse_query};

/// Parses a query such as `{"term": {"user": "kimchy"}}`, including its `inner_hits`.
///
/// # Errors
/// `parsing_exception` and others, in Elasticsearch's words.
pub fn read_query(value: &Value) -> Result<Query, RequestError> {
    parse_query(value, &QueryLimits { inner_hits: Some(read_inner_hits), ..QueryLimits::default() })
}

fn read_inner_hits(body: &Map<String, Value>) -> Result<Arc<dyn InnerHitsRequest>, RequestError> {
    Ok(Arc::new(InnerHits::parse(body)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// `inner_hits` are parsed wherever a query occurs in a request. Queries that are created from other
    /// queries have none.
    #[test]
    fn inner_hits_are_read_with_the_queries_of_requests() {
        let shown = |inner_hits: Value| {
            let nested =
                json!({"nested": {"path": "p", "query": {"match_all": {}}, "inner_hits": inner_hits}});
            json!({"bool": {"filter": [nested]}})
        };
        assert!(read_query(&shown(json!({"name": "n", "size": 2}))).is_ok());
        let error = read_query(&shown(json!({"nope": 1}))).expect_err("is refused");
        let cause = error.caused_by.expect("the filter is wrong");
        assert_eq!(cause.reason, "[inner_hits] unknown field [nope]");
        assert!(parse_query(&shown(json!({"nope": 1})), &QueryLimits::default()).is_ok());
    }
}
