//! Restricts a query by filters, for searches through filtered aliases.

use std::collections::BTreeSet;

use super::bind::Binder;
use super::bound::BoundQuery;
use super::compound::bool_query::Bool;
use super::parse::{Query, QueryNode};
use crate::error::Error;

/// Restricts `query` (`None`: all documents) to the documents that pass the filters. Each filter applies in
/// the indices with the given names; all documents of other indices pass. An index must not have two filters.
pub(crate) fn within_indices(query: Option<Query>, filters: Vec<(BTreeSet<String>, Query)>) -> Query {
    within(query, Query::new(ByIndex { filters }))
}

/// A different query in each index. A filter may be invalid in other indices than its own.
#[derive(Debug)]
struct ByIndex {
    /// All documents match in an index that has no filter.
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

/// Makes a query for the documents that match `filter`, without scores.
pub(crate) fn only_filter(filter: Query) -> Query {
    Query::new(Bool { filter: vec![filter], adjust_pure_negative: true, ..Bool::default() })
}

/// Restricts `query` (`None`: all documents) to the documents that match `filter`; the scores are those of
/// `query`.
pub fn within(query: Option<Query>, filter: Query) -> Query {
    Query::new(Bool {
        must: vec![query.unwrap_or_else(Query::match_all)],
        filter: vec![filter],
        adjust_pure_negative: true,
        ..Bool::default()
    })
}
