//! Realtime get: returns the newest version of a document, refreshed or not.

use std::borrow::Cow;
use std::sync::Arc;

use limber_mapping::{Mapping, RequestError};
use limber_search::{read_document, shown_source, source_of_stored, stored_source};
use limber_segment::{DocId, Segment, StoredReader, WriteIdentity};

use super::core::{Core, Shard};
use super::error::{segment_error, store_error};
use super::ids::versions::VersionEntry;
use super::segments::{locate, number_of};
use crate::api::{FoundDocument, Result};
use crate::translog::Record;

/// Which version of a document is read, and for what purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// The version that a search sees.
    Published,
    /// The newest version.
    Newest,
    /// The newest version, for a write that keeps parts of it. The data that it is read from is verified.
    ForWrite,
}

enum Newest {
    Entry(VersionEntry),
    Segment(Arc<Segment>, DocId),
    Absent,
}

impl Shard {
    /// Returns the document with this id, and counts it as a get in the statistics.
    pub(crate) fn get(&self, id: &str, reading: Reading) -> Result<Option<FoundDocument>> {
        let start = self.services.environment.clock.monotonic_nanos();
        let found = self.look_up(id, reading);
        let nanos = self.services.environment.clock.monotonic_nanos().saturating_sub(start);
        match &found {
            Ok(Some(_)) => self.counters.get_exists.add(1, nanos),
            _ => self.counters.get_missing.add(1, nanos),
        }
        found
    }

    /// Returns the document with this id.
    pub(crate) fn look_up(&self, id: &str, reading: Reading) -> Result<Option<FoundDocument>> {
        let is_published = reading == Reading::Published;
        if let Some(limits) = self.limits_of_documents()? {
            // Updates never get here, because users who do not see whole documents may not update them.
            return self.get_limited(&limits, id, !is_published);
        }
        let core = self.core()?;
        if is_published {
            self.wake(&core);
        }
        match is_published {
            true => self.get_published(&core, id),
            false => self.get_newest(&core, id, reading),
        }
    }

    /// Returns the newest version. This works even on a failed shard while its translog records can be read,
    /// so that acknowledged documents stay readable when the disk is full. If the last write of the id never
    /// reached the translog, it fails with the shard's failure, because the memory is ahead of the disk.
    fn get_newest(&self, core: &Arc<Core>, id: &str, reading: Reading) -> Result<Option<FoundDocument>> {
        loop {
            match self.newest(core, id.as_bytes(), reading)? {
                Newest::Absent => return Ok(None),
                Newest::Segment(segment, doc) => return self.read_document(&segment, doc, reading).map(Some),
                Newest::Entry(entry) if entry.place.is_none() => return Ok(None),
                Newest::Entry(entry) => {
                    // A synthetic source can be built only from columns, which exist after the refresh.
                    let is_synthetic = self.index.mapping.load().synthetic().is_some();
                    if !is_synthetic && let Some(found) = self.read_record(core, &entry)? {
                        return Ok(Some(found));
                    }
                    // The record's generation was trimmed after the lookup, or the operation was replayed. A
                    // refresh puts it into a segment.
                    self.refresh_core(core)?;
                }
            }
        }
    }

    /// Looks up an id in version map and segments at one moment.
    fn newest(&self, core: &Arc<Core>, id: &[u8], reading: Reading) -> Result<Newest> {
        let find = match reading {
            Reading::ForWrite => Segment::find_replaced,
            Reading::Published | Reading::Newest => Segment::find_id_hashed,
        };
        loop {
            let gate = core.gate.read();
            if !core.versions.require_entries() {
                drop(gate);
                self.refresh_core(core)?;
                continue;
            }
            if let Some(entry) = core.versions.stripe(id).get(id) {
                return Ok(Newest::Entry(entry.clone()));
            }
            let segments = core.segments.load();
            let found = locate(&segments, id, find).map_err(|error| segment_error(&error))?;
            return Ok(match found {
                Some((entry, doc)) => Newest::Segment(entry.segment.clone(), doc),
                // Since the map was asked, a write may have put a newer version there and deleted this one.
                None => core.versions.stripe(id).get(id).cloned().map_or(Newest::Absent, Newest::Entry),
            });
        }
    }

    fn read_record(&self, core: &Core, entry: &VersionEntry) -> Result<Option<FoundDocument>> {
        let Some(record) = &entry.record else { return Ok(None) };
        let Some(location) = record.location() else {
            core.check()?;
            return Ok(None);
        };
        // As framed in the log, and as a copy that is returned.
        limber_work::claim(2 * u64::from(location.len))?;
        let Some(payload) = core.translog.read(location).map_err(|error| store_error(&error))? else {
            return Ok(None);
        };
        let Record { operation, identity } = Record::parse(&payload).map_err(|error| {
            RequestError::internal(
                "corrupt_index_exception",
                format!("translog record of a document: {error}"),
            )
        })?;
        let mapping = self.index.mapping.load();
        let kept = stored_source(&mapping, operation.source)?.unwrap_or_default().into_owned();
        let (shown, stored) = split(&mapping, kept)?;
        Ok(Some(FoundDocument {
            identity,
            routing: operation.routing.map(str::to_owned),
            source: shown,
            stored,
        }))
    }

    fn get_published(&self, core: &Core, id: &str) -> Result<Option<FoundDocument>> {
        let published = core.snapshot.load();
        for view in published.segments.iter().rev() {
            if let Some(doc) = view.segment.find_id(id.as_bytes()).map_err(|error| segment_error(&error))?
                && view.is_live(doc)
            {
                return self.read_document(&view.segment, doc, Reading::Published).map(Some);
            }
        }
        Ok(None)
    }

    fn read_document(&self, segment: &Segment, doc: DocId, reading: Reading) -> Result<FoundDocument> {
        let mapping = self.index.mapping.load();
        // Stored blocks are verified whenever they are read; columns are not.
        if reading == Reading::ForWrite && mapping.synthetic().is_some() {
            segment.verify_columns().map_err(|error| segment_error(&error))?;
        }
        let found = read_stored(segment, doc)?;
        let source =
            shown_source(&mapping, segment, doc, &found.source).map_err(|error| error.to_request_error())?;
        let source = source.map(Cow::into_owned).unwrap_or_default();
        segment.intact().map_err(|error| segment_error(&error))?;
        let is_apart = !mapping.stored_beside_source().is_empty();
        let stored = if is_apart { found.source.clone() } else { Vec::new() };
        Ok(FoundDocument { source, stored, ..found })
    }
}

/// Splits a stored document: returns the source to show, and, if that differs from the stored document, what
/// stored fields are read from.
fn split(mapping: &Mapping, kept: Vec<u8>) -> Result<(Vec<u8>, Vec<u8>)> {
    if mapping.stored_beside_source().is_empty() {
        return Ok((kept, Vec::new()));
    }
    let shown = source_of_stored(mapping, &kept)?.map(Cow::into_owned).unwrap_or_default();
    Ok((shown, kept))
}

/// Reads a document, with what the segment stores as its source.
pub(super) fn read_stored(segment: &Segment, doc: DocId) -> Result<FoundDocument> {
    let mut reader = StoredReader::new();
    let document = read_document(segment, doc, &mut reader).map_err(|error| error.to_request_error())?;
    let read = || -> limber_segment::Result<FoundDocument> {
        let identity = WriteIdentity {
            seq_no: number_of(segment, "_seq_no", doc)?,
            primary_term: number_of(segment, "_primary_term", doc)?,
            version: number_of(segment, "_version", doc)?,
        };
        let routing = document.routing.map(|routing| String::from_utf8_lossy(routing).into_owned());
        let source = document.source.to_vec();
        Ok(FoundDocument { identity, routing, source, stored: Vec::new() })
    };
    read().map_err(|error| segment_error(&error))
}
