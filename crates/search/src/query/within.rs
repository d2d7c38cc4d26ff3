//! A query within a filter: what a search through a filtered alias becomes.

use limber_mapping::RequestError;
use serde_json::Value;

use super::bool_query::Bool;
use super::parse::{Query, QueryLimits, parse_query};

/// `query` (absent: everything) among the documents that `filter` lets through; scores are those of `query`.
pub fn within(query: Option<Query>, filter: &Value) -> Result<Query, RequestError> {
    let filter = parse_query(filter, &QueryLimits::default())?;
    let must = query.unwrap_or_else(Query::match_all);
    Ok(Query::new(Bool {
        must: vec![must],
        filter: vec![filter],
        adjust_pure_negative: true,
        ..Bool::default()
    }))
}
