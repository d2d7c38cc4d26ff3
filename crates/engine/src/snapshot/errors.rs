//! What goes wrong with snapshots, in Elasticsearch's words.
//!
//! Source: `RepositoryException`, `RepositoryMissingException`, `SnapshotException` and those derived from
//! them.

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

/// Two have changed a repository at once; what the later one did does not count.
pub(crate) fn concurrent_modification(repository: &str, why: impl std::fmt::Display) -> RequestError {
    repository_error(repository, format!("concurrent modification of the repository: {why}"))
}

/// A failure of the repository's storage, or of the ledger.
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

/// `name`: with the snapshot's uuid where it has one.
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
