//! Shards that failed in a phase: "does the search continue without them?"
//!
//! Source: Elasticsearch's `AbstractSearchAsyncAction#executeNextPhase`.

use limber_mapping::{ErrorClass, RequestError};

use crate::context::{SearchContext, ShardSnapshot};
use crate::error::{Error, Result, ShardFailure};

/// The failures of a search's shards so far, each with the index of its shard. A shard fails once: later
/// phases do not ask it again.
#[derive(Debug, Default)]
pub(crate) struct Failures(Vec<(usize, ShardFailure)>);

impl Failures {
    /// Records that this shard has failed.
    pub fn add(&mut self, number: usize, failure: ShardFailure) {
        self.0.push((number, failure));
    }

    /// Whether this shard has failed.
    pub fn has(&self, number: usize) -> bool {
        self.0.iter().any(|(failed, _)| *failed == number)
    }

    /// Returns how many shards have failed.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Called at the end of a phase; `shard_count` is the number of all shards of the search.
    ///
    /// # Errors
    /// All shards have failed, or one has and the request does not accept a partial answer.
    pub fn check(&mut self, phase: &'static str, shard_count: usize, allows_partial: bool) -> Result<()> {
        if self.0.is_empty() || allows_partial && self.0.len() < shard_count {
            return Ok(());
        }
        let failures = std::mem::take(self).into_list();
        Err(match failures.len() == shard_count {
            true => Error::AllShardsFailed { phase, failures },
            false => Error::SomeShardsFailed { phase, failures },
        })
    }

    /// Returns the failures in the order of the shards.
    pub fn into_list(mut self) -> Vec<ShardFailure> {
        self.0.sort_by_key(|(number, _)| *number);
        self.0.into_iter().map(|(_, failure)| failure).collect()
    }
}

/// Describes a shard that failed with `error`.
pub(crate) fn failure(snapshot: &ShardSnapshot, error: &Error, context: &SearchContext) -> ShardFailure {
    ShardFailure {
        index: snapshot.index.name.clone(),
        shard: snapshot.shard,
        node: context.node_id.to_string(),
        reason: error.to_request_error(),
    }
}

/// Returns the error of a shard that ran out of time, for requests that do not accept a partial answer.
pub(crate) fn time_exceeded() -> RequestError {
    RequestError::new(ErrorClass::TooManyRequests, "search_timeout_exception", "Time exceeded")
        .with("timed_out", true)
}
