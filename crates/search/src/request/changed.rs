//! Changes of a parsed request by search pipelines.

use limber_mapping::RequestError;
use serde_json::Value;

use super::SearchRequest;
use crate::query::{Query, only_filter, within};

impl SearchRequest {
    /// Sets a member of the body in a parsed request, as a search pipeline does.
    ///
    /// # Errors
    /// Those of the same member in a body.
    pub fn put(&mut self, key: &str, value: &Value) -> Result<(), RequestError> {
        self.parse_key(key, value)?;
        // The cache key describes the body as it was sent.
        self.cache_key = None;
        self.validate()
    }

    /// Restricts the hits to those that `filter` also matches. Scores are those of the query; without one
    /// they are 0.
    ///
    /// # Errors
    /// `illegal_argument_exception` for a retriever of several rankings.
    pub fn narrow(&mut self, filter: Query) -> Result<(), RequestError> {
        if self.fusion.is_some() {
            return Err(RequestError::unsupported("a filter of a search pipeline beside [retriever]"));
        }
        self.cache_key = None;
        self.query = Some(match self.query.take() {
            Some(query) => within(Some(query), filter),
            None => only_filter(filter),
        });
        Ok(())
    }
}
