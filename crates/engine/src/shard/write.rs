//! The write path of a shard. The conductor is [`Shard::write`].

use std::sync::Arc;
use std::sync::atomic::Ordering;

use limber_codec::prefetch::prefetch_start;
use limber_mapping::RequestError;

use super::core::{BUFFER_BYTES_LARGE, BUFFER_BYTES_MAX, Core, Shard, is_filling};
use super::error::disk_error;
use super::stats::Timer;
use super::versions::BatchPlace;
use super::writer::Writer;
use crate::api::{Result, WriteResult};
use crate::settings::Durability;
use crate::translog::{LogPosition, RecordBatch};
use crate::waiting::waiting;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShardOperationKind {
    Index,
    /// Fails when the document exists.
    Create,
    Delete,
}

/// What must hold for the operation to be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    None,
    SeqNo {
        seq_no: u64,
        primary_term: u64,
    },
    External(u64),
    ExternalGte(u64),
    /// Recovery: the operation has its numbers, and is skipped when a later one was applied.
    Replay(Replayed),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Replayed {
    pub seq_no: u64,
    pub primary_term: u64,
    pub version: u64,
}

/// One operation on one document of this shard, borrowed from the request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShardOperation<'a> {
    pub kind: ShardOperationKind,
    pub id: &'a str,
    /// The id was generated for this request: no document can have it.
    pub is_generated: bool,
    pub routing: Option<&'a str>,
    pub source: &'a [u8],
    pub condition: Condition,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Written {
    pub result: WriteResult,
    pub version: u64,
    pub seq_no: u64,
    pub primary_term: u64,
}

/// Operations between two looks at the gate and the clock: below a millisecond for log lines.
const CHUNK_OPERATIONS: usize = 256;
/// Records are handed to the translog when this many bytes have gathered, else once a request.
const BATCH_BYTES_MAX: usize = 1 << 20;

/// About what an operation takes in a batch of records, and once more in a buffer.
fn record_bytes(operation: &ShardOperation<'_>) -> usize {
    RecordBatch::record_bytes(operation.id.as_bytes(), operation.routing, operation.source)
}

/// Makes waiting readers go on when a writer ends early.
struct PlaceGuard(Arc<BatchPlace>);

impl Drop for PlaceGuard {
    fn drop(&mut self) {
        let _ = self.0.set(None);
    }
}

/// A panic in the middle of a document leaves a buffer nobody can trust: the shard recovers from disk.
struct PanicGuard<'s>(&'s Core);

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(RequestError::new(
                500,
                "engine_exception",
                "a write panicked; the shard recovers from disk",
            ));
        }
    }
}

impl Shard {
    /// Carries out operations in order; one result each. Returns what [`Shard::sync`] must reach before they are acknowledged.
    pub(crate) fn write(
        &self,
        operations: &[ShardOperation<'_>],
        results: &mut Vec<Result<Written>>,
    ) -> Result<Option<LogPosition>> {
        let core = self.core()?;
        self.write_to(&core, operations, results)
    }

    /// Makes what was written durable, as the index's settings ask.
    pub(crate) fn sync(&self, position: LogPosition) -> Result<()> {
        if self.index.settings.load().durability == Durability::Async {
            return Ok(());
        }
        self.sync_now(position)
    }

    pub(crate) fn sync_now(&self, position: LogPosition) -> Result<()> {
        let core = self.core()?;
        waiting(|| self.sync_to(&core, position))
    }

    fn sync_to(&self, core: &Core, position: LogPosition) -> Result<()> {
        core.translog.sync(position).map_err(|error| self.disk_failed(core, &error))?;
        self.account(core);
        Ok(())
    }

    /// `async` durability: makes everything written so far durable, once per `sync_interval`.
    pub(crate) fn sync_if_due(&self) -> Result<()> {
        let core = self.core()?;
        let now_millis = self.now_millis();
        let since_ms = now_millis.saturating_sub(core.last_sync_millis.load(Ordering::Relaxed));
        if core.is_failed() || since_ms < self.index.settings.load().sync_interval_ms {
            return Ok(());
        }
        core.last_sync_millis.store(now_millis, Ordering::Relaxed);
        self.sync_to(&core, core.translog.end())
    }

    /// Memory no longer agrees with the disk: the core takes no more writes until the shard was reopened.
    pub(super) fn disk_failed(&self, core: &Core, error: &limber_store::Error) -> RequestError {
        // Closed meanwhile, or failed already: that is the reason, not what the log makes of it.
        if let Err(reason) = core.check() {
            return reason;
        }
        let error_json = disk_error(error, &self.index.name);
        tracing::error!(index = %self.index.name, shard = self.number, %error, "shard failed");
        core.fail(error_json.clone());
        if error.is_disk_full()
            && let Some(host) = self.services.host.upgrade()
        {
            host.disk_is_full();
        }
        error_json
    }

    pub(super) fn write_to(
        &self,
        core: &Arc<Core>,
        operations: &[ShardOperation<'_>],
        results: &mut Vec<Result<Written>>,
    ) -> Result<Option<LogPosition>> {
        let first_result = results.len();
        let mut end = None;
        let mut bytes_left: usize = operations.iter().map(record_bytes).sum();
        let mut batch = RecordBatch::default();
        let mut place: Arc<BatchPlace> = Arc::default();
        let mut guard = PlaceGuard(place.clone());
        let mut reservation = Reservation { shard: self, core, bytes: 0 };
        for chunk in operations.chunks(CHUNK_OPERATIONS) {
            core.check()?;
            let chunk_bytes: usize = chunk.iter().map(record_bytes).sum();
            let fits = batch.len_bytes() + chunk_bytes <= batch.heap_bytes();
            if !fits && !batch.is_empty() {
                end = Some(self.append(core, std::mem::take(&mut batch), &place)?);
                place = Arc::default();
                guard = PlaceGuard(place.clone());
            }
            let batch_bytes = match fits {
                true => batch.heap_bytes(),
                false => bytes_left.min(BATCH_BYTES_MAX + chunk_bytes),
            };
            self.reserve_memory(&mut reservation, batch_bytes + chunk_bytes);
            if !fits {
                batch = RecordBatch::with_capacity(batch_bytes);
            }
            (batch, place) = self.write_chunk(core, chunk, batch, place, results)?;
            bytes_left -= chunk_bytes;
            reservation.set(batch.heap_bytes() as u64);
        }
        if !batch.is_empty() {
            end = Some(self.append(core, batch, &place)?);
        }
        drop(guard);
        drop(reservation);
        if results[first_result..].iter().any(|result| result.is_ok()) {
            core.is_dirty.store(true, Ordering::Release);
            core.is_uncommitted.store(true, Ordering::Release);
        }
        Ok(end)
    }

    fn append(&self, core: &Core, batch: RecordBatch, place: &BatchPlace) -> Result<LogPosition> {
        let appended = core.translog.append(batch).map_err(|error| self.disk_failed(core, &error))?;
        let _ = place.set(Some((appended.generation, appended.offset)));
        Ok(appended.end)
    }

    fn write_chunk(
        &self,
        core: &Arc<Core>,
        chunk: &[ShardOperation<'_>],
        batch: RecordBatch,
        place: Arc<BatchPlace>,
        results: &mut Vec<Result<Written>>,
    ) -> Result<(RecordBatch, Arc<BatchPlace>)> {
        let needs_entries = chunk.iter().any(|operation| !operation.is_generated);
        let gate = loop {
            let gate = core.gate.read();
            if !needs_entries || core.versions.require_entries() {
                break gate;
            }
            drop(gate);
            self.refresh_core(core)?;
        };
        let deletes =
            chunk.iter().filter(|operation| operation.kind == ShardOperationKind::Delete).count() as u64;
        let clock = &*self.services.environment.clock;
        let _indexing = (chunk.len() as u64 > deletes)
            .then(|| Timer::start(clock, &self.counters.indexing, chunk.len() as u64 - deletes));
        let _deleting = (deletes > 0).then(|| Timer::start(clock, &self.counters.deleting, deletes));
        let guard = PanicGuard(core);
        let mut writer = Writer {
            shard: self,
            core,
            segments: core.segments.load_full(),
            mapping: self.index.mapping.load_full(),
            slot: core.check_out(self.codec(), self.sort()),
            batch,
            place,
            now_millis: self.now_millis(),
            reserved: 0..0,
        };
        writer.reserve_seq_nos(chunk);
        for (at, operation) in chunk.iter().enumerate() {
            if let Some(next) = chunk.get(at + 1) {
                prefetch_start(next.source);
            }
            let outcome = writer.carry_out(operation);
            if outcome.is_err() && operation.kind != ShardOperationKind::Delete {
                self.counters.indexing.failed.fetch_add(1, Ordering::Relaxed);
            }
            results.push(outcome);
        }
        writer.release_seq_nos();
        let Writer { slot, batch, place, .. } = writer;
        drop(guard);
        let bytes = core.check_in(slot);
        drop(gate);
        if bytes > BUFFER_BYTES_MAX {
            self.refresh_core(core)?;
        } else if bytes > BUFFER_BYTES_LARGE {
            core.has_large_buffer.store(true, Ordering::Release);
            self.write_buffers_soon();
        }
        Ok((batch, place))
    }

    fn write_buffers_soon(&self) {
        if let Some(host) = self.services.host.upgrade() {
            host.write_buffers_soon();
        }
    }

    /// Charges what a chunk may need before it is parsed; a full pool makes the node write out its largest buffers.
    fn reserve_memory(&self, reservation: &mut Reservation<'_>, bytes: usize) {
        let core = reservation.core;
        reservation.set(bytes as u64);
        if self.account(core) {
            if is_filling(&self.services.ledger.indexing) {
                self.write_buffers_soon();
            }
            return;
        }
        if let Some(host) = self.services.host.upgrade() {
            host.relieve_indexing_memory(&|| !self.account(core));
        }
        // What still does not fit is written as soon as the chunk is through; a single document always may.
        let mut charge = core.charge.lock();
        let missing = core.indexing_bytes().saturating_sub(charge.bytes());
        charge.grow_always(missing);
    }

    /// Brings the charge to what the core holds. False: the pool is full, and the charge is as it was.
    pub(super) fn account(&self, core: &Core) -> bool {
        let mut charge = core.charge.lock();
        let (wanted, charged) = (core.indexing_bytes(), charge.bytes());
        charge.shrink_to(wanted.min(charged));
        wanted <= charged || charge.try_grow(wanted - charged)
    }

    pub(crate) fn conflict(&self, id: &str, why: String) -> RequestError {
        self.located(RequestError::new(
            409,
            "version_conflict_engine_exception",
            format!("[{id}]: version conflict, {why}"),
        ))
    }
}

/// What a write that is under way holds or may need beside what is counted: its batch of records, its chunk.
struct Reservation<'s> {
    shard: &'s Shard,
    core: &'s Core,
    bytes: u64,
}

impl Reservation<'_> {
    fn set(&mut self, bytes: u64) {
        self.core.reserved_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.core.reserved_bytes.fetch_sub(std::mem::replace(&mut self.bytes, bytes), Ordering::Relaxed);
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.set(0);
        self.shard.account(self.core);
    }
}
