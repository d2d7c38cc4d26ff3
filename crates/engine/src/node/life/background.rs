//! Background work: refresh, translog sync, flush, merges, lifecycles, recovery of failed shards, the disk
//! monitor.
//!
//! All threads are started here and end with the node. Each round is a method of [`Node`], so that tests
//! without threads can call it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use limber_store::DiskPart;
use serde_json::{Map, Value};

use crate::api::IndicesOptions;
use crate::catalog::IndexMetadata;
use crate::environment::part_of;
use crate::node::Node;
use crate::settings::Durability;
use crate::shard::{Shard, is_filling, largest_buffer};
use crate::tasks::waiting::wait_until;

/// How often the scheduler checks for work.
const TICK: Duration = Duration::from_millis(50);
/// Ticks per second.
const SECOND_TICKS: u64 = 20;

pub(in crate::node) struct Background {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Background {
    pub(in crate::node) fn start(node: &Arc<Node>) -> Background {
        let stop = Arc::new(AtomicBool::new(false));
        let mut background = Background { stop: stop.clone(), threads: Vec::new() };
        // Each round has its own thread, so that a replay that takes minutes, or a disk that does not
        // respond, delays none of the others.
        for round in Round::ALL {
            let threads = if round == Round::Merge { merge_threads() } else { 1 };
            for _ in 0..threads {
                background.spawn(node, round);
            }
        }
        background
    }

    fn spawn(&mut self, node: &Arc<Node>, round: Round) {
        let name = format!("{round:?}").to_lowercase();
        let buffers_thread = (round == Round::Buffers).then(|| node.clone());
        let (node, stop): (Weak<Node>, _) = (Arc::downgrade(node), self.stop.clone());
        let run = move || {
            let mut tick = 0u64;
            while !stop.load(Ordering::Acquire) {
                std::thread::park_timeout(TICK);
                let Some(node) = node.upgrade() else { return };
                if stop.load(Ordering::Acquire) {
                    return;
                }
                tick += 1;
                if !tick.is_multiple_of(round.every_ticks()) {
                    continue;
                }
                // A panic in a round is a bug and is logged; the rounds continue.
                let run = std::panic::AssertUnwindSafe(|| node.run_round(round));
                if std::panic::catch_unwind(run).is_err() {
                    tracing::error!(?round, "a background round panicked");
                }
            }
        };
        // Transforms search, and run scripts and pipelines.
        match limber_store::sync::thread_builder(name.clone()).spawn(run) {
            Ok(thread) => {
                if let Some(node) = buffers_thread {
                    let _ = node.buffers_thread.set(thread.thread().clone());
                }
                self.threads.push(thread);
            }
            Err(error) => tracing::error!(%error, name, "background thread does not start"),
        }
    }

    /// Stops the threads and waits for them.
    pub(in crate::node) fn stop(self) {
        self.stop.store(true, Ordering::Release);
        let this = std::thread::current().id();
        for thread in self.threads {
            // One of the node's own threads may drop the last reference to it, and cannot wait for itself.
            if thread.thread().id() != this {
                let _ = thread.join();
            }
        }
    }

    /// Stops the threads without waiting for them.
    pub(in crate::node) fn abandon(self) {
        self.stop.store(true, Ordering::Release);
    }
}

/// The repeated work of one background thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Round {
    /// Refreshes the shards whose refresh interval has passed.
    Refresh,
    /// Writes indexing buffers to segments before their memory runs out.
    Buffers,
    /// Makes the translogs of indices with `async` durability durable, and the checkpoints of all.
    Sync,
    /// Flushes the shards that are due.
    Flush,
    /// Tries to open failed shards again.
    Recovery,
    /// Watches the free disk space.
    Disk,
    /// Brings the metadata files of indices up to date with the node's state.
    Metadata,
    /// Drops expired contexts, results and cache entries.
    Expiry,
    /// Merges segments.
    Merge,
    /// Index lifecycles and those of data streams, snapshot policies, transforms.
    Lifecycle,
    /// Reads what is on disk, to find damage.
    Scrub,
}

impl Round {
    /// All rounds. Each has its own thread.
    pub const ALL: [Round; 11] = [
        Round::Refresh,
        Round::Buffers,
        Round::Sync,
        Round::Flush,
        Round::Recovery,
        Round::Disk,
        Round::Metadata,
        Round::Expiry,
        Round::Merge,
        Round::Lifecycle,
        Round::Scrub,
    ];

    fn every_ticks(self) -> u64 {
        match self {
            Round::Recovery | Round::Disk | Round::Metadata | Round::Expiry => SECOND_TICKS,
            _ => 1,
        }
    }
}

fn merge_threads() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| (cores.get() / 2).clamp(1, 4))
}

impl Node {
    /// Runs one round of one background thread. Tests without threads decide when each round runs.
    pub fn run_round(&self, round: Round) {
        match round {
            Round::Refresh => self.refresh_round(),
            Round::Buffers => self.buffers_round(),
            Round::Sync => self.sync_round(),
            Round::Flush => self.flush_round(),
            Round::Recovery => self.recovery_round(),
            Round::Disk => self.watch_disk(),
            Round::Metadata => {
                self.metadata_round();
                self.remove_unfinished_copies();
            }
            Round::Expiry => self.expiry_round(),
            Round::Merge => self.merge_round(),
            Round::Lifecycle => {
                self.lifecycle_tick();
                self.stream_lifecycle_tick();
                self.snapshot_policy_tick();
                self.transform_tick();
            }
            Round::Scrub => self.scrub_round(),
        }
    }

    pub(in crate::node) fn shards(&self) -> Vec<Arc<Shard>> {
        self.live.load().values().flat_map(|index| index.shards.iter().cloned()).collect()
    }

    /// Runs one round of everything that the background threads do. For tests without threads.
    pub fn maintain(&self) {
        self.refresh_round();
        self.buffers_round();
        self.sync_round();
        self.flush_round();
        self.recover_shards(true);
        self.retry_indices();
        self.expiry_round();
        self.watch_disk();
        self.metadata_round();
        self.merge_round();
    }

    /// Refreshes the shards whose refresh interval has passed.
    fn refresh_round(&self) {
        let mut any = false;
        for shard in self.shards() {
            if !shard.is_refresh_due() {
                continue;
            }
            match shard.refresh_if_dirty() {
                Ok(did) => any |= did,
                Err(error) => {
                    tracing::warn!(index = %shard.index.name, shard = shard.number, %error, "not refreshed")
                }
            }
        }
        if any {
            self.note_refresh();
        }
    }

    /// Writes indexing buffers to segments before their memory runs out, so that writers need not wait for
    /// that.
    pub(in crate::node) fn buffers_round(&self) {
        let shards = self.shards();
        let write = |shard: &Shard| match shard.write_buffers() {
            Ok(()) => true,
            Err(error) => {
                // It is not a failure if the index was deleted meanwhile.
                if shard.core().is_ok() {
                    tracing::warn!(index = %shard.index.name, shard = shard.number, %error, "buffers not written");
                }
                false
            }
        };
        for shard in &shards {
            if shard.core().is_ok_and(|core| core.has_large_buffer.swap(false, Ordering::AcqRel)) {
                write(shard);
            }
        }
        while is_filling(&self.ledger.indexing) && !self.closed.load(Ordering::Acquire) {
            match largest_buffer(&shards, &self.ledger.indexing) {
                Some(shard) if write(shard) => {}
                _ => return,
            }
        }
    }

    /// Makes the translogs of indices with `async` durability durable. Their interval is at least 100 ms, so
    /// doing this every tick is often enough.
    pub(in crate::node) fn sync_round(&self) {
        for shard in self.shards() {
            if shard.index.settings.load().durability == Durability::Async
                && let Err(error) = shard.sync_if_due()
            {
                tracing::warn!(index = %shard.index.name, shard = shard.number, %error, "translog not synced");
            }
            // A shard that is not open is reported elsewhere.
            if shard.is_started()
                && let Err(error) = shard.sync_checkpoint_if_due()
            {
                tracing::warn!(index = %shard.index.name, shard = shard.number, %error, "translog checkpoint not synced");
            }
        }
    }

    /// Flushes the shards that are due.
    pub(in crate::node) fn flush_round(&self) {
        for shard in self.shards() {
            if let Err(error) = shard.flush_if_due() {
                tracing::warn!(index = %shard.index.name, shard = shard.number, %error, "not flushed");
            }
        }
    }

    /// Closes expired search contexts and drops cache entries that can no longer be found.
    pub(in crate::node) fn expiry_round(&self) {
        self.contexts.expire();
        self.async_searches.expire();
        self.sweep_caches();
    }

    /// Merges until no shard has anything to merge.
    pub(in crate::node) fn merge_round(&self) {
        for shard in self.shards() {
            while !self.closed.load(Ordering::Acquire) {
                match shard.merge_once() {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(error) => {
                        tracing::warn!(index = %shard.index.name, shard = shard.number, %error, "merge failed");
                        break;
                    }
                }
            }
        }
    }

    /// Notes that a write was refused because the disk is full. Indices are blocked at once, and released
    /// when the monitor sees free space again.
    pub(in crate::node) fn note_full_disk(&self) {
        self.is_flooded.store(true, Ordering::Release);
    }

    /// Whether the disk is over its flood stage or has refused a write.
    pub fn is_disk_full(&self) -> bool {
        self.is_flooded.load(Ordering::Acquire)
    }

    /// Sets `index.blocks.read_only_allow_delete` on the indices with shards in a data folder that has
    /// reached the flood stage, and removes it when that is over, like Elasticsearch's
    /// `DiskThresholdMonitor`.
    pub fn watch_disk(&self) {
        let settings = self.settings.load();
        if !settings.boolean("cluster.routing.allocation.disk.threshold_enabled") {
            self.is_flooded.store(false, Ordering::Release);
            return;
        }
        let parts = self.environment.disk.parts();
        let Ok(stage) = settings.flood_stage() else { return };
        if parts.iter().all(|part| part.space.is_none()) {
            return;
        }
        let is_flooded = |part: &DiskPart| {
            part.space.is_some_and(|space| stage.is_exceeded(space.total_bytes, space.available_bytes))
        };
        let flooded: Vec<&DiskPart> = parts.iter().filter(|part| is_flooded(part)).collect();
        let was_noted = self.is_flooded.swap(!flooded.is_empty(), Ordering::AcqRel);
        if !was_noted {
            for part in &flooded {
                tracing::warn!(
                    path = %part.root.display(),
                    available_bytes = part.space.unwrap_or_default().available_bytes,
                    "flood stage disk watermark exceeded, all indices with shards here will be marked read-only"
                );
            }
        }
        let live = self.live.load_full();
        let is_on_flooded = |index: &IndexMetadata| match live.get(&index.uuid) {
            _ if flooded.is_empty() => false,
            Some(live) if parts.len() > 1 => live.shards.iter().any(|shard| {
                let part = part_of(&parts, shard.directory.path());
                part.is_some_and(&is_flooded)
            }),
            // All data lies in the same folder, or it is unknown where it lies.
            Some(_) | None => true,
        };
        let wanted: Vec<(String, bool)> = self
            .catalog
            .load()
            .indices
            .values()
            .filter(|index| index.damage.is_none())
            .map(|index| (index, is_on_flooded(index)))
            .filter(|(index, blocked)| index.typed.blocks.read_only_allow_delete != *blocked)
            .map(|(index, blocked)| (index.name.to_string(), blocked))
            .collect();
        for (name, blocked) in wanted {
            let mut flat = Map::new();
            let value = if blocked { Value::from("true") } else { Value::Null };
            flat.insert("index.blocks.read_only_allow_delete".into(), value);
            let options = IndicesOptions { ignore_unavailable: true, ..IndicesOptions::METADATA_OPEN_CLOSED };
            // On a completely full disk the block itself cannot be stored, but writes fail there anyway.
            if let Err(error) = self.change_settings(&name, options, flat, false) {
                tracing::warn!(index = name, %error, "flood stage block not changed");
            }
        }
    }

    /// Wakes the threads that wait for a refresh.
    pub(in crate::node) fn note_refresh(&self) {
        *self.refresh_count.lock() += 1;
        self.refreshed.notify_all();
    }

    /// Waits until searches can find what was written to the shard, and refreshes if no scheduled refresh
    /// comes. Returns whether it was refreshed here.
    pub(in crate::node) fn wait_for_refresh(&self, shard: &Shard) -> bool {
        let interval = shard.index.settings.load().refresh_interval_ms;
        let (Some(interval_ms), true) = (interval, self.config.background_threads) else {
            return shard.refresh().is_ok();
        };
        let Ok(core) = shard.core() else { return false };
        core.search_idle.note_search(shard.interval_millis());
        let wanted = core.begun_refreshes() + 1;
        let deadline = std::time::Instant::now() + Duration::from_millis(2 * interval_ms + 1000);
        let came = wait_until(deadline, |step| {
            let mut count = self.refresh_count.lock();
            if core.finished_refreshes() < wanted && !step.is_zero() {
                self.refreshed.wait_for(&mut count, TICK.min(step));
            }
            Ok((core.finished_refreshes() >= wanted).then_some(()))
        });
        // On an error nobody waits for the refresh any more, or too many do. The scheduled refresh will come,
        // and the write has been made.
        matches!(came, Ok(None)) && shard.refresh().is_ok()
    }
}
