//! What aliases let through of the documents of their indices.

use std::collections::BTreeSet;

use limber_mapping::RequestError;
use serde_json::Value;

use super::read_query::read_query;
use crate::query::{Query, within_indices};

/// What aliases let through of the documents of some indices.
#[derive(Debug, Clone, PartialEq)]
pub struct AliasFilter {
    /// A query, as the alias was given it.
    pub filter: Value,
    /// Names of the indices that are searched through it.
    pub indices: BTreeSet<String>,
}

/// `query` (absent: everything) among the documents that the filters let through, each in its own indices;
/// all documents of other indices are let through. Without filters it is the query itself.
///
/// # Errors
/// Those of reading a filter.
pub fn within_aliases(query: Option<Query>, filters: &[AliasFilter]) -> Result<Option<Query>, RequestError> {
    if filters.is_empty() {
        return Ok(query);
    }
    let read = |alias: &AliasFilter| Ok((alias.indices.clone(), read_query(&alias.filter)?));
    let filters = filters.iter().map(read).collect::<Result<_, RequestError>>()?;
    Ok(Some(within_indices(query, filters)))
}
