//! A query that matches nothing if its field cannot parse its value.

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
            // Features that this server lacks are reported even if the query is lenient.
            Err(Error::Request(error)) if !error.reason.contains("is not supported by Limber") => {
                Ok(BoundQuery::nothing(format!("failed query, caused by {}:[{}]", error.kind, error.reason)))
            }
            other => other,
        }
    }
}
