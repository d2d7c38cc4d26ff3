//! Aggregations as part of a request. They are read and carried out above requests, which keep them behind a
//! trait.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::Value;

/// The aggregations of a request, as far as the search for its documents needs to know them.
pub trait AggregationsRequest: Any + Debug + Send + Sync {
    /// Whether an answer shows documents, or terms of documents, that the query does not match.
    fn must_visit_all_docs(&self) -> bool;
}

/// Reads the object of `aggs`.
///
/// # Errors
/// In Elasticsearch's words.
pub(crate) type ReadAggregations = fn(&Value) -> Result<Arc<dyn AggregationsRequest>, RequestError>;
