//! A query within a filter: what a search through a filtered alias becomes.

use std::collections::BTreeSet;

use limber_mapping::RequestError;
use serde_json::Value;

use super::bind::Binder;
use super::bool_query::Bool;
use super::bound::BoundQuery;
use super::parse::{Query, QueryLimits, QueryNode, parse_query};
use crate::error::Error;

/// What aliases let through of the documents of some indices.
#[derive(Debug, Clone, PartialEq)]
pub struct AliasFilter {
    /// A query, as the alias was given it.
    pub filter: Value,
    /// Names of the indices that are searched through it.
    pub indices: BTreeSet<String>,
}

/// `query` (absent: everything) among the documents that the filters let through, each in its own indices;
/// all documents of other indices are let through.
pub fn within_aliases(query: Option<Query>, filters: &[AliasFilter]) -> Result<Option<Query>, RequestError> {
    if filters.is_empty() {
        return Ok(query);
    }
    let parse = |alias: &AliasFilter| {
        let filter = parse_query(&alias.filter, &QueryLimits::default())?;
        Ok((alias.indices.clone(), filter))
    };
    let parts = filters.iter().map(parse).collect::<Result<_, RequestError>>()?;
    Ok(Some(both(query, Query::new(ByIndex { parts }))))
}

/// Stands for another query in each index. A filter may not even be sound in another index than its own.
#[derive(Debug)]
struct ByIndex {
    /// No index is in two of them; everything is found where it is in none.
    parts: Vec<(BTreeSet<String>, Query)>,
}

impl QueryNode for ByIndex {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let name = &binder.shard().index.name;
        match self.parts.iter().find(|(indices, _)| indices.contains(name)) {
            Some((_, query)) => binder.query(query, boost),
            None => binder.query(&Query::match_all(), boost),
        }
    }
}

/// `query` (absent: everything) among the documents that `filter` lets through; scores are those of `query`.
pub fn within(query: Option<Query>, filter: &Value) -> Result<Query, RequestError> {
    Ok(both(query, parse_query(filter, &QueryLimits::default())?))
}

fn both(query: Option<Query>, filter: Query) -> Query {
    let must = query.unwrap_or_else(Query::match_all);
    Query::new(Bool { must: vec![must], filter: vec![filter], adjust_pure_negative: true, ..Bool::default() })
}
