//! The write path of a shard. The conductor is [`Shard::write`].

use std::sync::Arc;
use std::sync::atomic::Ordering;

use limber_mapping::document::{self, Parsed};
use limber_mapping::{Mapping, RequestError};
use limber_segment::{DocId, DocumentMeta};

use super::core::{BUFFER_BYTES_MAX, Core, Shard, Slot};
use super::error::{disk_error, segment_error};
use super::segments::{SegmentEntry, SegmentList, locate, number_of};
use super::stats::Timer;
use super::versions::{BatchPlace, BufferPlace, RecordPlace, VersionEntry};
use crate::api::{Result, WriteResult};
use crate::settings::Durability;
use crate::translog::{LogPosition, Operation, OperationType, RecordBatch};

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
const BATCH_BYTES_MAX: usize = 4 << 20;
/// A document may ask for mapping updates this often (others may change the mapping at the same time).
const MAPPING_UPDATES_MAX: usize = 8;

/// What is there under an id.
struct Existing {
    seq_no: u64,
    primary_term: u64,
    version: u64,
    place: Place,
}

enum Place {
    Deleted,
    Buffer(BufferPlace),
    Segment(Arc<SegmentEntry>, DocId),
}

/// Why an operation was not carried out.
enum Refused {
    /// The document needs a mapping update first.
    NeedsMapping,
    Request(RequestError),
}

impl From<RequestError> for Refused {
    fn from(error: RequestError) -> Self {
        Refused::Request(error)
    }
}

/// What one call of [`Shard::write`] works with.
struct Writer<'s> {
    shard: &'s Shard,
    core: &'s Core,
    segments: Arc<SegmentList>,
    mapping: Arc<Mapping>,
    slot: Slot,
    batch: RecordBatch,
    place: Arc<BatchPlace>,
    now_millis: u64,
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
        core.translog.sync(position).map_err(|error| self.disk_failed(&core, &error))
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
        let end = core.translog.end();
        core.translog.sync(end).map_err(|error| self.disk_failed(&core, &error))
    }

    /// Memory no longer agrees with the disk: the core takes no more writes until the shard was reopened.
    pub(super) fn disk_failed(&self, core: &Core, error: &limber_store::Error) -> RequestError {
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
        let mut batch = core.batches.lock().pop().unwrap_or_default();
        let mut place: Arc<BatchPlace> = Arc::default();
        let mut guard = PlaceGuard(place.clone());
        for chunk in operations.chunks(CHUNK_OPERATIONS) {
            core.check()?;
            self.reserve_memory(core, chunk)?;
            (batch, place) = self.write_chunk(core, chunk, batch, place, results)?;
            if batch.len_bytes() > BATCH_BYTES_MAX {
                end = Some(self.append(core, &mut batch, &place)?);
                place = Arc::default();
                guard = PlaceGuard(place.clone());
            }
        }
        if !batch.is_empty() {
            end = Some(self.append(core, &mut batch, &place)?);
        }
        drop(guard);
        core.batches.lock().push(batch);
        if results[first_result..].iter().any(|result| result.is_ok()) {
            core.is_dirty.store(true, Ordering::Release);
            core.is_uncommitted.store(true, Ordering::Release);
        }
        Ok(end)
    }

    fn append(&self, core: &Core, batch: &mut RecordBatch, place: &BatchPlace) -> Result<LogPosition> {
        let appended = core.translog.append(batch).map_err(|error| self.disk_failed(core, &error))?;
        let _ = place.set(Some((appended.generation, appended.offset)));
        batch.clear();
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
            slot: core.check_out(self.codec()),
            batch,
            place,
            now_millis: self.now_millis(),
        };
        for operation in chunk {
            let outcome = writer.carry_out(operation);
            if outcome.is_err() && operation.kind != ShardOperationKind::Delete {
                self.counters.indexing.failed.fetch_add(1, Ordering::Relaxed);
            }
            results.push(outcome);
        }
        let Writer { slot, batch, place, .. } = writer;
        drop(guard);
        let bytes = core.check_in(slot);
        drop(gate);
        if bytes > BUFFER_BYTES_MAX {
            self.refresh_core(core)?;
        }
        Ok((batch, place))
    }

    /// Charges what a chunk may need before it is parsed; a full pool makes the node write out its largest buffers.
    fn reserve_memory(&self, core: &Core, chunk: &[ShardOperation<'_>]) -> Result<()> {
        let bytes: u64 = chunk.iter().map(|operation| 64 + 2 * operation.source.len() as u64).sum();
        if self.account(core, bytes) {
            return Ok(());
        }
        if let Some(host) = self.services.host.upgrade() {
            host.relieve_indexing_memory();
        }
        // What still does not fit is written as soon as the chunk is through; a single document always may.
        self.account(core, bytes);
        Ok(())
    }

    /// Brings the charge to what buffers and version map hold, plus `more_bytes`. False: the pool is full.
    pub(super) fn account(&self, core: &Core, more_bytes: u64) -> bool {
        let held = core.buffered_bytes.load(Ordering::Relaxed) + core.versions.memory_bytes() as u64;
        let mut charge = core.charge.lock();
        let (wanted, charged) = (held + more_bytes, charge.bytes());
        if wanted <= charged {
            charge.shrink_to(held.max(wanted));
            return true;
        }
        charge.grow(wanted - charged, "index buffers").is_ok()
    }

    pub(crate) fn conflict(&self, id: &str, why: String) -> RequestError {
        self.located(RequestError::new(
            409,
            "version_conflict_engine_exception",
            format!("[{id}]: version conflict, {why}"),
        ))
    }
}

impl Writer<'_> {
    fn carry_out(&mut self, operation: &ShardOperation<'_>) -> Result<Written> {
        for _ in 0..MAPPING_UPDATES_MAX {
            match self.attempt(operation) {
                Ok(written) => return Ok(written),
                Err(Refused::Request(error)) => return Err(error),
                Err(Refused::NeedsMapping) => self.update_mapping(operation)?,
            }
        }
        Err(RequestError::new(500, "mapper_exception", "the document's mapping update did not take effect"))
    }

    fn update_mapping(&mut self, operation: &ShardOperation<'_>) -> Result<()> {
        let inferred = document::infer(&self.mapping, operation.source)?;
        let gone = || RequestError::new(503, "node_closed_exception", "the node is closing");
        let host = self.shard.services.host.upgrade().ok_or_else(gone)?;
        host.update_mapping(&self.shard.index, &inferred)?;
        self.mapping = self.shard.index.mapping.load_full();
        Ok(())
    }

    fn attempt(&mut self, operation: &ShardOperation<'_>) -> std::result::Result<Written, Refused> {
        if operation.is_generated && !self.core.versions.append_needs_entry() {
            let numbers =
                Replayed { seq_no: self.take_seq_no(), primary_term: self.core.primary_term, version: 1 };
            self.add_document(operation, numbers)?;
            self.record(operation, OperationType::Index, numbers);
            return Ok(written(WriteResult::Created, numbers));
        }
        let core = self.core;
        let id = operation.id.as_bytes();
        let mut stripe = core.versions.stripe(id);
        let existing = match stripe.get(id) {
            Some(entry) => Some(Existing {
                seq_no: entry.seq_no,
                primary_term: entry.primary_term,
                version: entry.version,
                place: entry.place.map_or(Place::Deleted, Place::Buffer),
            }),
            None if operation.is_generated => None,
            None => self.in_segments(id, operation.condition)?,
        };
        let version = match self.check(operation, existing.as_ref())? {
            Verdict::Write { version } => version,
            Verdict::Skip(written) => return Ok(written),
        };
        let numbers = match operation.condition {
            Condition::Replay(replayed) => replayed,
            _ => Replayed { seq_no: self.take_seq_no(), primary_term: core.primary_term, version },
        };
        let is_live = existing.as_ref().is_some_and(|existing| !matches!(existing.place, Place::Deleted));
        let is_delete = operation.kind == ShardOperationKind::Delete;
        let (result, place) = if is_delete {
            (if is_live { WriteResult::Deleted } else { WriteResult::NotFound }, None)
        } else {
            let doc = self.add_document(operation, numbers)?;
            let result = if is_live { WriteResult::Updated } else { WriteResult::Created };
            (result, Some(BufferPlace { buffer: self.slot.number, doc }))
        };
        if let Some(existing) = existing {
            self.delete_existing(existing.place);
        }
        let kind = if is_delete { OperationType::Delete } else { OperationType::Index };
        let record = self.record(operation, kind, numbers);
        let entry = VersionEntry {
            seq_no: numbers.seq_no,
            primary_term: numbers.primary_term,
            version: numbers.version,
            place,
            record,
            deleted_millis: if is_delete { self.now_millis } else { 0 },
        };
        stripe.put(id, entry, core.versions.bytes());
        Ok(written(result, numbers))
    }

    fn take_seq_no(&self) -> u64 {
        self.core.next_seq_no.fetch_add(1, Ordering::AcqRel)
    }

    /// The live document in the segments; its numbers are read as far as the condition and the answer need them.
    fn in_segments(&self, id: &[u8], condition: Condition) -> Result<Option<Existing>> {
        let read = || -> limber_segment::Result<Option<Existing>> {
            let Some((entry, doc)) = locate(&self.segments, id)? else { return Ok(None) };
            let needs_seq_no = matches!(condition, Condition::SeqNo { .. } | Condition::Replay(_));
            let number = |column, needed: bool| match needed {
                true => number_of(&entry.segment, column, doc),
                false => Ok(0),
            };
            Ok(Some(Existing {
                seq_no: number("_seq_no", needs_seq_no)?,
                primary_term: number("_primary_term", needs_seq_no)?,
                version: number("_version", true)?,
                place: Place::Segment(entry.clone(), doc),
            }))
        };
        read().map_err(|error| segment_error(&error))
    }

    fn check(&self, operation: &ShardOperation<'_>, existing: Option<&Existing>) -> Result<Verdict> {
        let live = existing.filter(|existing| !matches!(existing.place, Place::Deleted));
        let conflict = |why: String| Err(self.shard.conflict(operation.id, why));
        // A tombstone's version counts on, so that a document that was deleted and comes back does not start at 1.
        let next = existing.map_or(1, |existing| existing.version + 1);
        match operation.condition {
            Condition::Replay(replayed) => {
                return Ok(match existing {
                    Some(existing) if existing.seq_no >= replayed.seq_no => {
                        Verdict::Skip(written(WriteResult::Noop, replayed))
                    }
                    _ => Verdict::Write { version: replayed.version },
                });
            }
            Condition::SeqNo { seq_no, primary_term } => match live {
                None => {
                    return conflict(format!(
                        "required seqNo [{seq_no}], primary term [{primary_term}]. but no document was found"
                    ));
                }
                Some(live) if live.seq_no != seq_no || live.primary_term != primary_term => {
                    return conflict(format!(
                        "required seqNo [{seq_no}], primary term [{primary_term}]. current document has seqNo [{}] and primary term [{}]",
                        live.seq_no, live.primary_term
                    ));
                }
                Some(_) => {}
            },
            Condition::External(version) => {
                if let Some(current) =
                    existing.map(|existing| existing.version).filter(|current| *current >= version)
                {
                    return conflict(format!(
                        "current version [{current}] is higher or equal to the one provided [{version}]"
                    ));
                }
                return self.check_create(operation, live).map(|()| Verdict::Write { version });
            }
            Condition::ExternalGte(version) => {
                if let Some(current) =
                    existing.map(|existing| existing.version).filter(|current| *current > version)
                {
                    return conflict(format!(
                        "current version [{current}] is higher than the one provided [{version}]"
                    ));
                }
                return self.check_create(operation, live).map(|()| Verdict::Write { version });
            }
            Condition::None => {}
        }
        self.check_create(operation, live)?;
        Ok(Verdict::Write { version: next })
    }

    fn check_create(&self, operation: &ShardOperation<'_>, live: Option<&Existing>) -> Result<()> {
        match live {
            Some(live) if operation.kind == ShardOperationKind::Create => Err(self.shard.conflict(
                operation.id,
                format!("document already exists (current version [{}])", live.version),
            )),
            _ => Ok(()),
        }
    }

    /// Parses the document into the buffer.
    fn add_document(
        &mut self,
        operation: &ShardOperation<'_>,
        numbers: Replayed,
    ) -> std::result::Result<DocId, Refused> {
        let Slot { buffer, scratch, .. } = &mut self.slot;
        let meta = DocumentMeta {
            id: operation.id.as_bytes(),
            routing: operation.routing,
            seq_no: numbers.seq_no,
            primary_term: numbers.primary_term,
            version: numbers.version,
        };
        let doc = buffer.begin(&meta, operation.source);
        scratch.for_document(operation.id);
        let refused = match document::parse(&self.mapping, operation.source, scratch, buffer) {
            Ok(Parsed::Done) => match buffer.commit() {
                Ok(()) => return Ok(doc),
                Err(error) => Refused::Request(segment_error(&error)),
            },
            Ok(Parsed::NeedsMapping) => {
                buffer.rollback();
                Refused::NeedsMapping
            }
            Err(error) => {
                buffer.rollback();
                Refused::Request(error)
            }
        };
        if !matches!(operation.condition, Condition::Replay(_)) {
            self.give_back(numbers.seq_no);
        }
        Err(refused)
    }

    /// A sequence number that is not used: given back when it is still the newest, else recorded as used for nothing.
    fn give_back(&mut self, seq_no: u64) {
        let next = &self.core.next_seq_no;
        if next.compare_exchange(seq_no + 1, seq_no, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            self.batch.push(&Operation {
                kind: OperationType::NoOp,
                seq_no,
                primary_term: self.core.primary_term,
                version: 0,
                id: b"",
                routing: None,
                source: b"",
            });
        }
    }

    fn delete_existing(&mut self, place: Place) {
        match place {
            Place::Deleted => {}
            Place::Buffer(place) if place.buffer == self.slot.number => self.slot.buffer.delete(place.doc),
            Place::Buffer(place) => self.core.delete_in_buffer(place.buffer, place.doc),
            Place::Segment(entry, doc) => entry.delete(doc),
        }
    }

    /// Adds the operation's record to the batch; `None` at recovery, where it is in the log already.
    fn record(
        &mut self,
        operation: &ShardOperation<'_>,
        kind: OperationType,
        numbers: Replayed,
    ) -> Option<RecordPlace> {
        if matches!(operation.condition, Condition::Replay(_)) {
            return None;
        }
        let (offset, len) = self.batch.push(&Operation {
            kind,
            seq_no: numbers.seq_no,
            primary_term: numbers.primary_term,
            version: numbers.version,
            id: operation.id.as_bytes(),
            routing: operation.routing,
            source: operation.source,
        });
        Some(RecordPlace { batch: self.place.clone(), offset, len })
    }
}

enum Verdict {
    Write { version: u64 },
    Skip(Written),
}

fn written(result: WriteResult, numbers: Replayed) -> Written {
    Written { result, version: numbers.version, seq_no: numbers.seq_no, primary_term: numbers.primary_term }
}
