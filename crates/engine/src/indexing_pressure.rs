//! Bytes of the writes that are in progress: "may another one come in?"
//!
//! A write takes several times its own size (its records and fields), so only a part of the memory may be
//! used by waiting bodies. When there is no room, the client is told to come back later, before the rest of
//! the body is read.
//!
//! Source: Elasticsearch's `IndexingPressure`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use limber_mapping::{ErrorClass, RequestError};

use crate::api::Result;

/// The bytes of all writes in progress, and their limit (`indexing_pressure.memory.limit`).
#[derive(Debug)]
pub struct IndexingPressure {
    limit_bytes: u64,
    current_bytes: AtomicU64,
    total_bytes: AtomicU64,
    rejection_count: AtomicU64,
}

/// What `_nodes/stats/indexing_pressure` shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexingPressureStats {
    /// `indexing_pressure.memory.limit`.
    pub limit_bytes: u64,
    /// Bytes of the writes that are in progress.
    pub current_bytes: u64,
    /// Total bytes of all writes accepted since the start.
    pub total_bytes: u64,
    /// Writes that were rejected since the start.
    pub rejection_count: u64,
}

impl IndexingPressure {
    /// Starts without writes in progress. All writes together may hold `limit_bytes`.
    pub fn new(limit_bytes: u64) -> Arc<IndexingPressure> {
        let zero = || AtomicU64::new(0);
        Arc::new(IndexingPressure {
            limit_bytes,
            current_bytes: zero(),
            total_bytes: zero(),
            rejection_count: zero(),
        })
    }

    /// Starts a write of which no bytes have arrived yet.
    pub fn begin(self: &Arc<Self>) -> PendingWrite {
        PendingWrite { pressure: self.clone(), bytes: 0 }
    }

    /// Returns the current statistics.
    pub fn stats(&self) -> IndexingPressureStats {
        IndexingPressureStats {
            limit_bytes: self.limit_bytes,
            current_bytes: self.current_bytes.load(Relaxed),
            total_bytes: self.total_bytes.load(Relaxed),
            rejection_count: self.rejection_count.load(Relaxed),
        }
    }
}

/// A write in progress. Dropping it gives its bytes back.
#[derive(Debug)]
pub struct PendingWrite {
    pressure: Arc<IndexingPressure>,
    bytes: u64,
}

impl PendingWrite {
    /// Adds `more_bytes` that are about to be read.
    ///
    /// # Errors
    /// Fails with `TooManyRequests` when there is no room for them; the write's size stays unchanged then.
    pub fn grow(&mut self, more_bytes: u64) -> Result<()> {
        let limit_bytes = self.pressure.limit_bytes;
        let outcome = self.pressure.current_bytes.fetch_update(Relaxed, Relaxed, |current| {
            current.checked_add(more_bytes).filter(|wanted| *wanted <= limit_bytes)
        });
        if let Err(current) = outcome {
            self.pressure.rejection_count.fetch_add(1, Relaxed);
            let others = current.saturating_sub(self.bytes);
            let own = self.bytes.saturating_add(more_bytes);
            let reason = format!(
                "rejected execution of coordinating operation [coordinating_and_primary_bytes={others}, replica_bytes=0, \
                 all_bytes={others}, coordinating_operation_bytes={own}, max_coordinating_and_primary_bytes={limit_bytes}]"
            );
            return Err(RequestError::new(
                ErrorClass::TooManyRequests,
                "es_rejected_execution_exception",
                reason,
            ));
        }
        self.bytes += more_bytes;
        self.pressure.total_bytes.fetch_add(more_bytes, Relaxed);
        Ok(())
    }
}

impl Drop for PendingWrite {
    fn drop(&mut self) {
        self.pressure.current_bytes.fetch_sub(self.bytes, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_beyond_the_limit_are_told_to_come_back() {
        let pressure = IndexingPressure::new(100);
        let mut first = pressure.begin();
        first.grow(60).expect("fits");
        let mut second = pressure.begin();
        let error = second.grow(41).expect_err("one too many");
        assert_eq!(
            (error.class, error.kind),
            (ErrorClass::TooManyRequests, "es_rejected_execution_exception")
        );
        assert_eq!(
            error.reason,
            "rejected execution of coordinating operation [coordinating_and_primary_bytes=60, replica_bytes=0, all_bytes=60, \
             coordinating_operation_bytes=41, max_coordinating_and_primary_bytes=100]"
        );
        second.grow(40).expect("fits");
        drop(first);
        let stats = pressure.stats();
        assert_eq!((stats.current_bytes, stats.total_bytes, stats.rejection_count), (40, 100, 1));
        drop(second);
        assert_eq!(pressure.stats().current_bytes, 0);
        assert!(pressure.begin().grow(u64::MAX).is_err());
    }
}
