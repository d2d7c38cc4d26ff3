//! A refusal for want of memory.

/// A budget has no room; becomes Elasticsearch's `circuit_breaking_exception`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "[{pool}] Data too large, data for [{label}] would be [{wanted_bytes}b], which is larger than the limit of [{limit_bytes}b]"
)]
pub struct NoRoom {
    /// The pool that has no room.
    pub pool: &'static str,
    /// What the memory was wanted for.
    pub label: String,
    /// What the pool would hold with it.
    pub wanted_bytes: u64,
    /// What the pool may hold.
    pub limit_bytes: u64,
}
