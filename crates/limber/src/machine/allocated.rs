//! Bytes that a thread has allocated and not freed: "how much of the process's memory is due to this thread?"
//!
//! jemalloc keeps both counters for every thread anyway; reading them directly takes a nanosecond.

use tikv_jemalloc_ctl::thread::{ThreadLocal, allocatedp, deallocatedp};
use tikv_jemalloc_ctl::{epoch, stats};

thread_local! {
    static COUNTERS: Option<(ThreadLocal<u64>, ThreadLocal<u64>)> =
        allocatedp::read().ok().zip(deallocatedp::read().ok());
}

/// Returns the bytes that the calling thread has ever allocated, minus those that it has ever freed. Negative
/// for a thread that frees what others allocate.
pub fn allocated_bytes() -> i64 {
    let counters = COUNTERS.try_with(|counters| *counters).ok().flatten();
    counters.map_or(0, |(allocated, freed)| allocated.get().wrapping_sub(freed.get()) as i64)
}

/// The memory that the allocator holds now, in bytes.
#[derive(Debug, Default, Clone, Copy)]
pub struct AllocatorStats {
    /// Allocations that have not been freed.
    pub allocated_bytes: u64,
    /// Pages that contain at least one of these allocations.
    pub active_bytes: u64,
    /// Pages that are in memory: the active ones, the allocator's own, and freed ones that it keeps.
    pub resident_bytes: u64,
}

/// Reads the statistics of the allocator. Takes some ten microseconds: it adds up those of its arenas.
pub fn allocator_stats() -> AllocatorStats {
    let _ = epoch::advance();
    let bytes = |read: tikv_jemalloc_ctl::Result<usize>| read.unwrap_or(0) as u64;
    AllocatorStats {
        allocated_bytes: bytes(stats::allocated::read()),
        active_bytes: bytes(stats::active::read()),
        resident_bytes: bytes(stats::resident::read()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_counts_while_it_is_held() {
        let before = allocated_bytes();
        let held = std::hint::black_box(vec![1u8; 10 << 20]);
        assert!((10 << 20..11 << 20).contains(&(allocated_bytes() - before)));
        drop(held);
        assert!((allocated_bytes() - before).abs() < 1 << 20);
    }
}
