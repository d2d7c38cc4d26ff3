//! What search pipelines change of a parsed request.

use limber_mapping::RequestError;
use serde_json::Value;

use super::SearchRequest;
use crate::query::{Query, only_filter, within};

impl SearchRequest {
    /// Puts a member of a body over a parsed request, as a search pipeline does.
    ///
    /// # Errors
    /// Those of the member in a body.
    pub fn put(&mut self, key: &str, value: &Value) -> Result<(), RequestError> {
        self.parse_key(key, value)?;
        // The key tells the body as it was sent.
        self.cache_key = None;
        self.validate()
    }

    /// Leaves only hits that `filter` matches, too. Scores are those of the query; without one they are 0.
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
