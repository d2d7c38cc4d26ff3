//! A query within a filter: what a search through a filtered alias becomes.

use super::bool_query::Bool;
use super::parse::Query;

/// `query` (absent: everything) among the documents that `filter` lets through; scores are those of `query`.
pub fn within(query: Option<Query>, filter: Query) -> Query {
    Query::new(Bool {
        must: vec![query.unwrap_or_else(Query::match_all)],
        filter: vec![filter],
        adjust_pure_negative: true,
        ..Bool::default()
    })
}
