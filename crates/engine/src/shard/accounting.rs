//! Memory for writes: "what do the buffers of a shard hold, and is there room for one chunk more?"

use std::sync::atomic::Ordering;

use super::core::{Core, Shard, is_filling};

impl Core {
    /// Returns the memory of buffers, version map and translog, and what writes in progress have or may need.
    pub(super) fn indexing_bytes(&self) -> u64 {
        self.buffered_bytes.load(Ordering::Relaxed)
            + self.reserved_bytes.load(Ordering::Relaxed)
            + self.versions.memory_bytes() as u64
            + self.translog.pending_bytes()
    }

    /// Sets the charge to what the core holds. Returns `false` if the pool is full; the charge has not grown
    /// then.
    pub(super) fn account(&self) -> bool {
        let mut charge = self.charge.lock();
        let (wanted, charged) = (self.indexing_bytes(), charge.bytes());
        charge.shrink_to(wanted.min(charged));
        wanted <= charged || charge.try_grow(wanted - charged)
    }

    /// Sets the charge to what the core holds, beyond the limit of the pool if need be.
    pub(super) fn account_always(&self) {
        if !self.account() {
            let mut charge = self.charge.lock();
            let missing = self.indexing_bytes().saturating_sub(charge.bytes());
            charge.grow_always(missing);
        }
    }
}

impl Shard {
    /// Charges what a chunk may need before it is parsed. If the pool is full, the node writes its largest
    /// buffers to segments.
    pub(super) fn reserve_memory(&self, reservation: &mut Reservation<'_>, bytes: usize) {
        let core = reservation.core;
        reservation.set(bytes as u64);
        if core.account() {
            if is_filling(&self.services.ledger.indexing) {
                self.write_buffers_soon();
            }
            return;
        }
        if let Some(host) = self.services.host.upgrade() {
            host.relieve_indexing_memory(&|| !core.account());
        }
        // A single document must always fit. The buffer is written right after the chunk.
        core.account_always();
    }
}

/// Memory that a write in progress has or may need besides what is already counted: its batch of records and
/// its chunk.
pub(super) struct Reservation<'c> {
    core: &'c Core,
    bytes: u64,
}

impl Reservation<'_> {
    pub(super) fn new(core: &Core) -> Reservation<'_> {
        Reservation { core, bytes: 0 }
    }

    pub(super) fn set(&mut self, bytes: u64) {
        self.core.reserved_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.core.reserved_bytes.fetch_sub(std::mem::replace(&mut self.bytes, bytes), Ordering::Relaxed);
    }
}

impl Drop for Reservation<'_> {
    /// Charges what the buffers hold now. That may be more than was reserved, also after a refused document,
    /// whose fields keep the memory that they allocated.
    fn drop(&mut self) {
        self.set(0);
        self.core.account_always();
    }
}
