//! The filters of index aliases.

use std::collections::BTreeSet;

use limber_mapping::RequestError;
use serde_json::Value;

use super::read_query::read_query;
use crate::query::{Query, within_indices};

/// The filter of an alias, and the indices that it applies to.
#[derive(Debug, Clone, PartialEq)]
pub struct AliasFilter {
    /// The query, as it was given to the alias.
    pub filter: Value,
    /// Names of the indices that are searched through the alias.
    pub indices: BTreeSet<String>,
}

/// Restricts `query` (absent: everything) to the documents that the filters accept, each in its own
/// indices; all documents of other indices are accepted. Without filters it is the query itself.
///
/// # Errors
/// Those of parsing a filter.
pub fn within_aliases(query: Option<Query>, filters: &[AliasFilter]) -> Result<Option<Query>, RequestError> {
    if filters.is_empty() {
        return Ok(query);
    }
    let read = |alias: &AliasFilter| Ok((alias.indices.clone(), read_query(&alias.filter)?));
    let filters = filters.iter().map(read).collect::<Result<_, RequestError>>()?;
    Ok(Some(within_indices(query, filters)))
}
