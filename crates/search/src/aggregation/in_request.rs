//! Parses a search request with its aggregations, and gets the aggregations back from it.

use std::any::Any;
use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::Value;

use super::tree::{Aggregation, Aggregations};
use crate::request::{AggregationsRequest, SearchRequest, UrlParameters};

impl AggregationsRequest for Aggregations {
    fn must_visit_all_docs(&self) -> bool {
        self.list.iter().filter_map(Aggregation::definition).any(|definition| definition.sees_all_docs())
    }
}

impl Aggregations {
    /// Returns the aggregations of a request; `None` if it has none or an empty list.
    pub(crate) fn in_request(request: &SearchRequest) -> Option<&Aggregations> {
        let kept: &dyn Any = &**request.aggregations.as_ref()?;
        let list: &Aggregations = kept.downcast_ref().expect("requests keep what this file reads");
        (!list.is_empty()).then_some(list)
    }
}

impl SearchRequest {
    /// Parses the body of a `_search` (`{}` or `null` when there is none); the URL's parameters override it.
    ///
    /// # Errors
    /// Those of Elasticsearch: `parsing_exception` for unknown keys; `illegal_argument_exception` for values
    /// out of range, and for features that do not exist here yet, with their names.
    pub fn parse(body: &Value, url: &UrlParameters) -> Result<SearchRequest, RequestError> {
        SearchRequest::read(body, url, Some(|aggs| Ok(Arc::new(Aggregations::parse(aggs)?))))
    }
}
