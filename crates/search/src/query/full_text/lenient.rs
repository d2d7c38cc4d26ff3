//! A query that matches nothing where its field cannot read its value.

use crate::error::Error;
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::parse::{Query, QueryNode};

#[derive(Debug)]
struct Lenient(Query);

pub(in crate::query) fn lenient(query: Query) -> Query {
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
