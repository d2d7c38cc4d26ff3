//! A query within a filter: what a search through a filtered alias becomes.

use std::collections::BTreeSet;

use super::bind::Binder;
use super::bound::BoundQuery;
use super::compound::bool_query::Bool;
use super::parse::{Query, QueryNode};
use crate::error::Error;

/// `query` (absent: everything) among the documents that the filters let through, each in the indices of its
/// names; all documents of other indices are let through. No index is in two of them.
pub(crate) fn within_indices(query: Option<Query>, filters: Vec<(BTreeSet<String>, Query)>) -> Query {
    within(query, Query::new(ByIndex { filters }))
}

/// Stands for another query in each index. A filter may not even be sound in another index than its own.
#[derive(Debug)]
struct ByIndex {
    /// Everything is found in an index that is in none.
    filters: Vec<(BTreeSet<String>, Query)>,
}

impl QueryNode for ByIndex {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let name = &binder.shard().index.name;
        match self.filters.iter().find(|(indices, _)| indices.contains(name)) {
            Some((_, query)) => binder.query(query, boost),
            None => binder.query(&Query::match_all(), boost),
        }
    }
}

/// The documents that `filter` lets through, without scores.
pub(crate) fn only_filter(filter: Query) -> Query {
    Query::new(Bool { filter: vec![filter], adjust_pure_negative: true, ..Bool::default() })
}

/// `query` (absent: everything) among the documents that `filter` lets through; scores are those of `query`.
pub fn within(query: Option<Query>, filter: Query) -> Query {
    Query::new(Bool {
        must: vec![query.unwrap_or_else(Query::match_all)],
        filter: vec![filter],
        adjust_pure_negative: true,
        ..Bool::default()
    })
}
