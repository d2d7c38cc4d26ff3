//! Opens a shard: "what is on disk, and what does the translog add to it?"

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use arc_swap::ArcSwap;
use limber_mapping::RequestError;
use limber_segment::{LiveDocs, SegmentId, WriteIdentity};
use limber_store::directory::TEMPORARY_SUFFIX;
use limber_store::sync::{Mutex, RwLock};
use limber_store::{Directory, Error as StoreError};

use super::commit::{COMMIT_NAME, Commit, CommittedSegment};
use super::core::{Core, Published, Shard, next_number};
use super::error::{segment_error, store_error};
use super::ids::seq_nos::SeqNos;
use super::search_idle::SearchIdle;
use super::segments::SegmentEntry;
use super::writing::entrance::Entrance;
use super::writing::write::{Condition, Write};
use crate::api::Result;
use crate::environment::Environment;
use crate::translog::{
    self, FileTranslog, GENERATIONS_MAX, Operation, OperationType, Record, RecordBatch, Recovered,
};

/// Writes the first commit of a shard that is being created. A shard without a commit does not exist, so that
/// a commit that is missing later means damage and never a new shard.
pub(crate) fn create_files(directory: &dyn Directory, environment: &Environment) -> limber_store::Result<()> {
    let mut history = [0u8; 16];
    environment.randomness.fill(&mut history);
    let commit = Commit {
        generation: 1,
        segments: Vec::new(),
        translog_generation: 1,
        max_seq_no: None,
        primary_term: 0,
        history: format!("{:032x}", u128::from_be_bytes(history)),
        next_segment: 0,
    };
    commit.write(directory)
}

enum OpenError {
    Store(StoreError),
    Request(RequestError),
}

impl From<StoreError> for OpenError {
    fn from(error: StoreError) -> Self {
        OpenError::Store(error)
    }
}

impl Shard {
    /// Opens the shard from disk, or opens it again after a failure. Does nothing if it is started. After an
    /// error the shard stays unavailable and reports the reason.
    ///
    /// # Errors
    /// Those of the disk, damage, and `index_closed_exception` once the shard was closed.
    pub(crate) fn open(&self) -> Result<()> {
        // A closed shard must never open: its index may have been opened again, as another shard in the same
        // folder.
        let is_closed = self.is_closed.lock();
        if *is_closed {
            return Err(RequestError::unavailable("index_closed_exception", "closed"));
        }
        let mut first_segment = 0;
        if let Ok(core) = self.core() {
            if !core.is_failed() {
                return Ok(());
            }
            self.end_core(
                &core,
                RequestError::unavailable("already_closed_exception", "the shard is being reopened"),
            );
            first_segment = core.next_segment.load(Ordering::Acquire);
        }
        match self.open_core(first_segment) {
            Ok((core, generation_count)) => {
                self.replace_core(Ok(core.clone()));
                // Many restarts without a commit leave many translog files.
                if generation_count > GENERATIONS_MAX / 2
                    && let Err(error) = self.flush_core(&core, true)
                {
                    tracing::warn!(index = %self.index.name, shard = self.number, %error, "not flushed when opened");
                }
                Ok(())
            }
            Err(error) => {
                tracing::error!(index = %self.index.name, shard = self.number, %error, "shard does not open");
                let old = self.core();
                // A failed shard continues to answer searches while it cannot be opened again.
                if old.is_err() {
                    self.replace_core(Err(self.located(error.clone())));
                }
                Err(error)
            }
        }
    }

    /// Opens a core. Also returns how many translog generations the next commit makes superfluous. Segment
    /// numbers below `first_segment` may still be used by a merge that is ending.
    fn open_core(&self, first_segment: u64) -> Result<(Arc<Core>, usize)> {
        let at = |error: StoreError| store_error(&error);
        let commit = Commit::read(&*self.directory).map_err(at)?;
        let mut segments = Vec::new();
        for committed in &commit.segments {
            segments.push(Arc::new(self.open_segment(committed)?));
        }
        let (unreferenced, next_segment) = self.find_unreferenced(&commit).map_err(at)?;
        let history = commit.history_bytes();
        let interval_millis = self.interval_millis();

        // Replay needs a core to write to, and the core needs its translog, so the generations are read
        // first.
        let (log, primary_term, seen) = self.open_log(&commit, history)?;
        let charge = self.services.ledger.indexing.charge(0, "index buffers").map_err(at)?;
        let core = Arc::new(Core {
            uid: next_number(),
            translog: Arc::new(log),
            primary_term,
            history,
            next_seq_no: AtomicU64::new(commit.max_seq_no.map_or(0, |seq_no| seq_no + 1)),
            gate: RwLock::new(()),
            idle: Mutex::default(),
            entrance: Entrance::of_this_machine(),
            next_buffer: AtomicU64::new(0),
            deletes: RwLock::default(),
            reserved_bytes: AtomicU64::new(0),
            versions: Default::default(),
            segments: ArcSwap::from_pointee(segments),
            next_segment: AtomicU64::new(next_segment.max(first_segment)),
            retired: Mutex::default(),
            snapshot: ArcSwap::from_pointee(Published::default()),
            refreshing: Mutex::new(()),
            committed: Mutex::new(commit.clone()),
            charge: Mutex::new(charge),
            buffered_bytes: AtomicU64::new(0),
            has_large_buffer: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            failure: Mutex::new(None),
            is_dirty: AtomicBool::new(false),
            is_uncommitted: AtomicBool::new(false),
            has_unpromised: AtomicBool::new(seen.has_unpromised()),
            last_refresh_millis: AtomicU64::new(interval_millis),
            search_idle: SearchIdle::new(interval_millis),
            last_flush_millis: AtomicU64::new(interval_millis),
            flushes_begun: AtomicU64::new(0),
            last_whole_flush: AtomicU64::new(0),
            last_sync_millis: AtomicU64::new(interval_millis),
            last_checkpoint_sync_millis: AtomicU64::new(interval_millis),
            merges_rest_until_millis: AtomicU64::new(0),
            flushes_rest_until_millis: AtomicU64::new(0),
            merges_running: AtomicU64::new(0),
            refreshes_begun: AtomicU64::new(0),
            refreshes_finished: AtomicU64::new(0),
        });
        self.replay(&core, &commit)?;
        self.refresh_core(&core)?;
        core.publish_snapshot();
        // This comes last: a shard that fails to open keeps all its files.
        for name in unreferenced {
            self.directory.delete_if_present(&name).map_err(at)?;
        }
        Ok((core, seen.generation_count()))
    }

    /// Makes the operations after the commit durable, and begins a generation of the translog for the next
    /// ones. Also returns the new primary term, and what was found.
    fn open_log(&self, commit: &Commit, history: [u8; 16]) -> Result<(FileTranslog, u64, Recovered)> {
        let at = |error: StoreError| store_error(&error);
        let seen = translog::recover(&self.directory, commit.translog_generation, &history, |_| {
            Ok::<(), StoreError>(())
        })
        .map_err(at)?;
        let primary_term = commit.primary_term.max(seen.max_primary_term) + 1;
        let generation = seen.max_generation.max(commit.translog_generation.saturating_sub(1)) + 1;
        for name in self.directory.list().map_err(at)?.iter().filter(|name| name.starts_with("translog-")) {
            // A commit makes durable what an earlier fsync has lost (`Shard::keep_recovered`).
            self.directory.sync(name).map_err(at)?;
        }
        let log = FileTranslog::create(
            self.directory.clone(),
            generation,
            primary_term,
            history,
            self.now_millis(),
            &seen,
        )
        .map_err(at)?;
        Ok((log, primary_term, seen))
    }

    fn open_segment(&self, committed: &CommittedSegment) -> Result<SegmentEntry> {
        let CommittedSegment { meta, live_generation, live_doc_count } = committed;
        let opened = self.opened(meta).map_err(|e| segment_error(&e))?;
        if self.index.settings.load().check_on_startup
            && let Some(problem) = opened.segment.check().problems.first()
        {
            let why = format!("{} {}: {}", problem.file, problem.field, problem.message);
            return Err(RequestError::internal("corrupt_index_exception", why));
        }
        let live = match live_generation {
            None => None,
            Some(generation) => {
                let live = LiveDocs::open(&*self.directory, meta.id, *generation, meta.doc_count);
                Some((*generation, live.map_err(|e| segment_error(&e))?))
            }
        };
        let found = live.as_ref().map_or(meta.doc_count, |(_, live)| live.live_count());
        if let Some(expected) = live_doc_count.filter(|expected| *expected != found) {
            let expected = format!("{expected} documents that are not deleted in segment _{}", meta.id);
            return Err(store_error(&StoreError::Corrupt {
                file: COMMIT_NAME.to_owned(),
                offset: 0,
                expected,
                found: found.to_string(),
            }));
        }
        Ok(SegmentEntry::committed(opened, live))
    }

    /// Returns the segment files that the commit does not list, unfinished files, and a segment number above
    /// that of every file.
    fn find_unreferenced(&self, commit: &Commit) -> limber_store::Result<(Vec<String>, u64)> {
        let referenced = referenced_files(commit);
        let mut next_segment = commit.next_segment;
        let mut unreferenced = Vec::new();
        for name in self.directory.list()? {
            let id = SegmentId::of_file(&name);
            if let Some(SegmentId(number)) = id {
                next_segment = next_segment.max(number + 1);
            }
            let is_needed = referenced.contains(&name) || self.pins.holds(&name);
            if (id.is_some() && !is_needed) || name.ends_with(TEMPORARY_SUFFIX) {
                unreferenced.push(name);
            }
        }
        Ok((unreferenced, next_segment))
    }

    /// Applies the operations that the commit does not contain, each at most once.
    fn replay(&self, core: &Arc<Core>, commit: &Commit) -> Result<()> {
        let floor = commit.max_seq_no.map_or(0, |seq_no| seq_no + 1);
        let mut seen = SeqNos::default();
        let mut since_check = 0u32;
        let replayed = translog::recover(
            &self.directory,
            commit.translog_generation,
            &commit.history_bytes(),
            |record| {
                if record.identity.seq_no < floor {
                    return Ok(());
                }
                seen.add(record.identity.seq_no);
                if record.operation.kind != OperationType::NoOp {
                    self.replay_one(core, record).map_err(OpenError::Request)?;
                }
                since_check += 1;
                if since_check >= 1024 {
                    since_check = 0;
                    core.account();
                    let limit = self.services.ledger.indexing.limit_bytes() / 2;
                    if core.buffered_bytes.load(Ordering::Relaxed)
                        > limit.min(super::core::BUFFER_BYTES_MAX as u64)
                    {
                        self.refresh_core(core).map_err(OpenError::Request)?;
                    }
                }
                Ok::<(), OpenError>(())
            },
        );
        match replayed {
            Ok(recovered) => {
                if recovered.operations > 0 {
                    core.is_dirty.store(true, Ordering::Release);
                    core.is_uncommitted.store(true, Ordering::Release);
                    // Makes the scheduler commit soon, so that the next start need not replay this again.
                    core.last_flush_millis.store(0, Ordering::Relaxed);
                    tracing::info!(
                        index = %self.index.name,
                        shard = self.number,
                        operations = recovered.operations,
                        torn_bytes = recovered.torn_bytes,
                        "translog replayed"
                    );
                }
            }
            Err(OpenError::Store(error)) => return Err(store_error(&error)),
            Err(OpenError::Request(error)) => return Err(error),
        }
        core.next_seq_no.fetch_max(seen.end(), Ordering::AcqRel);
        self.fill_holes(core, seen.holes(floor)).map_err(|error| store_error(&error))
    }

    /// Records a no-op for each sequence number that was assigned to a write which never reached the
    /// translog, so that the shard's history has no gaps.
    ///
    /// Source: Elasticsearch, `InternalEngine#fillSeqNoGaps`.
    fn fill_holes(&self, core: &Core, holes: impl Iterator<Item = u64>) -> limber_store::Result<()> {
        let mut batch = RecordBatch::default();
        for seq_no in holes {
            let identity = WriteIdentity { seq_no, primary_term: core.primary_term, version: 0 };
            batch.push(&Record { operation: Operation::NO_OP, identity });
        }
        if !batch.is_empty() {
            core.translog.append(batch)?;
        }
        Ok(())
    }

    fn replay_one(&self, core: &Arc<Core>, record: &Record<'_>) -> Result<()> {
        let Record { operation, identity } = *record;
        let condition = Condition::Replay(identity);
        let write = Write { operation, condition, must_create: false, is_generated: false, templates: None };
        let mut results = Vec::with_capacity(1);
        self.write_to(core, &[write], &mut results)?;
        match results.pop() {
            Some(Err(error)) => Err(error),
            _ => Ok(()),
        }
    }
}

/// Returns the names of all files that a commit needs, except the commit itself.
pub(super) fn referenced_files(commit: &Commit) -> HashSet<String> {
    let mut names = HashSet::new();
    for CommittedSegment { meta, live_generation, .. } in &commit.segments {
        names.extend(meta.files.iter().map(|file| file.name.clone()));
        names.extend(live_generation.map(|generation| LiveDocs::file_name(meta.id, generation)));
    }
    names
}
