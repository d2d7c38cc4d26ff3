//! The write path of a shard, which starts in [`Shard::write`].

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use limber_codec::prefetch::prefetch_start;
use limber_mapping::{ErrorClass, Mapping, RequestError};
use limber_segment::WriteIdentity;
use limber_store::sync::RwLockReadGuard;
use limber_work as work;

use super::writer::{Attempt, Writer};
use crate::api::{Result, WriteResult};
use crate::settings::Durability;
use crate::shard::accounting::Reservation;
use crate::shard::core::{BUFFER_BYTES_LARGE, BUFFER_BYTES_MAX, Core, Shard};
use crate::shard::error::disk_error;
use crate::shard::fence::Fence;
use crate::shard::ids::versions::BatchPlace;
use crate::shard::slow_log::log_write;
use crate::shard::stats::Timer;
use crate::translog::{LogPosition, Operation, OperationType, RecordBatch};

/// The type of the error for a write that expects another version than the document has.
const VERSION_CONFLICT: &str = "version_conflict_engine_exception";

/// The condition under which an operation is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    None,
    SeqNo {
        seq_no: u64,
        primary_term: u64,
    },
    External(u64),
    ExternalGte(u64),
    /// Recovery: the operation already has its sequence number and version, and is skipped if a later one was
    /// applied.
    Replay(WriteIdentity),
}

impl Condition {
    /// Makes the condition that the document was not written after the write `identity`.
    pub(crate) fn unchanged_since(identity: WriteIdentity) -> Condition {
        Condition::SeqNo { seq_no: identity.seq_no, primary_term: identity.primary_term }
    }
}

/// An operation for this shard, and its conditions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Write<'a> {
    /// An `Index` or a `Delete` operation.
    pub operation: Operation<'a>,
    pub condition: Condition,
    /// Whether the write fails if the document exists.
    pub must_create: bool,
    /// Whether the id was generated for this request, so that no document can have it.
    pub is_generated: bool,
    /// The dynamic templates that the request names, by the paths of their fields.
    pub templates: Option<&'a HashMap<String, String>>,
}

/// Operations that were applied and may not be durable yet: the core that holds them, and their position in
/// its translog. Only that core can make them durable. If the shard fails and is opened again, the new core
/// does not have them.
pub(crate) struct Unsynced {
    core: Arc<Core>,
    position: LogPosition,
}

impl Unsynced {
    /// Extends this to everything that the same core has applied until now.
    pub(crate) fn until_now(self) -> Unsynced {
        let position = self.core.translog.end();
        Unsynced { position, ..self }
    }

    /// Adds a later write to the same shard.
    pub(crate) fn add(list: &mut Vec<Unsynced>, later: Option<Unsynced>) {
        let Some(later) = later else { return };
        match list.last_mut() {
            Some(last) if Arc::ptr_eq(&last.core, &later.core) => *last = later,
            _ => list.push(later),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Written {
    pub result: WriteResult,
    pub identity: WriteIdentity,
}

/// Most operations between two checks of the gate and the clock. For log lines they take less than a
/// millisecond.
const CHUNK_OPERATIONS: usize = 256;
/// A chunk ends early when it has taken this long, so that a refresh need not wait for the gate, nor other
/// writers for the refresh.
const CHUNK_MILLIS_MAX: u64 = 50;
/// The clock is read after this many operations, or after one that is at least this large.
const OPERATIONS_PER_LOOK: usize = 8;
const LARGE_SOURCE_BYTES: usize = 16 << 10;
/// Records are appended to the translog when they reach this size, or else once per request.
const BATCH_BYTES_MAX: usize = 1 << 20;

/// Estimates the size of an operation in a batch of records, which is also its size in a buffer.
fn record_bytes(write: &Write<'_>) -> usize {
    RecordBatch::record_bytes(&write.operation)
}

/// Splits off the operations that are written next, and returns them, the rest, and the size of their
/// records. A chunk ends after [`CHUNK_OPERATIONS`], or earlier once its records fill a batch: the batch is
/// a copy of what it holds, and so is never larger than [`BATCH_BYTES_MAX`] and the largest document.
fn next_chunk<'w, 'd>(writes: &'w [Write<'d>]) -> (&'w [Write<'d>], &'w [Write<'d>], usize) {
    let (mut count, mut bytes) = (0, 0);
    for write in writes.iter().take(CHUNK_OPERATIONS) {
        let more_bytes = record_bytes(write);
        if count > 0 && bytes + more_bytes > BATCH_BYTES_MAX {
            break;
        }
        count += 1;
        bytes += more_bytes;
    }
    let (chunk, rest) = writes.split_at(count);
    (chunk, rest, bytes)
}

/// The records of a request that are collected for the translog, one batch at a time, and where the batch
/// will be written.
struct Records<'s> {
    shard: &'s Shard,
    core: &'s Core,
    batch: RecordBatch,
    place: Arc<BatchPlace>,
    reservation: Reservation<'s>,
    /// End of what was appended.
    end: Option<LogPosition>,
}

impl<'s> Records<'s> {
    fn begin(shard: &'s Shard, core: &'s Core) -> Records<'s> {
        let reservation = Reservation::new(core);
        Records { shard, core, batch: RecordBatch::default(), place: Arc::default(), reservation, end: None }
    }

    /// Makes room for the records of a chunk. `bytes_left` is the size of all records that are still to come.
    fn make_room(&mut self, chunk_bytes: usize, bytes_left: usize) -> Result<()> {
        let fits = self.batch.len_bytes() + chunk_bytes <= self.batch.heap_bytes();
        if fits {
            self.shard.reserve_memory(&mut self.reservation, self.batch.heap_bytes() + chunk_bytes);
            return Ok(());
        }
        self.append()?;
        let batch_bytes = bytes_left.min(BATCH_BYTES_MAX + chunk_bytes);
        self.shard.reserve_memory(&mut self.reservation, batch_bytes + chunk_bytes);
        self.batch = RecordBatch::with_capacity(batch_bytes);
        Ok(())
    }

    /// Reduces the reservation to the size of the batch, once its chunk is written.
    fn keep_reserved(&mut self) {
        self.reservation.set(self.batch.heap_bytes() as u64);
    }

    /// Appends the batch to the translog.
    fn append(&mut self) -> Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let batch = std::mem::take(&mut self.batch);
        let _fence = Fence::new(self.core, "an append to the log");
        let appended = self.core.translog.append(batch);
        let appended = appended.map_err(|error| self.shard.disk_failed(self.core, &error))?;
        let place = std::mem::take(&mut self.place);
        let _ = place.set(Some((appended.generation, appended.offset)));
        self.end = Some(appended.end);
        Ok(())
    }
}

impl Drop for Records<'_> {
    /// Wakes waiting readers when a writer ends early.
    fn drop(&mut self) {
        let _ = self.place.set(None);
    }
}

impl Shard {
    /// Carries out operations in order, with one result each. Returns what [`Shard::sync`] must make durable
    /// before they are acknowledged.
    pub(crate) fn write(
        &self,
        writes: &[Write<'_>],
        results: &mut Vec<Result<Written>>,
    ) -> Result<Option<Unsynced>> {
        let core = self.core()?;
        let position = self.write_to(&core, writes, results)?;
        Ok(position.map(|position| Unsynced { core, position }))
    }

    /// Returns everything that was applied so far.
    ///
    /// # Errors
    /// The shard is not open.
    pub(crate) fn applied(&self) -> Result<Unsynced> {
        let core = self.core()?;
        let position = core.translog.end();
        Ok(Unsynced { core, position })
    }

    /// Makes the writes durable if the index's durability requires that.
    pub(crate) fn sync(&self, unsynced: &Unsynced) -> Result<()> {
        if self.index.settings.load().durability == Durability::Async {
            return Ok(());
        }
        work::waiting(|| self.sync_to(&unsynced.core, unsynced.position))
    }

    /// Checks whether the index or the cluster takes no writes now. A request that was admitted before a
    /// block was set may write only afterwards.
    pub(super) fn check_blocks(&self) -> Result<()> {
        self.services.cluster_blocks.check_writes(&self.index.name, &self.index.settings.load().blocks)
    }

    /// Waits until every write that has begun under earlier settings is in a buffer.
    pub(crate) fn settle_writes(&self) {
        if let Ok(core) = self.core() {
            work::waiting(|| drop(core.gate.write()));
        }
    }

    /// Makes everything written so far durable.
    pub(crate) fn sync_all(&self) -> Result<()> {
        let core = self.core()?;
        self.keep_recovered_of(&core)?;
        work::waiting(|| self.sync_to(&core, core.translog.end()))
    }

    fn sync_to(&self, core: &Core, position: LogPosition) -> Result<()> {
        let _fence = Fence::new(core, "an fsync of the log");
        core.translog.sync(position).map_err(|error| self.disk_failed(core, &error))?;
        core.account();
        Ok(())
    }

    /// Makes the translog's checkpoint durable, about once a second.
    pub(crate) fn sync_checkpoint_if_due(&self) -> Result<()> {
        const INTERVAL_MS: u64 = 1_000;
        let core = self.core()?;
        let now = self.interval_millis();
        let since_ms = now.saturating_sub(core.last_checkpoint_sync_millis.load(Ordering::Relaxed));
        if core.is_failed() || since_ms < INTERVAL_MS {
            return Ok(());
        }
        core.last_checkpoint_sync_millis.store(now, Ordering::Relaxed);
        core.translog.sync_checkpoint().map_err(|error| self.disk_refused(&error))
    }

    /// Makes everything written so far durable once per `sync_interval`, with `async` durability.
    pub(crate) fn sync_if_due(&self) -> Result<()> {
        let core = self.core()?;
        let now_millis = self.interval_millis();
        let since_ms = now_millis.saturating_sub(core.last_sync_millis.load(Ordering::Relaxed));
        if core.is_failed() || since_ms < self.index.settings.load().sync_interval_ms {
            return Ok(());
        }
        core.last_sync_millis.store(now_millis, Ordering::Relaxed);
        self.sync_to(&core, core.translog.end())
    }

    /// Fails the core, because its memory no longer agrees with the disk. It accepts no more writes until the
    /// shard is opened again.
    pub(in crate::shard) fn disk_failed(&self, core: &Core, error: &limber_store::Error) -> RequestError {
        // If the core was closed or had already failed, that is the reason to report, not the translog's
        // consequential error.
        if let Err(reason) = core.check() {
            return reason;
        }
        tracing::error!(index = %self.index.name, shard = self.number, %error, "shard failed");
        let reason = self.disk_refused(error);
        core.fail(reason.clone());
        reason
    }

    /// Makes the error for something the disk refused that the shard can do without.
    pub(in crate::shard) fn disk_refused(&self, error: &limber_store::Error) -> RequestError {
        if error.is_disk_full()
            && let Some(host) = self.services.host.upgrade()
        {
            host.disk_is_full();
        }
        disk_error(error, &self.index.name)
    }

    pub(in crate::shard) fn write_to(
        &self,
        core: &Arc<Core>,
        writes: &[Write<'_>],
        results: &mut Vec<Result<Written>>,
    ) -> Result<Option<LogPosition>> {
        let first_result = results.len();
        let mut records = Records::begin(self, core);
        let mut bytes_left: usize = writes.iter().map(record_bytes).sum();
        let mut rest = writes;
        while !rest.is_empty() {
            core.check()?;
            let (chunk, chunk_bytes);
            (chunk, rest, chunk_bytes) = next_chunk(rest);
            records.make_room(chunk_bytes, bytes_left)?;
            self.write_chunk(core, chunk, &mut records, results)?;
            bytes_left -= chunk_bytes;
            records.keep_reserved();
        }
        records.append()?;
        if results[first_result..].iter().any(|result| result.is_ok()) {
            core.is_dirty.store(true, Ordering::Release);
            core.is_uncommitted.store(true, Ordering::Release);
        }
        Ok(records.end)
    }

    /// Carries out a chunk. If a document needs a mapping update, what was written so far is appended and the
    /// gate is released first: the update waits for the disk and for other indices, and only this request may
    /// wait for that.
    fn write_chunk(
        &self,
        core: &Arc<Core>,
        chunk: &[Write<'_>],
        records: &mut Records<'_>,
        results: &mut Vec<Result<Written>>,
    ) -> Result<()> {
        let _timers = self.count_chunk(chunk);
        let mut rest = chunk;
        let mut updates = 0;
        while !rest.is_empty() {
            let (done, needs_mapping) = self.write_inside_gate(core, rest, records, results)?;
            rest = &rest[done..];
            let Some(mapping) = needs_mapping else { continue };
            records.append()?;
            updates = if done == 0 { updates + 1 } else { 1 };
            if let Err(error) = self.update_mapping(&mapping, &rest[0], updates) {
                self.counters.indexing.failed.fetch_add(1, Ordering::Relaxed);
                results.push(Err(error));
                rest = &rest[1..];
                updates = 0;
            }
        }
        Ok(())
    }

    /// Carries out operations until the end, until the first that needs a mapping update, or until they have
    /// taken long. Returns how many were done, and the mapping with which the one was parsed that needs the
    /// update.
    fn write_inside_gate(
        &self,
        core: &Arc<Core>,
        chunk: &[Write<'_>],
        records: &mut Records<'_>,
        results: &mut Vec<Result<Written>>,
    ) -> Result<(usize, Option<Arc<Mapping>>)> {
        let inside = core.entrance.enter();
        let gate = self.enter_gate(core, chunk)?;
        let fence = Fence::new(core, "a write");
        let settings = self.index.settings.load_full();
        let mut writer = Writer {
            shard: self,
            core,
            segments: core.segments.load_full(),
            mapping: self.index.mapping.load_full(),
            slot: core.check_out(self.codec(), self.sort()),
            batch: std::mem::take(&mut records.batch),
            place: records.place.clone(),
            now_millis: self.now_millis(),
            interval_millis: self.interval_millis(),
            reserved: 0..0,
            blocked: self.check_blocks().err(),
        };
        writer.reserve_seq_nos(chunk);
        let mut done = 0;
        let mut needs_mapping = None;
        let slow_log = settings.slow_log;
        let mut slow: Vec<(usize, Duration)> = Vec::new();
        let entered_millis = self.services.environment.clock.monotonic_millis();
        for write in chunk {
            let begun = slow_log.is_about_writes().then(Instant::now);
            if let Some(next) = chunk.get(done + 1) {
                prefetch_start(next.operation.source);
            }
            let outcome = match writer.attempt(write) {
                Attempt::Finished(outcome) => outcome,
                Attempt::NeedsMapping => {
                    needs_mapping = Some(writer.mapping.clone());
                    break;
                }
            };
            if let Err(error) = &outcome {
                self.count_failure(write, error);
            }
            results.push(outcome);
            if let Some(took) =
                begun.map(|begun| begun.elapsed()).filter(|took| slow_log.is_slow_write(*took))
            {
                slow.push((done, took));
            }
            done += 1;
            if self.takes_long(write, done, entered_millis) {
                break;
            }
        }
        writer.release_seq_nos();
        let Writer { slot, batch, .. } = writer;
        records.batch = batch;
        drop(fence);
        let bytes = core.check_in(slot);
        drop(gate);
        drop(inside);
        for (number, took) in slow {
            log_write(self, &slow_log, &chunk[number].operation, took);
        }
        self.keep_buffer_small(core, bytes)?;
        Ok((done, needs_mapping))
    }

    /// Writes a buffer of `bytes` if it is too large, or has it written soon.
    fn keep_buffer_small(&self, core: &Core, bytes: usize) -> Result<()> {
        if bytes > BUFFER_BYTES_MAX {
            return self.refresh_core(core);
        }
        if bytes > BUFFER_BYTES_LARGE {
            core.has_large_buffer.store(true, Ordering::Release);
            self.write_buffers_soon();
        }
        Ok(())
    }

    /// Enters the gate once the version map has the entries that the chunk needs; for that it may have to
    /// refresh.
    fn enter_gate<'c>(&self, core: &'c Arc<Core>, chunk: &[Write<'_>]) -> Result<RwLockReadGuard<'c, ()>> {
        let needs_entries = chunk.iter().any(|write| !write.is_generated);
        loop {
            let gate = core.gate.read();
            if !needs_entries || core.versions.require_entries() {
                return Ok(gate);
            }
            drop(gate);
            self.refresh_core(core)?;
        }
    }

    /// Lets others run after operation number `done` of a chunk that entered the gate at `entered_millis`:
    /// the documents of a bulk may be as expensive as searches. Returns whether the chunk should end.
    fn takes_long(&self, write: &Write<'_>, done: usize, entered_millis: u64) -> bool {
        let is_large = write.operation.source.len() >= LARGE_SOURCE_BYTES;
        if !is_large && !done.is_multiple_of(OPERATIONS_PER_LOOK) {
            return false;
        }
        work::let_others_run();
        let now_millis = self.services.environment.clock.monotonic_millis();
        now_millis.saturating_sub(entered_millis) >= CHUNK_MILLIS_MAX
    }

    fn count_failure(&self, write: &Write<'_>, error: &RequestError) {
        if write.operation.kind != OperationType::Delete {
            self.counters.indexing.failed.fetch_add(1, Ordering::Relaxed);
            let is_conflict = error.kind == VERSION_CONFLICT;
            self.counters.version_conflicts.fetch_add(is_conflict.into(), Ordering::Relaxed);
        }
    }

    fn count_chunk(&self, chunk: &[Write<'_>]) -> [Option<Timer<'_>>; 2] {
        let is_delete = |write: &&Write<'_>| write.operation.kind == OperationType::Delete;
        let deletes = chunk.iter().filter(is_delete).count() as u64;
        let indexed = chunk.len() as u64 - deletes;
        let clock = &*self.services.environment.clock;
        [
            (indexed > 0).then(|| Timer::start(clock, &self.counters.indexing, indexed)),
            (deletes > 0).then(|| Timer::start(clock, &self.counters.deleting, deletes)),
        ]
    }

    pub(in crate::shard) fn write_buffers_soon(&self) {
        if let Some(host) = self.services.host.upgrade() {
            host.write_buffers_soon();
        }
    }

    pub(crate) fn conflict(&self, id: &str, why: String) -> RequestError {
        self.located(RequestError::new(
            ErrorClass::Conflict,
            VERSION_CONFLICT,
            format!("[{id}]: version conflict, {why}"),
        ))
    }
}
