//! Aggregations as part of a request. They are parsed and run by the code above requests, so a request
//! stores them behind a trait.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::Value;

/// The part of a request's aggregations that the search for documents needs to know.
pub trait AggregationsRequest: Any + Debug + Send + Sync {
    /// Whether the answer shows documents, or terms of documents, that the query does not match.
    fn must_visit_all_docs(&self) -> bool;
}

/// Parses the object of `aggs`.
///
/// # Errors
/// Those of Elasticsearch, in its words.
pub(crate) type ReadAggregations = fn(&Value) -> Result<Arc<dyn AggregationsRequest>, RequestError>;
