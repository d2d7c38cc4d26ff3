//! The error for memory that is refused.

/// A budget is exhausted; becomes Elasticsearch's `circuit_breaking_exception`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "[{pool}] Data too large, data for [{label}] would be [{wanted_bytes}b], which is larger than the limit of [{limit_bytes}b]"
)]
pub struct MemoryLimitExceeded {
    /// The pool that is full.
    pub pool: &'static str,
    /// What the memory is for.
    pub label: String,
    /// Bytes that the pool would hold.
    pub wanted_bytes: u64,
    /// Limit of the pool.
    pub limit_bytes: u64,
}
