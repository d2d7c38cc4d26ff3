//! `inner_hits`: what a query knows of the search request that shows more with each of its hits.
//!
//! Such a request has sorts and highlights with queries of their own. Requests are read above queries, so
//! that a query keeps what was read behind a trait, and whoever shows hits gets it back from there.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use crate::context::ShardSnapshot;

/// What is to be shown with the hits of a query that finds them by other documents: nested ones, or those on
/// the other side of a join.
pub(crate) trait InnerHitsRequest: Any + Debug + Send + Sync {
    /// The name under which they are shown; `None`: the path or the relation of the query.
    fn name(&self) -> Option<&str>;

    /// Whether an index without the query's path is searched as if the query matched nothing.
    fn ignores_unmapped(&self) -> bool;

    /// Whether their sequence numbers are shown.
    fn shows_sequence_numbers(&self) -> bool;

    /// How many of them are sorted for a hit: `from` and `size` together.
    fn window(&self) -> u64;
}

/// Reads the object of an `inner_hits`.
///
/// # Errors
/// In Elasticsearch's words.
pub(crate) type ReadInnerHits = fn(&Map<String, Value>) -> Result<Arc<dyn InnerHitsRequest>, RequestError>;

/// Refuses more hits than `index.max_inner_result_window` allows.
///
/// # Errors
/// `illegal_argument_exception` (`BadRequest`), in Elasticsearch's words.
pub(in crate::query) fn check_window(
    wanted: &dyn InnerHitsRequest,
    shard: &ShardSnapshot,
) -> Result<(), RequestError> {
    let name = wanted.name().unwrap_or("null");
    let (window, window_max) = (wanted.window(), u64::from(shard.settings.max_inner_result_window));
    if window > window_max {
        return Err(RequestError::illegal_argument(format!(
            "Inner result window is too large, the inner hit definition's [{name}]'s from + size must be less than or equal to: \
             [{window_max}] but was [{window}]. This limit can be set by changing the [index.max_inner_result_window] index level \
             setting."
        )));
    }
    Ok(())
}
