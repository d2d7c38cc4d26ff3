//! A query that matches nothing where its field cannot read its value.

use super::bind::Binder;
use super::bound::BoundQuery;
use super::parse::{Query, QueryNode};
use crate::error::Error;

#[derive(Debug)]
struct Lenient(Query);

pub(super) fn lenient(query: Query) -> Query {
    Query::new(Lenient(query))
}

impl QueryNode for Lenient {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        match binder.query(&self.0, boost) {
            // What this server lacks is told, however lenient the query.
            Err(Error::Request(error)) if !error.reason.contains("is not supported by Limber") => {
                Ok(BoundQuery::nothing(format!("failed query, caused by {}:[{}]", error.kind, error.reason)))
            }
            other => other,
        }
    }
}
