//! The scrub: "is every byte on the disk still what was written?", asked all the time, slowly.
//!
//! Rot in a file that nobody reads is found by no reader, and by a merge only once it is too late to take the
//! bytes from elsewhere. A thread of its own reads all committed files in turn, at
//! `indices.scrub.max_bytes_per_sec` (0: off), and begins again `indices.scrub.interval` after the beginning
//! of the last pass. It holds no lock while it reads or sleeps. Where it was is forgotten with the process: a
//! pass begins [`FIRST_PASS_AFTER`] the start.
//!
//! The same thread notices maps that could not be read ([`limber_store::mapped`]) within [`LOOK_EVERY`], and
//! looks at the lengths of files in turn, [`LENGTHS_AT_ONCE`] each time: a file that was cut within its last
//! page raises no fault and reads as zeros there.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use limber_segment::{Error, Segment};
use limber_store::mapped::fault_count;
use limber_store::sync::Mutex;
use serde_json::{Value, json};

use crate::node::Node;
use crate::shard::Shard;

/// A node that starts has other things to read.
const FIRST_PASS_AFTER: Duration = Duration::from_secs(600);
/// Longest sleep between two looks at settings, faults and the end of the node.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Files whose length is looked at each time: a thousand a second, at about a microsecond each.
const LENGTHS_AT_ONCE: usize = 50;

const RATE: &str = "indices.scrub.max_bytes_per_sec";
const INTERVAL: &str = "indices.scrub.interval";

/// What the scrub has done since the node started.
#[derive(Default)]
pub(in crate::node) struct Scrub {
    passes: AtomicU64,
    bytes: AtomicU64,
    /// Monotonic; 0: no pass has begun.
    begun_nanos: AtomicU64,
    seen_faults: AtomicU64,
    /// Segments whose lengths have not had their turn yet.
    lengths: Mutex<Vec<(Arc<Shard>, Weak<Segment>)>>,
}

impl Node {
    /// A pass, if one is due. Blocks as long as it takes.
    pub(in crate::node) fn scrub_round(&self) {
        self.look();
        let interval =
            Duration::from_millis(self.settings.load().time_ms(INTERVAL).unwrap_or(u64::MAX / 2_000_000));
        let now_nanos = self.environment.clock.monotonic_nanos();
        let begun_nanos = self.scrub.begun_nanos.load(Ordering::Relaxed);
        if begun_nanos == 0 {
            // As if a pass had begun so long ago that the next one is due at the right time.
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

    /// Reads every committed byte now, as fast as it can be read.
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

    /// Sleeps as long as `bytes` may take; what is set meanwhile counts at once.
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
            self.look();
        }
        Ok(())
    }

    /// Says which files could not be read under their maps, and looks at the lengths of some.
    fn look(&self) {
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
            // A file that is gone was merged away; what the disk says otherwise, readers are told as well.
            if let Err(Error::Store(limber_store::Error::Corrupt { .. })) = segment.verify_lengths() {
                shard.report_damage();
            }
        }
    }

    /// `_nodes/stats`: what was read, and the damage that is known.
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
