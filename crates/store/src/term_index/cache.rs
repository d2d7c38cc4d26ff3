//! The first level: which pages are in memory, within the budget.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::time::Instant;

use crate::sync::{Condvar, Mutex, MutexGuard};

use super::field::{CachedPage, FieldPages, FieldSlots, NO_ENTRY};
use super::memory::PageMemory;
use super::policy::{Policy, Share};
use super::reservation::{Evicted, Reservation};
use super::slot::Condition;
use super::stats::{FieldFigures, TermIndexStats};
use crate::{Pool, Result};

/// Locks are held for well under a microsecond, and only for misses.
const SHARDS_MAX: usize = 8;
/// A shard must hold many pages, because a policy that chooses among few chooses badly.
const SHARD_BYTES_MIN: u64 = 16 << 20;

/// If this many victims in a row are pinned in the nanoseconds after they were chosen, the shard counts as
/// in use.
const CLAIMS_MAX: usize = 32;

/// Returns a new id for a segment that was just opened.
pub fn next_segment_core_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// `indices.segment_memory.off_heap.enable`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Pages are loaded when they are needed and stay within the budget.
    Cached,
    /// Pages are loaded when their segment opens and stay until it closes; there is no budget.
    Native,
}

#[derive(Default)]
struct Shard {
    policy: Mutex<Policy<CachedPage>>,
    /// Signals that a load ended, successfully or not.
    loaded: Condvar,
    /// Bytes of the pages in its policy, transients included.
    bytes: AtomicU64,
}

#[derive(Default)]
struct Counters {
    /// Number of failed pins; together with the slots' uses they yield the hits.
    failed_pins: AtomicU64,
    first_level_hits: AtomicU64,
    misses: AtomicU64,
    loads: AtomicU64,
    load_failures: AtomicU64,
    load_nanos: AtomicU64,
    evictions: AtomicU64,
    refused: AtomicU64,
    transients: AtomicU64,
    transient_bytes: AtomicU64,
    bypasses: AtomicU64,
    pages: AtomicU64,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// The cache of all term-index pages of a node.
pub struct TermIndexCache {
    pool: Arc<Pool>,
    is_native: AtomicBool,
    shards: Box<[Shard]>,
    /// Fields of open segments by [`FieldSlots::key`].
    fields: Mutex<BTreeMap<(u64, u32, u64), Arc<FieldSlots>>>,
    opened_count: AtomicU64,
    counters: Counters,
}

impl TermIndexCache {
    /// Bytes per page in addition to its memory.
    pub const ENTRY_BYTES: u64 = Policy::<CachedPage>::ENTRY_BYTES;

    /// Creates a cache. The limit of `pool` is the budget; only this cache may charge it.
    pub fn new(pool: Arc<Pool>, scheme: Scheme) -> Arc<TermIndexCache> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let shard_count = (pool.limit_bytes() / SHARD_BYTES_MIN).clamp(1, SHARDS_MAX as u64) as usize;
        let shard_count = shard_count.min(cores.next_power_of_two());
        Arc::new(TermIndexCache {
            pool,
            is_native: AtomicBool::new(scheme == Scheme::Native),
            shards: (0..shard_count).map(|_| Shard::default()).collect(),
            fields: Mutex::default(),
            opened_count: AtomicU64::new(0),
            counters: Counters::default(),
        })
    }

    /// Creates a cache with the native scheme and no budget, for tools and tests.
    pub fn native() -> Arc<TermIndexCache> {
        TermIndexCache::new(Pool::new("segment_memory", u64::MAX), Scheme::Native)
    }

    /// Returns the scheme in effect.
    pub fn scheme(&self) -> Scheme {
        if self.is_native.load(Ordering::Relaxed) { Scheme::Native } else { Scheme::Cached }
    }

    /// Whether segments load all pages when they open.
    pub fn loads_at_open(&self) -> bool {
        self.scheme() == Scheme::Native
    }

    /// Changes the scheme. A change to cached evicts down to the budget before it returns. A change to native
    /// does not load anything itself: open segments load their pages when told to, or page by page on demand.
    /// What is loaded after this has returned stays.
    pub fn set_scheme(&self, scheme: Scheme) {
        self.is_native.store(scheme == Scheme::Native, Ordering::SeqCst);
        self.evict_down();
        if scheme == Scheme::Native {
            // After this, a thread that was about to evict has either done so or sees the new scheme under
            // the lock.
            self.shards.iter().for_each(|shard| drop(shard.policy.lock()));
        }
    }

    /// Sets the limit of the pool. A smaller one evicts before this returns; pages in use are freed when
    /// they are unpinned.
    pub fn set_budget(&self, bytes: u64) {
        self.pool.set_limit_bytes(bytes);
        self.evict_down();
    }

    /// Registers the pages of one field of one open segment, of `page_lens` bytes each, without loading
    /// any. A page of 0 bytes is never requested.
    pub fn open_field(
        self: &Arc<Self>,
        segment_core: u64,
        field: u32,
        page_lens: impl Iterator<Item = u32>,
    ) -> FieldPages {
        let serial = self.opened_count.fetch_add(1, Ordering::Relaxed);
        let slots = Arc::new(FieldSlots::new(serial, segment_core, field, page_lens));
        self.fields.lock().insert(slots.key(), slots.clone());
        FieldPages::new(slots, self.clone())
    }

    /// Calls `each` for every field of every open segment, ordered by segment core and field.
    pub fn enumerate(&self, mut each: impl FnMut(FieldFigures)) {
        let fields: Vec<_> = self.fields.lock().values().cloned().collect();
        fields.iter().for_each(|field| each(field.figures()));
    }

    /// Returns counts and bytes for `_nodes/stats`; takes the lock of each shard once.
    pub fn stats(&self) -> TermIndexStats {
        let fields: Vec<_> = self.fields.lock().values().cloned().collect();
        let waiting = fields.iter().flat_map(|field| &field.slots).map(|slot| slot.slot.uses());
        let mut uses: u64 = waiting.sum();
        let mut overhead_bytes = 0;
        for shard in &self.shards {
            let policy = shard.policy.lock();
            uses += policy.uses_drained;
            overhead_bytes += policy.overhead_bytes();
        }
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counters = &self.counters;
        TermIndexStats {
            scheme: self.scheme(),
            budget_bytes: self.pool.limit_bytes(),
            resident_bytes: self.pool.used_bytes(),
            page_count: get(&counters.pages),
            hit_count: uses.saturating_sub(get(&counters.failed_pins)),
            first_level_hit_count: get(&counters.first_level_hits),
            miss_count: get(&counters.misses),
            load_count: get(&counters.loads),
            load_failure_count: get(&counters.load_failures),
            load_nanos: get(&counters.load_nanos),
            eviction_count: get(&counters.evictions),
            refused_count: get(&counters.refused),
            transient_count: get(&counters.transients),
            transient_bytes: get(&counters.transient_bytes),
            bypass_count: get(&counters.bypasses),
            overhead_bytes,
        }
    }

    /// Returns the bytes that may be charged.
    fn limit_bytes(&self) -> u64 {
        match self.scheme() {
            Scheme::Native => u64::MAX,
            Scheme::Cached => self.pool.limit_bytes(),
        }
    }

    fn shard_of(&self, page: &FieldSlots, number: u32) -> usize {
        // Uses high bits, because the sketch uses the low bits of the hash.
        (page.hash(number) >> 32) as usize % self.shards.len()
    }

    fn share(&self, incoming: u64) -> Share {
        Share { bytes: self.limit_bytes() / self.shards.len() as u64, incoming }
    }

    /// Called after a pin failed: pins the page under the lock, waits for the thread that loads it, or
    /// loads it. Returns `false` if it does not fit.
    pub(super) fn pin_or_load(
        &self,
        page: CachedPage,
        load: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<bool> {
        count(&self.counters.failed_pins);
        let shard_number = self.shard_of(&page.field, page.number);
        let shard = &self.shards[shard_number];
        let mut policy = shard.policy.lock();
        let slot = &page.slot().slot;
        loop {
            match slot.condition() {
                Condition::Empty => break,
                Condition::Loading => shard.loaded.wait(&mut policy),
                Condition::Resident => {
                    slot.pin_resident();
                    count(&self.counters.first_level_hits);
                    return Ok(true);
                }
                Condition::Doomed if self.pool.used_bytes() <= self.limit_bytes() => {
                    self.revive(&mut policy, &page);
                }
                Condition::Doomed => {
                    count(&self.counters.misses);
                    count(&self.counters.bypasses);
                    return Ok(false);
                }
            }
        }
        slot.begin_load();
        policy.record(&page);
        drop(policy);
        count(&self.counters.misses);

        let loading = Loading { shard, page: &page };
        let weight = weight_of(page.slot().len);
        let memory = self
            .reserve(weight, page.slot().len, shard_number)
            .and_then(|reservation| reservation.into_memory());
        let Some(mut reservation) = memory else {
            count(&self.counters.bypasses);
            return Ok(false);
        };
        let started = Instant::now();
        if let Err(error) = load(reservation.bytes_mut()) {
            count(&self.counters.load_failures);
            return Err(error);
        }
        self.counters.load_nanos.fetch_add(started.elapsed().as_nanos() as u64, Ordering::Relaxed);
        count(&self.counters.loads);
        count(&page.field.load_count);
        loading.publish(self, reservation);
        Ok(true)
    }

    /// Reserves `weight` bytes for a page of `len` bytes and evicts as needed; `None` if everything else is
    /// in use.
    fn reserve(&self, weight: u64, len: u32, own_shard: usize) -> Option<Reservation<'_>> {
        let mut reservation = Reservation::new(&self.pool, weight, len);
        while !reservation.take_what_lacks(|| self.limit_bytes()) {
            match self.evict_one(own_shard, weight) {
                Some(evicted) => reservation.reuse(evicted),
                // The scheme changed after the charge was refused; now everything fits.
                None if self.scheme() == Scheme::Native => {}
                None => return None,
            }
        }
        Some(reservation)
    }

    /// Evicts one page. It comes from the new page's own shard if that has its share, otherwise from the
    /// fullest shard; if all pages there are in use, from any other.
    fn evict_one(&self, own_shard: usize, incoming: u64) -> Option<Evicted> {
        let bytes = |number: usize| self.shards[number].bytes.load(Ordering::Relaxed);
        let share = self.share(incoming);
        let first = if bytes(own_shard) + incoming > share.bytes {
            own_shard
        } else {
            (0..self.shards.len()).max_by_key(|&number| bytes(number)).unwrap_or(own_shard)
        };
        let others = (0..self.shards.len()).filter(|&number| number != first);
        std::iter::once(first).chain(others).find_map(|number| {
            let incoming = if number == own_shard { incoming } else { 0 };
            self.evict_from(number, self.share(incoming))
        })
    }

    fn evict_from(&self, shard: usize, share: Share) -> Option<Evicted> {
        let shard = &self.shards[shard];
        let mut policy = shard.policy.lock();
        if self.scheme() == Scheme::Native {
            return None;
        }
        for _ in 0..CLAIMS_MAX {
            let victim = policy.victim(share)?;
            let page = policy.member(victim.entry).clone();
            if let Some(memory) = page.slot().slot.claim() {
                count(&self.counters.evictions);
                count(&page.field.eviction_count);
                if victim.refused {
                    count(&self.counters.refused);
                }
                return Some(self.take_out(shard, &mut policy, &page, memory));
            }
            // It was pinned after the policy checked.
            policy.keep(victim.entry);
        }
        None
    }

    /// Removes a page whose memory was claimed from the shard; its bytes stay charged to the pool.
    fn take_out(
        &self,
        shard: &Shard,
        policy: &mut MutexGuard<'_, Policy<CachedPage>>,
        page: &CachedPage,
        memory: PageMemory,
    ) -> Evicted {
        let entry = page.slot().entry.swap(NO_ENTRY, Ordering::Relaxed);
        let weight = policy.weight(entry);
        policy.remove(entry);
        shard.bytes.fetch_sub(weight, Ordering::Relaxed);
        self.counters.pages.fetch_sub(1, Ordering::Relaxed);
        Evicted { memory, weight }
    }

    fn free(&self, evicted: Evicted) {
        drop(evicted.memory);
        self.pool.give_back(evicted.weight);
    }

    /// Evicts pages that are not in use and dooms the others, until the budget holds.
    fn evict_down(&self) {
        let is_over = || self.pool.used_bytes() > self.limit_bytes();
        fence(Ordering::SeqCst);
        while is_over() {
            let Some(evicted) = self.evict_one(0, 0) else { break };
            self.free(evicted);
        }
        for shard in &self.shards {
            let mut policy = shard.policy.lock();
            let entries: Vec<u32> = policy.entries_in_use().collect();
            for entry in entries {
                if !is_over() {
                    return;
                }
                let page = policy.member(entry).clone();
                let slot = &page.slot().slot;
                if slot.condition() != Condition::Resident {
                    continue;
                }
                policy.detach(entry);
                let memory = if slot.doom() { slot.claim() } else { None };
                let Some(memory) = memory else {
                    self.count_transient(policy.weight(entry));
                    continue;
                };
                count(&self.counters.evictions);
                count(&page.field.eviction_count);
                self.free(self.take_out(shard, &mut policy, &page, memory));
            }
        }
    }

    fn count_transient(&self, weight: u64) {
        count(&self.counters.transients);
        self.counters.transient_bytes.fetch_add(weight, Ordering::Relaxed);
    }

    fn uncount_transient(&self, weight: u64) {
        self.counters.transient_bytes.fetch_sub(weight, Ordering::Relaxed);
    }

    /// Revives a doomed page, because it fits into the budget again.
    fn revive(&self, policy: &mut Policy<CachedPage>, page: &CachedPage) {
        let entry = page.slot().entry.load(Ordering::Relaxed);
        page.slot().slot.revive();
        policy.readmit(entry);
        self.uncount_transient(policy.weight(entry));
    }

    /// Frees a doomed page after its last pin, unless it was revived or claimed meanwhile.
    #[cold]
    pub(super) fn release(&self, page: &CachedPage) {
        let shard = &self.shards[self.shard_of(&page.field, page.number)];
        let mut policy = shard.policy.lock();
        let slot = &page.slot().slot;
        if slot.condition() != Condition::Doomed {
            return;
        }
        if let Some(memory) = slot.claim() {
            count(&self.counters.evictions);
            count(&page.field.eviction_count);
            let evicted = self.take_out(shard, &mut policy, page, memory);
            drop(policy);
            self.uncount_transient(evicted.weight);
            self.free(evicted);
        }
    }

    /// Frees the pages of a field whose reader was dropped.
    pub(super) fn close_field(&self, field: &Arc<FieldSlots>) {
        for (number, page_slot) in (0u32..).zip(&field.slots) {
            let page = CachedPage { field: field.clone(), number };
            let shard = &self.shards[self.shard_of(field, number)];
            if page_slot.slot.condition() == Condition::Empty && page_slot.slot.uses() == 0 {
                continue;
            }
            let mut policy = shard.policy.lock();
            let is_transient = page_slot.slot.condition() == Condition::Doomed;
            // SAFETY: references to pages borrow the `FieldPages` that is being dropped, so there are none.
            if let Some(memory) = unsafe { page_slot.slot.take() } {
                let evicted = self.take_out(shard, &mut policy, &page, memory);
                drop(policy);
                if is_transient {
                    self.uncount_transient(evicted.weight);
                }
                self.free(evicted);
            } else {
                policy.record(&page);
            }
        }
        self.fields.lock().remove(&field.key());
    }
}

/// Returns the bytes charged for a page of `len` bytes.
fn weight_of(len: u32) -> u64 {
    PageMemory::allocated_bytes(len as usize) as u64 + TermIndexCache::ENTRY_BYTES
}

/// Guard of the thread that loads a page; on drop, the waiting threads continue, whatever happened.
struct Loading<'c> {
    shard: &'c Shard,
    page: &'c CachedPage,
}

impl Loading<'_> {
    fn publish(self, cache: &TermIndexCache, reservation: Reservation<'_>) {
        let slot = self.page.slot();
        let weight = reservation.weight;
        let memory = reservation.into_page();
        let mut policy = self.shard.policy.lock();
        // The budget may have been lowered during the load.
        let is_doomed = cache.pool.used_bytes() > cache.limit_bytes();
        let entry = policy.insert(self.page.clone(), weight, cache.share(weight));
        slot.entry.store(entry, Ordering::Relaxed);
        self.shard.bytes.fetch_add(weight, Ordering::Relaxed);
        count(&cache.counters.pages);
        if is_doomed {
            policy.detach(entry);
            cache.count_transient(weight);
        }
        slot.slot.publish(memory, is_doomed);
        // Dropping `self` wakes the waiting threads.
    }
}

impl Drop for Loading<'_> {
    fn drop(&mut self) {
        let _policy = self.shard.policy.lock();
        // A published page is still pinned by this thread, so no other thread can be loading it.
        if self.page.slot().slot.condition() == Condition::Loading {
            self.page.slot().slot.cancel_load();
        }
        self.shard.loaded.notify_all();
    }
}
