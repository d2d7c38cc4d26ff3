//! `inner_hits`: the part of an inner search request that the query depends on.
//!
//! An inner search request has sorts and highlights, which contain queries. Search requests are parsed in a
//! layer above queries, so a query only keeps the parsed request as a trait object; the code that shows hits
//! gets it back from there.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use crate::context::ShardSnapshot;

/// The inner hits of a query that finds documents by nested documents or by those on the other side of a
/// join.
pub(crate) trait InnerHitsRequest: Any + Debug + Send + Sync {
    /// Returns the name under which they are shown; `None` stands for the path or the relation of the query.
    fn name(&self) -> Option<&str>;

    /// Whether the query matches nothing, instead of failing, in an index without its path.
    fn ignores_unmapped(&self) -> bool;

    /// Whether the sequence numbers of inner hits are shown.
    fn shows_sequence_numbers(&self) -> bool;

    /// Returns the number of inner hits that are sorted for a hit: the sum of `from` and `size`.
    fn window(&self) -> u64;
}

/// Parses the object `inner_hits`.
///
/// # Errors
/// Fails with Elasticsearch's messages.
pub(crate) type ReadInnerHits = fn(&Map<String, Value>) -> Result<Arc<dyn InnerHitsRequest>, RequestError>;

/// Refuses a window that is larger than `index.max_inner_result_window`.
///
/// # Errors
/// `illegal_argument_exception` (`BadRequest`), with Elasticsearch's message.
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
