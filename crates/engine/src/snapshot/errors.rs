//! Errors of snapshots, in Elasticsearch's words.
//!
//! Source: `RepositoryException`, `RepositoryMissingException`, `SnapshotException` and their subclasses.

use limber_mapping::RequestError;
use limber_store::Error as StoreError;

pub(crate) fn repository_error(repository: &str, why: impl std::fmt::Display) -> RequestError {
    RequestError::internal("repository_exception", format!("[{repository}] {why}"))
}

pub(crate) fn repository_missing(repository: &str) -> RequestError {
    RequestError::not_found("repository_missing_exception", format!("[{repository}] missing"))
}

pub(crate) fn verification_error(repository: &str, why: impl std::fmt::Display) -> RequestError {
    RequestError::internal("repository_verification_exception", format!("[{repository}] {why}"))
}

/// Makes the error for two concurrent changes to a repository. The later one has no effect.
pub(crate) fn concurrent_modification(repository: &str, why: impl std::fmt::Display) -> RequestError {
    repository_error(repository, format!("concurrent modification of the repository: {why}"))
}

/// Converts an error of the repository's storage or of the circuit breaker.
pub(crate) fn storage_error(repository: &str, error: &StoreError) -> RequestError {
    match error {
        StoreError::LimitExceeded(_) => crate::shard::store_error(error),
        other => repository_error(repository, other),
    }
}

pub(crate) fn invalid_snapshot_name(repository: &str, name: &str, why: &str) -> RequestError {
    let reason = format!("[{repository}:{name}] Invalid snapshot name [{name}], {why}");
    RequestError::bad_request("invalid_snapshot_name_exception", reason)
}

pub(crate) fn snapshot_missing(repository: &str, name: &str) -> RequestError {
    RequestError::not_found("snapshot_missing_exception", format!("[{repository}:{name}] is missing"))
}

/// Makes an error about a snapshot. `name` includes the UUID if the snapshot has one.
pub(crate) fn snapshot_error(repository: &str, name: &str, why: impl std::fmt::Display) -> RequestError {
    RequestError::internal("snapshot_exception", format!("[{repository}:{name}] {why}"))
}

pub(crate) fn concurrent_execution(repository: &str, name: &str, why: &str) -> RequestError {
    let reason = format!("[{repository}:{name}] {why}");
    RequestError::unavailable("concurrent_snapshot_execution_exception", reason)
}

pub(crate) fn restore_error(repository: &str, name: &str, why: impl std::fmt::Display) -> RequestError {
    RequestError::internal("snapshot_restore_exception", format!("[{repository}:{name}] {why}"))
}
