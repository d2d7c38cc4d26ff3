//! Refresh: makes what was written visible to searches.
//!
//! Freeze (gate held exclusively, no I/O) -> write buffers as segments (writers continue) -> install (gate
//! held exclusively, no I/O) -> publish.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use limber_segment::{DocId, Segment, SegmentId, SegmentMeta, Written};
use limber_store::sync::MutexGuard;

use super::core::{Core, Published, Shard, Slot};
use super::error::segment_error;
use super::fence::Fence;
use super::search_idle::DueRefresh;
use super::segments::{ChargedSegment, SegmentEntry, SegmentList};
use super::stats::Timer;
use crate::api::Result;

/// A refresh that writes more than this takes long, so that other requests run beside it.
const LONG_REFRESH_BYTES: usize = 1 << 20;

/// The buffers of a freeze, and the state at that moment.
struct Frozen {
    slots: Vec<Slot>,
    max_seq_no: Option<u64>,
    translog_generation: Option<u64>,
}

/// The new segment of a buffer.
struct FreshSegment {
    entry: SegmentEntry,
    /// The document ids in the segment by those in the buffer; `None` when they are the same.
    doc_map: Option<Vec<DocId>>,
}

/// A published state that a commit can store.
pub(super) struct Refreshed {
    pub max_seq_no: Option<u64>,
    /// The translog generation that began with the freeze, if one was requested.
    pub translog_generation: Option<u64>,
    pub published: Arc<Published>,
    pub segments: Arc<SegmentList>,
}

impl Shard {
    /// Makes everything written before the call visible to searches.
    pub(crate) fn refresh(&self) -> Result<()> {
        let core = self.core()?;
        if core.is_failed() {
            return core.check();
        }
        let _timer = Timer::start(&*self.services.environment.clock, &self.counters.external_refresh, 1);
        self.refresh_core(&core)
    }

    /// Does the same as [`Shard::refresh`], but only if something was written since the last one.
    pub(crate) fn refresh_if_dirty(&self) -> Result<bool> {
        let core = self.core()?;
        if core.is_failed() || !core.is_dirty.load(Ordering::Acquire) {
            return Ok(false);
        }
        self.refresh().map(|()| true)
    }

    /// Prepares for a search: a refresh that was put off is done now. If it fails (because of the disk), the
    /// search sees the last published state.
    pub(super) fn wake(&self, core: &Core) {
        if core.search_idle.note_search(self.interval_millis())
            && let Err(error) = self.refresh_if_dirty()
        {
            tracing::warn!(index = %self.index.name, shard = self.number, %error, "not refreshed");
        }
    }

    /// Whether the scheduler should refresh: the interval has passed since the last refresh, and the shard is
    /// being searched or documents have stopped streaming in.
    pub(crate) fn is_refresh_due(&self) -> bool {
        let now_millis = self.interval_millis();
        let settings = self.index.settings.load();
        let (Some(interval_ms), Ok(core)) = (settings.refresh_interval_ms, self.core()) else { return false };
        let since_last = now_millis.saturating_sub(core.last_refresh_millis.load(Ordering::Relaxed));
        let rests = || {
            !settings.has_refresh_interval
                && core.search_idle.puts_off(DueRefresh {
                    now_millis,
                    interval_ms,
                    idle_after_ms: settings.search_idle_after_ms,
                    operations: core.next_seq_no.load(Ordering::Relaxed),
                })
        };
        since_last >= interval_ms && core.is_dirty.load(Ordering::Acquire) && !rests()
    }

    /// Writes the buffers to segments to free their memory.
    pub(crate) fn write_buffers(&self) -> Result<()> {
        self.write_buffers_if(|| true)
    }

    /// Does the same as [`Shard::write_buffers`] if `is_needed` still returns true after other refreshes have
    /// ended.
    pub(crate) fn write_buffers_if(&self, is_needed: impl FnOnce() -> bool) -> Result<()> {
        let core = self.core()?;
        let mut refreshing = core.refreshing.lock();
        match is_needed() {
            true => self.refresh_locked(&core, &mut refreshing, false).map(drop),
            false => Ok(()),
        }
    }

    pub(super) fn refresh_core(&self, core: &Core) -> Result<()> {
        let mut refreshing = core.refreshing.lock();
        self.refresh_locked(core, &mut refreshing, false).map(drop)
    }

    /// Refreshes, with `refreshing` held. `roll` begins a translog generation at the moment of the freeze.
    pub(super) fn refresh_locked(
        &self,
        core: &Core,
        _refreshing: &mut MutexGuard<'_, ()>,
        roll: bool,
    ) -> Result<Refreshed> {
        core.check()?;
        let _timer = Timer::start(&*self.services.environment.clock, &self.counters.refresh, 1);
        let _fence = Fence::new(core, "a refresh");
        let frozen = self.freeze(core, roll);
        // A refresh that a request carries out writes what others have indexed, too.
        let buffered_bytes: usize = frozen.slots.iter().map(|slot| slot.bytes).sum();
        let _beside = if buffered_bytes > LONG_REFRESH_BYTES { limber_work::give_up_turn() } else { None };
        let (max_seq_no, translog_generation) = (frozen.max_seq_no, frozen.translog_generation);
        let mut written = Vec::with_capacity(frozen.slots.len());
        for slot in frozen.slots {
            let number = slot.number;
            match self.write_segment(core, slot) {
                Ok(entry) => written.push((number, entry)),
                // The documents are in no buffer and in no segment, so the memory cannot be trusted any more.
                Err(error) => return Err(self.refresh_failed(core, &error)),
            }
        }
        self.install(core, written);
        core.last_refresh_millis.store(self.interval_millis(), Ordering::Relaxed);
        Ok(Refreshed {
            max_seq_no,
            translog_generation,
            published: core.snapshot.load_full(),
            segments: core.segments.load_full(),
        })
    }

    fn freeze(&self, core: &Core, roll: bool) -> Frozen {
        let _gate = core.gate.write();
        core.refreshes_begun.fetch_add(1, Ordering::AcqRel);
        core.is_dirty.store(false, Ordering::Release);
        let mut slots = std::mem::take(&mut *core.idle.lock());
        slots.retain(|slot| {
            let is_used = !slot.buffer.is_empty();
            if !is_used {
                core.deletes.write().remove(&slot.number);
                core.buffered_bytes.fetch_sub(slot.bytes as u64, Ordering::Relaxed);
            }
            is_used
        });
        for slot in &mut slots {
            let deletes = core.deletes.read().get(&slot.number).map(|list| std::mem::take(&mut *list.lock()));
            for doc in deletes.into_iter().flatten() {
                slot.buffer.delete(doc);
            }
        }
        for entry in core.segments.load().iter() {
            entry.publish();
        }
        core.versions.begin_refresh();
        Frozen {
            slots,
            max_seq_no: core.max_seq_no(),
            translog_generation: roll.then(|| core.translog.roll()),
        }
    }

    fn write_segment(&self, core: &Core, slot: Slot) -> limber_segment::Result<Option<FreshSegment>> {
        let mut bytes_left = slot.bytes as u64;
        let id = SegmentId(core.next_segment.fetch_add(1, Ordering::Relaxed));
        let mapping = self.index.mapping.load_full();
        let _working = self.services.ledger.segment_writes.charge_always(slot.buffer.writing_bytes() as u64);
        // Memory is released as soon as a part is written, so that writers can use it.
        let mut free = |bytes: u64| {
            let bytes = bytes.min(bytes_left);
            bytes_left -= bytes;
            core.buffered_bytes.fetch_sub(bytes, Ordering::Relaxed);
            core.account();
        };
        let written =
            slot.buffer.write_sorted(&*self.directory, id, &mapping, &mut |bytes| free(bytes as u64));
        free(u64::MAX);
        let Written { meta, live, doc_map } = written?;
        if live.as_ref().is_some_and(|live| live.live_count() == 0) {
            for file in &meta.files {
                self.directory.delete(&file.name)?;
            }
            return Ok(None);
        }
        Ok(Some(FreshSegment { entry: SegmentEntry::new(self.opened_own(&meta)?, live), doc_map }))
    }

    /// Opens a segment that was just written.
    pub(super) fn opened_own(&self, meta: &SegmentMeta) -> limber_segment::Result<ChargedSegment> {
        let opened = self.opened(meta)?;
        opened.segment.trust_written();
        Ok(opened)
    }

    /// Opens a segment and charges its heap memory.
    pub(super) fn opened(&self, meta: &SegmentMeta) -> limber_segment::Result<ChargedSegment> {
        let segment = Segment::open(&self.directory, meta, &self.services.term_index)?;
        let pool = self.services.ledger.segments.clone();
        Ok(ChargedSegment { segment: Arc::new(segment.charged_to(&pool)), pool })
    }

    fn install(&self, core: &Core, written: Vec<(u64, Option<FreshSegment>)>) {
        let _gate = core.gate.write();
        let mut segments: SegmentList = core.segments.load().to_vec();
        // A segment without live documents is dropped at once.
        segments.retain(|entry| {
            let (doc_count, deleted) = entry.counts();
            let stays = deleted < doc_count || entry.merging.load(Ordering::Acquire);
            if !stays {
                core.retired.lock().insert(entry.id());
            }
            stays
        });
        for (number, fresh) in written {
            let late = core.deletes.write().remove(&number);
            let Some(FreshSegment { entry, doc_map }) = fresh else { continue };
            // Searches see the segment as it was frozen. Later deletes become visible with the next refresh.
            entry.publish();
            for doc in late.into_iter().flat_map(|list| std::mem::take(&mut *list.lock())) {
                entry.delete(doc_map.as_ref().map_or(doc, |doc_map| doc_map[doc as usize]));
            }
            segments.push(Arc::new(entry));
        }
        core.segments.store(Arc::new(segments));
        let gc_deletes_ms = match self.core() {
            Ok(open) if std::ptr::eq(&*open, core) => self.index.settings.load().gc_deletes_ms,
            // This core still replays the translog, which may contain operations in any order, so no deletes
            // may be forgotten.
            _ => u64::MAX,
        };
        core.versions.end_refresh(self.interval_millis(), gc_deletes_ms);
        core.publish_snapshot();
        core.search_idle.note_refresh();
        core.refreshes_finished.store(core.refreshes_begun.load(Ordering::Acquire), Ordering::Release);
        drop(_gate);
        core.account();
    }

    fn refresh_failed(&self, core: &Core, error: &limber_segment::Error) -> limber_mapping::RequestError {
        match error {
            limber_segment::Error::Store(error) => self.disk_failed(core, error),
            other => {
                let error = segment_error(other);
                core.fail(error.clone());
                error
            }
        }
    }
}
