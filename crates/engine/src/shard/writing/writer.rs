//! Writes one operation to a buffer: version check, parsing, version map, record.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use limber_mapping::document::{self, Parsed};
use limber_mapping::{Mapping, RequestError};
use limber_search::stored_source;
use limber_segment::{DocId, DocumentMeta, Segment, WriteIdentity};
use limber_work as work;

use super::write::{Condition, Write, Written};
use crate::api::{Result, WriteResult};
use crate::shard::core::{Core, Shard, Slot};
use crate::shard::error::segment_error;
use crate::shard::ids::versions::{BatchPlace, BufferPlace, RecordPlace, VersionEntry};
use crate::shard::segments::{SegmentEntry, SegmentList, locate, number_of};
use crate::translog::{Operation, OperationType, Record, RecordBatch};

/// Largest version, Java's `Long.MAX_VALUE`.
const VERSION_MAX: u64 = i64::MAX as u64;

/// The existing document with an id.
struct Existing {
    identity: WriteIdentity,
    place: Place,
}

enum Place {
    Deleted,
    Buffer(BufferPlace),
    Segment(Arc<SegmentEntry>, DocId),
}

/// The result of trying an operation.
pub(in crate::shard) enum Attempt {
    Finished(Result<Written>),
    /// Nothing was done, because the mapping must be updated first.
    NeedsMapping,
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

/// The state of one call of [`Shard::write`].
pub(in crate::shard) struct Writer<'s> {
    pub(in crate::shard) shard: &'s Shard,
    pub(in crate::shard) core: &'s Core,
    pub(in crate::shard) segments: Arc<SegmentList>,
    pub(in crate::shard) mapping: Arc<Mapping>,
    pub(in crate::shard) slot: Slot,
    pub(in crate::shard) batch: RecordBatch,
    pub(in crate::shard) place: Arc<BatchPlace>,
    /// Measured by the wall clock.
    pub(in crate::shard) now_millis: u64,
    /// See [`Shard::interval_millis`].
    pub(in crate::shard) interval_millis: u64,
    /// Sequence numbers for documents with generated ids. See [`Writer::reserve_seq_nos`].
    pub(in crate::shard) reserved: Range<u64>,
    /// Why the index takes no writes, apart from those of a recovery.
    pub(in crate::shard) blocked: Option<RequestError>,
}

impl Writer<'_> {
    pub(in crate::shard) fn attempt(&mut self, write: &Write<'_>) -> Attempt {
        match self.carry_out(write) {
            Ok(written) => Attempt::Finished(Ok(written)),
            Err(Refused::Request(error)) => Attempt::Finished(Err(error)),
            Err(Refused::NeedsMapping) => Attempt::NeedsMapping,
        }
    }

    fn carry_out(&mut self, write: &Write<'_>) -> std::result::Result<Written, Refused> {
        if let Some(blocked) = &self.blocked
            && !matches!(write.condition, Condition::Replay(_))
        {
            return Err(Refused::Request(blocked.clone()));
        }
        if write.is_generated && !self.core.versions.append_needs_entry() {
            let seq_no = self.take_seq_no(write);
            let identity = WriteIdentity { seq_no, primary_term: self.core.primary_term, version: 1 };
            self.add_document(write, identity)?;
            self.record(write, identity);
            return Ok(Written { result: WriteResult::Created, identity });
        }
        let core = self.core;
        let id = write.operation.id.as_bytes();
        let mut stripe = core.versions.stripe(id);
        let existing = match stripe.get(id) {
            Some(entry) => Some(Existing {
                identity: entry.identity,
                place: entry.place.map_or(Place::Deleted, Place::Buffer),
            }),
            None if write.is_generated => None,
            None => self.in_segments(id, write.condition)?,
        };
        let version = match self.check(write, existing.as_ref())? {
            Verdict::Write { version } => version,
            Verdict::Skip(written) => return Ok(written),
        };
        let identity = match write.condition {
            Condition::Replay(identity) => identity,
            _ => WriteIdentity { seq_no: self.take_seq_no(write), primary_term: core.primary_term, version },
        };
        let is_live = existing.as_ref().is_some_and(|existing| !matches!(existing.place, Place::Deleted));
        let is_delete = write.operation.kind == OperationType::Delete;
        let (result, place) = if is_delete {
            (if is_live { WriteResult::Deleted } else { WriteResult::NotFound }, None)
        } else {
            let doc = self.add_document(write, identity)?;
            let result = if is_live { WriteResult::Updated } else { WriteResult::Created };
            (result, Some(BufferPlace { buffer: self.slot.number, doc }))
        };
        if let Some(existing) = existing {
            self.delete_existing(existing.place);
        }
        let record = self.record(write, identity);
        let entry = VersionEntry {
            identity,
            place,
            record,
            deleted_millis: if is_delete { self.interval_millis } else { 0 },
        };
        stripe.put(id, entry, core.versions.bytes());
        Ok(Written { result, identity })
    }

    /// Reserves a sequence number for each document in `chunk` with a generated id, so that writers do not
    /// contend for the counter. This is only correct for generated ids: nothing was written under them
    /// before, so no later write to the same id can get a lower number.
    pub(in crate::shard) fn reserve_seq_nos(&mut self, chunk: &[Write<'_>]) {
        let count = chunk.iter().filter(|write| write.is_generated).count() as u64;
        let start = self.core.next_seq_no.fetch_add(count, Ordering::AcqRel);
        self.reserved = start..start + count;
    }

    /// Gives back reserved numbers that refused documents left. Called before the gate is released.
    pub(in crate::shard) fn release_seq_nos(&mut self) {
        let Range { start, end } = std::mem::take(&mut self.reserved);
        if start < end && !self.take_back(start..end) {
            (start..end).for_each(|seq_no| self.record_unused(seq_no));
        }
    }

    fn take_seq_no(&mut self, write: &Write<'_>) -> u64 {
        let reserved = if write.is_generated { self.reserved.next() } else { None };
        reserved.unwrap_or_else(|| self.core.next_seq_no.fetch_add(1, Ordering::AcqRel))
    }

    /// Finds the live document in the segments. Its sequence number and version are read only if the
    /// condition or the response needs them.
    fn in_segments(&self, id: &[u8], condition: Condition) -> Result<Option<Existing>> {
        let read = || -> limber_segment::Result<Option<Existing>> {
            let Some((entry, doc)) = locate(&self.segments, id, Segment::find_replaced)? else {
                return Ok(None);
            };
            let needs_seq_no = matches!(condition, Condition::SeqNo { .. } | Condition::Replay(_));
            let number = |column, needed: bool| match needed {
                true => number_of(&entry.segment, column, doc),
                false => Ok(0),
            };
            let identity = WriteIdentity {
                seq_no: number("_seq_no", needs_seq_no)?,
                primary_term: number("_primary_term", needs_seq_no)?,
                version: number("_version", true)?,
            };
            Ok(Some(Existing { identity, place: Place::Segment(entry.clone(), doc) }))
        };
        read().map_err(|error| segment_error(&error))
    }

    fn check(&self, write: &Write<'_>, existing: Option<&Existing>) -> Result<Verdict> {
        let live = existing.filter(|existing| !matches!(existing.place, Place::Deleted));
        let live = live.map(|existing| existing.identity);
        let existing = existing.map(|existing| existing.identity);
        let conflict = |why: String| Err(self.shard.conflict(write.operation.id, why));
        // A tombstone's version counts too, so that a document that was deleted and is written again does not
        // start at 1.
        let next = existing.map_or(1, |existing| existing.version.saturating_add(1).min(VERSION_MAX));
        match write.condition {
            Condition::Replay(identity) => {
                return Ok(match existing {
                    Some(existing) if existing.seq_no >= identity.seq_no => {
                        Verdict::Skip(Written { result: WriteResult::Noop, identity })
                    }
                    _ => Verdict::Write { version: identity.version },
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
                return self.check_create(write, live).map(|()| Verdict::Write { version });
            }
            Condition::ExternalGte(version) => {
                if let Some(current) =
                    existing.map(|existing| existing.version).filter(|current| *current > version)
                {
                    return conflict(format!(
                        "current version [{current}] is higher than the one provided [{version}]"
                    ));
                }
                return self.check_create(write, live).map(|()| Verdict::Write { version });
            }
            Condition::None => {}
        }
        self.check_create(write, live)?;
        Ok(Verdict::Write { version: next })
    }

    fn check_create(&self, write: &Write<'_>, live: Option<WriteIdentity>) -> Result<()> {
        match live {
            Some(live) if write.must_create => Err(self.shard.conflict(
                write.operation.id,
                format!("document already exists (current version [{}])", live.version),
            )),
            _ => Ok(()),
        }
    }

    /// Parses the document into the buffer.
    fn add_document(
        &mut self,
        write: &Write<'_>,
        identity: WriteIdentity,
    ) -> std::result::Result<DocId, Refused> {
        let operation = &write.operation;
        let Slot { buffer, scratch, .. } = &mut self.slot;
        let meta = DocumentMeta { id: operation.id.as_bytes(), routing: operation.routing, identity };
        if matches!(write.condition, Condition::Replay(_)) {
            return work::suspended(|| self.replay_document(operation, &meta)).map_err(Refused::Request);
        }
        let stored = match stored_source(&self.mapping, operation.source) {
            Ok(stored) => stored,
            Err(stop) => return Err(Refused::Request(stop.into())),
        };
        let doc = buffer.begin(&meta, stored.as_deref().unwrap_or_default());
        scratch.for_document(operation.id).routed(operation.routing.is_some());
        let parsed = document::parse(&self.mapping, operation.source, scratch, buffer);
        let parsed = match parsed {
            Ok(Parsed::Done) => self
                .shard
                .add_derived(&self.mapping, operation.source, self.now_millis, buffer)
                .map(|()| Parsed::Done),
            other => other,
        };
        let refused = match parsed {
            Ok(Parsed::Done) if stored.is_none() => {
                buffer.rollback();
                let what = "a document of more than 128 levels in an index that filters its sources or rebuilds them";
                Refused::Request(RequestError::unsupported(what))
            }
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
        self.give_back(identity.seq_no);
        Err(refused)
    }

    /// Adds a document during recovery, which never refuses an acknowledged document. Parts that the current
    /// mapping does not accept are not indexed. If even the rest cannot be indexed, the document keeps only
    /// its id, its sequence number and version, and its source.
    fn replay_document(&mut self, operation: &Operation<'_>, meta: &DocumentMeta<'_>) -> Result<DocId> {
        let stored = stored_source(&self.mapping, operation.source).unwrap_or_default();
        let stored = stored.as_deref().unwrap_or(operation.source);
        let Slot { buffer, scratch, .. } = &mut self.slot;
        let doc = buffer.begin(meta, stored);
        let parsed = document::parse_acknowledged(&self.mapping, operation.source, scratch, buffer);
        let added = parsed
            .and_then(|()| self.shard.add_derived(&self.mapping, operation.source, self.now_millis, buffer));
        let outcome = match added {
            Ok(()) => buffer.commit().map_err(|error| segment_error(&error)),
            Err(error) => {
                buffer.rollback();
                Err(error)
            }
        };
        let Err(error) = outcome else { return Ok(doc) };
        let (index, id) = (&self.shard.index.name, operation.id);
        tracing::warn!(%index, id, %error, "a document is recovered that the index of today refuses: only its source is kept");
        let doc = buffer.begin(meta, stored);
        buffer.commit().map(|()| doc).map_err(|error| segment_error(&error))
    }

    /// Disposes of an unused sequence number: gives it back if it is still the newest, else records a no-op
    /// for it.
    fn give_back(&mut self, seq_no: u64) {
        if seq_no + 1 == self.reserved.start {
            self.reserved.start = seq_no;
        } else if !self.take_back(seq_no..seq_no + 1) {
            self.record_unused(seq_no);
        }
    }

    /// Gives numbers back to the counter if no later ones were assigned.
    fn take_back(&self, seq_nos: Range<u64>) -> bool {
        let next = &self.core.next_seq_no;
        next.compare_exchange(seq_nos.end, seq_nos.start, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    fn record_unused(&mut self, seq_no: u64) {
        let identity = WriteIdentity { seq_no, primary_term: self.core.primary_term, version: 0 };
        self.batch.push(&Record { operation: Operation::NO_OP, identity });
    }

    fn delete_existing(&mut self, place: Place) {
        match place {
            Place::Deleted => {}
            Place::Buffer(place) if place.buffer == self.slot.number => self.slot.buffer.delete(place.doc),
            Place::Buffer(place) => self.core.delete_in_buffer(place.buffer, place.doc),
            Place::Segment(entry, doc) => entry.delete(doc),
        }
    }

    /// Adds the operation's record to the batch. Returns `None` during recovery, when the translog already
    /// has it.
    fn record(&mut self, write: &Write<'_>, identity: WriteIdentity) -> Option<RecordPlace> {
        if matches!(write.condition, Condition::Replay(_)) {
            return None;
        }
        let (offset, len) = self.batch.push(&Record { operation: write.operation, identity });
        Some(RecordPlace { batch: self.place.clone(), offset, len })
    }
}

enum Verdict {
    Write { version: u64 },
    Skip(Written),
}
