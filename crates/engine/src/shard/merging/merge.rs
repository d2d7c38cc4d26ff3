//! Merges: several segments become one while the shard continues to work.
//!
//! A merge reads the documents that searches see. Documents that are deleted while it runs, or whose deletion
//! is not published yet, are deleted again in the new segment when it is installed.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use limber_segment::{
    LiveDocs, MergeDictionary, Segment, SegmentId, SegmentView, merge_memory_bytes, merge_sorted,
};
use limber_store::Charge;

use super::policy::{Candidate, find_expunging_merge, find_forced_merge, find_merge};
use crate::api::{ForceMergeRequest, Result};
use crate::settings::MergeSettings;
use crate::shard::core::{Core, Shard};
use crate::shard::error::{segment_error, store_error};
use crate::shard::fence::Fence;
use crate::shard::segments::{SegmentEntry, SegmentList};

/// Speed limit of a background merge, in bytes per second. Lucene's `ConcurrentMergeScheduler` starts at 20
/// MB/s; merges here need the disk more than the processor, and modern disks are faster.
const THROTTLED_BYTES_PER_SECOND: u64 = 200 << 20;

/// Factor for `segments_per_tier` while documents stream in and nobody searches.
const RESTING_SEGMENTS_FACTOR: f64 = 2.0;

/// The share of `memory.limit`, in percent, from which open segments are crowded: they are merged by the
/// default policy then, whatever the policy of their index says, because they would leave no memory for
/// requests.
const CROWDED_SEGMENTS_PERCENT: u64 = 25;

/// Releases its segments when a merge ends, however it ends.
struct Claim(Vec<Arc<SegmentEntry>>);

impl Drop for Claim {
    fn drop(&mut self) {
        self.0.iter().for_each(|entry| entry.end_merge());
    }
}

impl Shard {
    /// Runs one merge if the policy finds one. Returns whether there may be more to merge.
    pub(crate) fn merge_once(&self) -> Result<bool> {
        // The health API reports a shard that does not open.
        let Ok(core) = self.core() else { return Ok(false) };
        let settings = self.index.settings.load_full();
        let most = settings.merge.max_thread_count.unwrap_or(usize::MAX) as u64;
        let rests = self.interval_millis() < core.merges_rest_until_millis.load(Ordering::Relaxed);
        if core.is_failed() || rests || core.merges_running.load(Ordering::Relaxed) >= most {
            return Ok(false);
        }
        let mut policy = match self.segments_are_crowded() {
            true => MergeSettings { auto_throttle: false, ..MergeSettings::default() },
            false => settings.merge.clone(),
        };
        let operations = core.next_seq_no.load(Ordering::Relaxed);
        if core.search_idle.puts_off_merges(self.interval_millis(), settings.search_idle_after_ms, operations)
        {
            policy.segments_per_tier *= RESTING_SEGMENTS_FACTOR;
        }
        self.merge_chosen(&core, policy.auto_throttle, false, |candidates| find_merge(candidates, &policy))
    }

    fn segments_are_crowded(&self) -> bool {
        let ledger = &self.services.ledger;
        ledger.segments.used_bytes() > ledger.limit_bytes / 100 * CROWDED_SEGMENTS_PERCENT
    }

    /// Carries out `_forcemerge`. Returns when it is done.
    pub(crate) fn force_merge(&self, request: &ForceMergeRequest) -> Result<()> {
        let core = self.core()?;
        if request.flush {
            self.flush_core(&core, false)?;
        } else {
            self.refresh_core(&core)?;
        }
        let settings = self.index.settings.load_full();
        loop {
            let did = match (request.only_expunge_deletes, request.max_num_segments) {
                (true, _) => {
                    self.merge_chosen(&core, false, true, |all| find_expunging_merge(all, &settings.merge))?
                }
                (false, Some(max)) => {
                    self.merge_chosen(&core, false, true, |all| find_forced_merge(all, max as usize))?
                }
                (false, None) => {
                    self.merge_chosen(&core, false, true, |all| find_merge(all, &settings.merge))?
                }
            };
            if !did {
                let busy = core.segments.load().iter().any(|entry| entry.merging.load(Ordering::Acquire));
                let is_reached = request
                    .max_num_segments
                    .is_none_or(|max| core.segments.load().len() <= max.max(1) as usize);
                if is_reached || !busy {
                    break;
                }
                // A background merge is working on the remaining segments and will end soon.
                limber_store::sync::sleep(std::time::Duration::from_millis(20));
            }
        }
        if request.flush {
            self.flush_core(&core, true)?;
        }
        // Damaged segments were left out.
        self.check_damage()
    }

    fn merge_chosen(
        &self,
        core: &Arc<Core>,
        is_throttled: bool,
        is_needed: bool,
        choose: impl Fn(&[Candidate]) -> Option<Vec<usize>>,
    ) -> Result<bool> {
        core.check()?;
        let (mut claim, mut views) = {
            // Holding `refreshing` makes choosing and claiming atomic, and keeps the published state
            // unchanged meanwhile.
            let _refreshing = core.refreshing.lock();
            let segments = core.segments.load_full();
            let candidates: Vec<Candidate> = segments.iter().map(|entry| candidate(entry)).collect();
            let Some(chosen) = choose(&candidates) else { return Ok(false) };
            let entries: Vec<Arc<SegmentEntry>> = chosen.iter().map(|&at| segments[at].clone()).collect();
            entries.iter().for_each(|entry| {
                entry.try_begin_merge();
            });
            let views: Vec<SegmentView> = entries.iter().map(|entry| entry.view()).collect();
            (Claim(entries), views)
        };
        let Some(_charge) = self.reserve_merge_memory(&mut claim, &mut views, is_needed)? else {
            return Ok(false);
        };
        let running = RunningMerge::begin(self, core, &views);
        let outcome = self.merge_views(core, &claim.0, &views, is_throttled, is_needed);
        drop(running);
        if let Err(error) = &outcome {
            self.blame(&views, error);
        }
        match outcome {
            Ok(()) => Ok(true),
            Err(limber_segment::Error::Cancelled) => Ok(false),
            // A failed merge changes nothing: the segments it read still exist.
            Err(limber_segment::Error::Store(error)) => {
                if error.is_disk_full()
                    && let Some(host) = self.services.host.upgrade()
                {
                    host.disk_is_full();
                }
                Err(crate::shard::error::disk_error(&error, &self.index.name))
            }
            Err(error) => Err(segment_error(&error)),
        }
    }

    /// Charges the memory of a merge. If it does not fit, the largest segments are left for a later merge,
    /// an eighth of them at a time, until it does. Returns `None` when not even two segments fit; if the
    /// merge `is_needed`, that is an error.
    fn reserve_merge_memory(
        &self,
        claim: &mut Claim,
        views: &mut Vec<SegmentView>,
        is_needed: bool,
    ) -> Result<Option<Charge>> {
        let pool = &self.services.ledger.segment_writes;
        let (is_of_one, is_sorted) = (views.len() == 1, !self.sort().is_empty());
        loop {
            self.core()?.check()?;
            let bytes = merge_memory_bytes(views, is_sorted).map_err(|error| segment_error(&error))?;
            if let Some(charge) = pool.try_charge(bytes) {
                return Ok(Some(charge));
            }
            if views.len() <= 2 || is_of_one {
                return match is_needed {
                    true => pool.charge(bytes, "<merge>").map(Some).map_err(|error| store_error(&error)),
                    false => Ok(None),
                };
            }
            for _ in 0..views.len().div_ceil(8).min(views.len() - 2) {
                let bytes_of = |at: &usize| views[*at].segment.file_bytes();
                let largest = (0..views.len()).max_by_key(bytes_of).unwrap_or_default();
                views.remove(largest);
                claim.0.remove(largest).end_merge();
            }
        }
    }

    fn merge_views(
        &self,
        core: &Core,
        entries: &[Arc<SegmentEntry>],
        views: &[SegmentView],
        is_throttled: bool,
        is_forced: bool,
    ) -> limber_segment::Result<()> {
        let clock = &*self.services.environment.clock;
        let (docs, bytes) = sizes_of(views);
        let counters = &self.counters;
        let start = clock.monotonic_nanos();
        // After a forced merge nothing of deleted documents is left, not even in the dictionary.
        let donor = if is_forced { None } else { dictionary_donor(core) };
        let dictionary = match is_forced {
            true => MergeDictionary::New,
            false => MergeDictionary::Known(donor.as_deref()),
        };
        let merged = self.write_merged(core, views, dictionary, is_throttled)?;
        let nanos = clock.monotonic_nanos().saturating_sub(start);
        counters.merge.add(1, nanos);
        counters.merge_docs.fetch_add(docs, Ordering::Relaxed);
        counters.merge_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.install_merged(core, entries, views, merged)?;
        // If the lock is taken, another thread is committing and will delete the files afterwards.
        if let Some(committed) = core.committed.try_lock() {
            self.delete_unused(core, &committed)?;
        }
        Ok(())
    }

    fn write_merged(
        &self,
        core: &Core,
        views: &[SegmentView],
        dictionary: MergeDictionary<'_>,
        is_throttled: bool,
    ) -> limber_segment::Result<Option<(SegmentEntry, limber_segment::DocIdMap)>> {
        if sizes_of(views).0 == 0 {
            return Ok(None);
        }
        let clock = &*self.services.environment.clock;
        let start = clock.monotonic_nanos();
        let mut written = 0u64;
        let progress = move |bytes: u64| {
            if core.is_failed() {
                return Err(limber_segment::Error::Cancelled);
            }
            written += bytes;
            if is_throttled {
                let due_nanos = (written as f64 / THROTTLED_BYTES_PER_SECOND as f64 * 1e9) as u64;
                let ahead = due_nanos
                    .saturating_sub(clock.monotonic_nanos().saturating_sub(start))
                    .min(1_000_000_000);
                if ahead > 1_000_000 {
                    self.counters.merge_throttled_nanos.fetch_add(ahead, Ordering::Relaxed);
                    limber_store::sync::sleep(std::time::Duration::from_nanos(ahead));
                }
            }
            Ok(())
        };
        let id = {
            // A core that opens the folder again after a failure begins with numbers above those that were
            // taken until then.
            let _refreshing = core.refreshing.lock();
            if core.is_failed() {
                return Err(limber_segment::Error::Cancelled);
            }
            SegmentId(core.next_segment.fetch_add(1, Ordering::Relaxed))
        };
        let codec = (self.codec(), dictionary);
        let (meta, map) =
            merge_sorted(views, &*self.directory, id, codec, &self.sort(), Some(Box::new(progress)))?;
        Ok(Some((SegmentEntry::new(self.opened_own(&meta)?, None), map)))
    }

    fn install_merged(
        &self,
        core: &Core,
        entries: &[Arc<SegmentEntry>],
        views: &[SegmentView],
        merged: Option<(SegmentEntry, limber_segment::DocIdMap)>,
    ) -> limber_segment::Result<()> {
        let _refreshing = core.refreshing.lock();
        // The core may have failed while this thread waited for the lock. The files then belong to a new
        // core.
        if core.is_failed() {
            return Err(limber_segment::Error::Cancelled);
        }
        let _gate = core.gate.write();
        let _fence = Fence::new(core, "the installation of a merge");
        let merged = merged.map(|(merged, map)| {
            carry_deletes(entries, views, &merged, &map);
            Arc::new(merged)
        });
        let is_source = |entry: &Arc<SegmentEntry>| entries.iter().any(|source| Arc::ptr_eq(source, entry));
        let mut segments: SegmentList = Vec::new();
        let mut merged = merged;
        for entry in core.segments.load().iter() {
            if is_source(entry) {
                // The new segment replaces the first of its sources in the list.
                segments.extend(merged.take());
            } else {
                segments.push(entry.clone());
            }
        }
        core.retired.lock().extend(entries.iter().map(|entry| entry.id()));
        core.segments.store(Arc::new(segments));
        core.is_uncommitted.store(true, Ordering::Release);
        core.publish_snapshot();
        Ok(())
    }
}

/// Returns the largest segment of the shard that has a dictionary for stored documents. Merges of segments
/// that have none use it too, so that later merges can copy what they have compressed.
fn dictionary_donor(core: &Core) -> Option<Arc<Segment>> {
    let segments = core.segments.load();
    let with_dictionary = segments.iter().map(|entry| &entry.segment).filter(|one| one.has_dictionary());
    with_dictionary.max_by_key(|segment| segment.doc_count()).cloned()
}

/// Counts the documents and bytes that a merge reads.
fn sizes_of(views: &[SegmentView]) -> (u64, u64) {
    let docs = views.iter().map(|view| u64::from(view.live_count())).sum();
    let bytes = views.iter().map(|view| view.segment.file_bytes()).sum();
    (docs, bytes)
}

/// Counts a merge while it runs, however it ends. After a panic, the next merge is delayed.
struct RunningMerge<'m> {
    shard: &'m Shard,
    core: &'m Core,
    docs: u64,
    bytes: u64,
}

impl<'m> RunningMerge<'m> {
    fn begin(shard: &'m Shard, core: &'m Core, views: &[SegmentView]) -> RunningMerge<'m> {
        let (docs, bytes) = sizes_of(views);
        core.merges_running.fetch_add(1, Ordering::Relaxed);
        let counters = &shard.counters;
        counters.merge.current.fetch_add(1, Ordering::Relaxed);
        counters.merge_current_docs.fetch_add(docs, Ordering::Relaxed);
        counters.merge_current_bytes.fetch_add(bytes, Ordering::Relaxed);
        RunningMerge { shard, core, docs, bytes }
    }
}

impl Drop for RunningMerge<'_> {
    fn drop(&mut self) {
        const REST_AFTER_PANIC_MS: u64 = 60_000;
        self.core.merges_running.fetch_sub(1, Ordering::Relaxed);
        let counters = &self.shard.counters;
        counters.merge.current.fetch_sub(1, Ordering::Relaxed);
        counters.merge_current_docs.fetch_sub(self.docs, Ordering::Relaxed);
        counters.merge_current_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        if std::thread::panicking() {
            let until = self.shard.interval_millis() + REST_AFTER_PANIC_MS;
            self.core.merges_rest_until_millis.store(until, Ordering::Relaxed);
        }
    }
}

fn candidate(entry: &SegmentEntry) -> Candidate {
    let (doc_count, deleted_count) = entry.counts();
    Candidate {
        live_bytes: entry.live_bytes(),
        doc_count,
        deleted_count,
        // A damaged segment is not merged, because that would fail each time.
        is_merging: entry.merging.load(Ordering::Acquire) || entry.segment.is_damaged(),
    }
}

/// Applies to the merged segment the deletes that its sources received since `views` were taken: published
/// deletes become visible to searches, the others only to writers.
fn carry_deletes(
    entries: &[Arc<SegmentEntry>],
    views: &[SegmentView],
    merged: &SegmentEntry,
    map: &limber_segment::DocIdMap,
) {
    let delete = |published: bool| {
        for (number, (entry, view)) in entries.iter().zip(views).enumerate() {
            let state = entry.live.lock();
            let now: Option<&LiveDocs> =
                if published { state.published.as_deref() } else { state.current.as_ref() };
            let Some(now) = now else { continue };
            for (word, bits) in now.words().iter().enumerate() {
                let before = match &view.live {
                    Some(live) => live.words()[word],
                    None => u64::MAX,
                };
                let mut gone = before & !bits;
                while gone != 0 {
                    let doc = word as u32 * 64 + gone.trailing_zeros();
                    gone &= gone - 1;
                    if let Some(doc) = map.get(number, doc) {
                        merged.delete(doc);
                    }
                }
            }
        }
    };
    delete(true);
    merged.publish();
    delete(false);
}
