//! The scrub: "is every byte on disk still what was written?", checked continuously and slowly.
//!
//! No reader notices damage in a file that is never read, and a merge notices it when the bytes may no longer
//! be available elsewhere. So a separate thread reads all committed files in turn, at
//! `indices.scrub.max_bytes_per_sec` (0 switches it off), and begins again `indices.scrub.interval` after the
//! last pass began. It holds no lock while it reads or sleeps. Its progress is not stored: the first pass
//! begins [`FIRST_PASS_AFTER`] the start.
//!
//! The same thread notices memory maps that could not be read ([`limber_store::mapped`]) within
//! [`LOOK_EVERY`], and checks the lengths of files in turn, [`LENGTHS_AT_ONCE`] at a time: a file that was
//! truncated within its last page raises no fault but reads as zeros there.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use limber_segment::{Error, Segment};
use limber_store::mapped::fault_count;
use limber_store::sync::Mutex;
use serde_json::{Value, json};

use crate::node::Node;
use crate::shard::Shard;

/// A starting node has more urgent things to read.
const FIRST_PASS_AFTER: Duration = Duration::from_secs(600);
/// Longest sleep between two checks of settings, faults and the node's end.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Files whose length is checked each time: a thousand per second, at about a microsecond each.
const LENGTHS_AT_ONCE: usize = 50;

const RATE: &str = "indices.scrub.max_bytes_per_sec";
const INTERVAL: &str = "indices.scrub.interval";

/// What the scrub has done since the node started.
#[derive(Default)]
pub(in crate::node) struct Scrub {
    passes: AtomicU64,
    bytes: AtomicU64,
    /// When the pass began, by the monotonic clock; 0 before the first pass.
    begun_nanos: AtomicU64,
    seen_faults: AtomicU64,
    /// Segments whose files are still to be checked for their length.
    lengths: Mutex<Vec<(Arc<Shard>, Weak<Segment>)>>,
}

impl Node {
    /// Runs a pass if one is due. Blocks for the whole pass.
    pub(in crate::node) fn scrub_round(&self) {
        self.check_files();
        let interval =
            Duration::from_millis(self.settings.load().time_ms(INTERVAL).unwrap_or(u64::MAX / 2_000_000));
        let now_nanos = self.environment.clock.monotonic_nanos();
        let begun_nanos = self.scrub.begun_nanos.load(Ordering::Relaxed);
        if begun_nanos == 0 {
            // Pretends that a pass began early enough for the first one to be due at the right time.
            let first_after = FIRST_PASS_AFTER.min(interval).as_nanos() as u64;
            let begun = now_nanos.saturating_add(first_after).saturating_sub(interval.as_nanos() as u64);
            self.scrub.begun_nanos.store(begun.max(1), Ordering::Relaxed);
            return;
        }
        if self.scrub_rate() == 0 || now_nanos.saturating_sub(begun_nanos) < interval.as_nanos() as u64 {
            return;
        }
        self.scrub.begun_nanos.store(now_nanos.max(1), Ordering::Relaxed);
        self.scrub_all(&mut |bytes| self.pace(bytes));
    }

    /// Reads every committed byte now, without a speed limit.
    pub fn scrub_now(&self) {
        self.scrub_all(&mut |_| Ok(()));
    }

    fn scrub_all(&self, pace: &mut dyn FnMut(u64) -> limber_segment::Result<()>) {
        let mut counted = |bytes: u64| {
            pace(bytes)?;
            self.scrub.bytes.fetch_add(bytes, Ordering::Relaxed);
            Ok(())
        };
        for shard in self.shards() {
            match shard.scrub(&mut counted) {
                Ok(()) => {}
                Err(Error::Cancelled) => return,
                Err(error) => {
                    tracing::warn!(index = %shard.index.name, shard = shard.number, %error, "not scrubbed");
                }
            }
        }
        self.scrub.passes.fetch_add(1, Ordering::Relaxed);
    }

    fn scrub_rate(&self) -> u64 {
        self.settings.load().bytes(RATE)
    }

    /// Sleeps for the time that `bytes` should take. Changed settings apply at once.
    fn pace(&self, bytes: u64) -> limber_segment::Result<()> {
        let mut left = 1.0;
        while left > 0.0 {
            let rate = self.scrub_rate();
            if rate == 0 || self.closed.load(Ordering::Acquire) {
                return Err(Error::Cancelled);
            }
            let whole = bytes as f64 / rate as f64;
            let step = (whole * left).min(LOOK_EVERY.as_secs_f64());
            std::thread::sleep(Duration::from_secs_f64(step));
            left -= step / whole;
            self.check_files();
        }
        Ok(())
    }

    /// Reports files whose memory maps could not be read, and checks the lengths of some files.
    fn check_files(&self) {
        let faults = fault_count();
        if self.scrub.seen_faults.swap(faults, Ordering::Relaxed) != faults {
            self.shards().iter().for_each(|shard| shard.report_damage());
        }
        let mut lengths = self.scrub.lengths.lock();
        if lengths.is_empty() {
            for shard in self.shards() {
                let segments = shard.core().map(|core| core.all_segments()).unwrap_or_default();
                lengths.extend(segments.iter().map(|segment| (shard.clone(), Arc::downgrade(segment))));
            }
        }
        let mut files = 0;
        while files < LENGTHS_AT_ONCE
            && let Some((shard, segment)) = lengths.pop()
        {
            let Some(segment) = segment.upgrade() else { continue };
            files += segment.file_count();
            // A missing file was merged away, and readers notice other errors of the disk themselves.
            if let Err(Error::Store(limber_store::Error::Corrupt { .. })) = segment.verify_lengths() {
                shard.report_damage();
            }
        }
    }

    /// Returns the scrub's part of `_nodes/stats`: what was read, and the known damage.
    pub fn integrity_stats(&self) -> Value {
        let mut damage = Vec::new();
        for shard in self.shards() {
            for known in shard.damage() {
                damage.push(json!({
                    "index": &*shard.index.name,
                    "shard": shard.number,
                    "file": known.file,
                    "offset": known.offset,
                    "expected": known.expected,
                    "found": known.found,
                }));
            }
        }
        json!({
            "passes": self.scrub.passes.load(Ordering::Relaxed),
            "size_in_bytes": self.scrub.bytes.load(Ordering::Relaxed),
            "map_faults": fault_count(),
            "damage": damage,
        })
    }
}
