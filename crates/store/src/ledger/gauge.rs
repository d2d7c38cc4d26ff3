//! A limit and the bytes used of it.

use std::sync::atomic::{AtomicU64, Ordering};

/// A limit and the bytes used of it.
#[derive(Debug)]
pub(super) struct Gauge {
    limit_bytes: AtomicU64,
    used_bytes: AtomicU64,
    tripped_count: AtomicU64,
}

impl Gauge {
    pub(super) fn new(limit_bytes: u64) -> Gauge {
        let (used_bytes, tripped_count) = (AtomicU64::new(0), AtomicU64::new(0));
        Gauge { limit_bytes: AtomicU64::new(limit_bytes), used_bytes, tripped_count }
    }

    pub(super) fn limit(&self) -> u64 {
        self.limit_bytes.load(Ordering::Relaxed)
    }

    pub(super) fn set_limit(&self, bytes: u64) {
        self.limit_bytes.store(bytes, Ordering::Relaxed);
    }

    pub(super) fn used(&self) -> u64 {
        self.used_bytes.load(Ordering::Relaxed)
    }

    pub(super) fn tripped(&self) -> u64 {
        self.tripped_count.load(Ordering::Relaxed)
    }

    pub(super) fn trip(&self) {
        self.tripped_count.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn add(&self, bytes: u64) {
        self.used_bytes.fetch_add(bytes, Ordering::AcqRel);
    }

    /// Adds `bytes` if the sum stays within `limit_bytes`; otherwise returns the used bytes as `Err`.
    pub(super) fn add_within(&self, bytes: u64, limit_bytes: u64) -> std::result::Result<(), u64> {
        let outcome = self.used_bytes.fetch_update(Ordering::AcqRel, Ordering::Acquire, |used| {
            used.checked_add(bytes).filter(|&wanted| wanted <= limit_bytes)
        });
        outcome.map(drop)
    }

    pub(super) fn subtract(&self, bytes: u64) {
        self.used_bytes.fetch_sub(bytes, Ordering::AcqRel);
    }
}
