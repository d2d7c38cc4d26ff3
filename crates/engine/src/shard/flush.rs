//! Flush: commits the segments and removes the older translog generations.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use limber_segment::{LiveDocs, SegmentId};
use limber_store::sync::MutexGuard;

use super::commit::{Commit, CommittedSegment};
use super::core::{Core, Shard};
use super::fence::Fence;
use super::open::referenced_files;
use super::refresh::Refreshed;
use super::segments::SegmentEntry;
use super::stats::Timer;
use crate::api::Result;

/// A full or broken disk stays so for a while, and each attempt costs a refresh and a line in the log.
const REST_AFTER_FAILURE_MS: u64 = 5_000;

impl Shard {
    /// Commits. Without `force`, nothing happens if nothing was written since the last commit.
    pub(crate) fn flush(&self, force: bool) -> Result<()> {
        let core = self.core()?;
        self.flush_core(&core, force)
    }

    /// Commits what recovery found in the translog and was not known to be durable, unless a commit contains
    /// it already. After a failed fsync it may be only in the page cache, and no later fsync of the log
    /// writes it.
    pub(crate) fn keep_recovered(&self) -> Result<()> {
        let core = self.core()?;
        self.keep_recovered_of(&core)
    }

    pub(super) fn keep_recovered_of(&self, core: &Core) -> Result<()> {
        match core.has_unpromised.load(Ordering::Acquire) {
            true => self.flush_core(core, true),
            false => Ok(()),
        }
    }

    /// Flushes if it is due: the translog is larger than `flush_threshold_size` or has operations older than
    /// `flush_threshold_age`. Called by the scheduler.
    pub(crate) fn flush_if_due(&self) -> Result<bool> {
        let core = self.core()?;
        let rests = self.interval_millis() < core.flushes_rest_until_millis.load(Ordering::Relaxed);
        if core.is_failed() || rests || !core.is_uncommitted.load(Ordering::Acquire) {
            return Ok(false);
        }
        let settings = self.index.settings.load();
        let is_large = core.translog.stats().uncommitted_size_bytes > settings.flush_threshold_bytes;
        let age_ms = self.interval_millis().saturating_sub(core.last_flush_millis.load(Ordering::Relaxed));
        if !is_large && age_ms < settings.flush_threshold_age_ms {
            return Ok(false);
        }
        self.counters.periodic_flush.fetch_add(1, Ordering::Relaxed);
        let flushed = self.flush_core(&core, false);
        if flushed.is_err() {
            let until = self.interval_millis() + REST_AFTER_FAILURE_MS;
            core.flushes_rest_until_millis.store(until, Ordering::Relaxed);
        }
        flushed.map(|()| true)
    }

    pub(super) fn flush_core(&self, core: &Core, force: bool) -> Result<()> {
        core.check()?;
        let begun_before = core.flushes_begun.load(Ordering::Acquire);
        let mut committed = core.committed.lock();
        // Checked again, because the core may have failed while this thread waited for the lock.
        core.check()?;
        // As in Elasticsearch, a flush without changes counts too.
        let _timer = Timer::start(&*self.services.environment.clock, &self.counters.flush, 1);
        if !force && !core.is_uncommitted.load(Ordering::Acquire) {
            return Ok(());
        }
        // Concurrent callers share one flush if it began after each of them had called.
        if core.last_whole_flush.load(Ordering::Acquire) > begun_before {
            return Ok(());
        }
        let number = core.flushes_begun.fetch_add(1, Ordering::AcqRel) + 1;
        // If the next generation cannot be created, nothing is lost: the translog continues with this one.
        core.translog.prepare_roll(self.now_millis()).map_err(|error| self.disk_refused(&error))?;
        let _fence = Fence::new(core, "a flush");
        core.is_uncommitted.store(false, Ordering::Release);
        let refreshed = {
            let mut refreshing = core.refreshing.lock();
            self.refresh_locked(core, &mut refreshing, true)
        };
        let refreshed = refreshed.inspect_err(|_| core.is_uncommitted.store(true, Ordering::Release))?;
        let outcome = self.commit(core, &mut committed, &refreshed);
        if outcome.is_err() {
            core.is_uncommitted.store(true, Ordering::Release);
        }
        core.last_flush_millis.store(self.interval_millis(), Ordering::Relaxed);
        outcome.map_err(|error| match error {
            limber_segment::Error::Store(error) => self.disk_failed(core, &error),
            other => super::error::segment_error(&other),
        })?;
        core.last_whole_flush.store(number, Ordering::Release);
        core.has_unpromised.store(false, Ordering::Release);
        // The commit is valid whatever happens to the superfluous files; the next flush tries again to delete
        // them.
        if let Err(error) = self.delete_superfluous(core, &committed) {
            tracing::warn!(index = %self.index.name, shard = self.number, %error, "superfluous files stay");
        }
        Ok(())
    }

    fn delete_superfluous(&self, core: &Core, committed: &Commit) -> limber_segment::Result<()> {
        core.translog.sync_checkpoint()?;
        core.translog.trim(committed.translog_generation)?;
        core.account();
        self.delete_unused(core, committed)
    }

    /// Makes the published state durable and writes the commit.
    fn commit(
        &self,
        core: &Core,
        committed: &mut MutexGuard<'_, Commit>,
        refreshed: &Refreshed,
    ) -> limber_segment::Result<()> {
        let generation = committed.generation + 1;
        let mut segments = Vec::with_capacity(refreshed.segments.len());
        for (entry, view) in refreshed.segments.iter().zip(&refreshed.published.segments) {
            let live_generation = self.sync_segment(entry, view.live.as_ref(), generation)?;
            let live_doc_count = Some(view.live_count());
            segments.push(CommittedSegment {
                meta: entry.segment.meta().clone(),
                live_generation,
                live_doc_count,
            });
        }
        self.directory.sync_names()?;
        let commit = Commit {
            generation,
            segments,
            translog_generation: refreshed.translog_generation.unwrap_or(committed.translog_generation),
            max_seq_no: refreshed.max_seq_no,
            primary_term: core.primary_term,
            history: committed.history.clone(),
            next_segment: core.next_segment.load(Ordering::Relaxed),
        };
        check_follows(committed, &commit)?;
        commit.write(&*self.directory)?;
        **committed = commit;
        Ok(())
    }

    /// Fsyncs what is not durable yet of one segment. Returns the generation of its live docs.
    fn sync_segment(
        &self,
        entry: &SegmentEntry,
        live: Option<&Arc<LiveDocs>>,
        generation: u64,
    ) -> limber_segment::Result<Option<u64>> {
        if !entry.synced.load(Ordering::Acquire) {
            for file in &entry.segment.meta().files {
                self.directory.sync(&file.name)?;
            }
            entry.synced.store(true, Ordering::Release);
        }
        let Some(live) = live else { return Ok(None) };
        let before = entry.live.lock().committed.clone();
        if let Some((before_generation, before)) = before
            && (Arc::ptr_eq(&before, live) || *before == **live)
        {
            return Ok(Some(before_generation));
        }
        let name = LiveDocs::file_name(entry.id(), generation);
        self.directory.delete_if_present(&name)?;
        let file = live.write(&*self.directory, entry.id(), generation)?;
        self.directory.sync(&file.name)?;
        entry.live.lock().committed = Some((generation, live.clone()));
        Ok(Some(generation))
    }

    /// Deletes files that neither the commit nor the current segments need. Called with `committed` held, so
    /// that no commit is being written. Files of segments that are being written have numbers above all
    /// listed ones.
    pub(super) fn delete_unused(&self, core: &Core, committed: &Commit) -> limber_segment::Result<()> {
        if core.is_failed() {
            return Ok(());
        }
        let referenced = referenced_files(committed);
        let listed: HashSet<SegmentId> = core.segments.load().iter().map(|entry| entry.id()).collect();
        let known_below = core.retired.lock().clone();
        let mut pinned = HashSet::new();
        for name in self.directory.list()? {
            let Some(id) = SegmentId::of_file(&name) else { continue };
            let is_old_live = name.ends_with(".live") && !referenced.contains(&name);
            if self.pins.holds(&name) {
                // A snapshot reads it, so a later commit deletes it.
                pinned.insert(id);
                continue;
            }
            if (known_below.contains(&id) && !listed.contains(&id) && !referenced.contains(&name))
                || is_old_live
            {
                self.directory.delete(&name)?;
            }
        }
        let still: HashSet<SegmentId> = committed.segments.iter().map(|segment| segment.meta.id).collect();
        core.retired.lock().retain(|id| still.contains(id) || pinned.contains(id));
        Ok(())
    }
}

/// Refuses a commit that contains less than the one before it. The shard's memory must be wrong then, and the
/// shard is opened again from disk.
fn check_follows(before: &Commit, next: &Commit) -> limber_segment::Result<()> {
    let follows = next.max_seq_no >= before.max_seq_no
        && next.translog_generation >= before.translog_generation
        && next.next_segment >= before.next_segment
        && next.segments.iter().all(|segment| segment.meta.id.0 < next.next_segment);
    if follows {
        return Ok(());
    }
    let shown = |commit: &Commit| {
        let Commit { max_seq_no, translog_generation, next_segment, .. } = commit;
        format!("max_seq_no {max_seq_no:?}, translog {translog_generation}, next segment {next_segment}")
    };
    Err(limber_store::Error::Corrupt {
        file: "commit in memory".to_owned(),
        offset: 0,
        expected: format!("what follows {}", shown(before)),
        found: shown(next),
    }
    .into())
}
