//! Reads the documents of a damaged segment: "which can be read, which may be wrong, which are lost?"

use std::sync::Arc;

use limber_mapping::Mapping;
use limber_search::shown_source;
use limber_segment::{DocId, LiveDocs, Segment, SegmentMeta, StoredReader};
use limber_store::Directory;
use limber_store::term_index::TermIndexCache;

use super::folders::{RepairFolders, Saved, SavedFile};

/// The result of reading the documents of one segment.
#[derive(Default)]
pub(super) struct Salvage {
    /// Documents for which every byte that was read is verified.
    pub verified: u64,
    /// Documents that can be read, but from data with a wrong checksum.
    pub suspect: u64,
    pub lost: u64,
    /// Sequence numbers of lost documents, where they can be read.
    pub lost_seq_nos: Vec<u64>,
}

/// The file that the documents are saved to.
pub(super) struct Destination<'d> {
    pub index: &'d str,
    pub mapping: &'d Mapping,
    pub verified: &'d mut SavedFile,
    pub suspect: &'d mut SavedFile,
    pub folders: &'d RepairFolders,
}

/// Saves the readable documents of a segment. `live` is `None` if it is unknown which documents were deleted.
pub(super) fn salvage(
    directory: &Arc<dyn Directory>,
    meta: &SegmentMeta,
    live: Option<&LiveDocs>,
    cache: &Arc<TermIndexCache>,
    to: &mut Destination<'_>,
) -> limber_store::Result<Salvage> {
    let mut salvage = Salvage::default();
    let docs: Vec<DocId> = match live {
        Some(live) => live.iter().collect(),
        None => (0..meta.doc_count).collect(),
    };
    // One reader fails at damage; the other ignores checksums and reads on.
    let opened = || Segment::open(directory, meta, cache).ok();
    let (Some(checked), Some(trusting)) = (opened(), opened()) else {
        salvage.lost = docs.len() as u64;
        return Ok(salvage);
    };
    if checked.scrub(&mut |_| Ok(())).is_err() {
        // If the disk does not respond, everything is suspect.
        checked.note_unsound("the file", "it cannot be read");
    }
    let seq_nos = checked.numbers("_seq_no").ok().flatten();
    let (mut of_checked, mut of_trusting) = (StoredReader::new(), StoredReader::trusting());
    for doc in docs {
        if save(&checked, doc, &mut of_checked, to, false)? {
            salvage.verified += 1;
        } else if save(&trusting, doc, &mut of_trusting, to, true)? {
            salvage.suspect += 1;
        } else {
            salvage.lost += 1;
            let seq_no = seq_nos.as_ref().and_then(|seq_nos| seq_nos.get(doc).ok().flatten());
            salvage.lost_seq_nos.extend(seq_no.map(|seq_no| seq_no as u64));
        }
    }
    Ok(salvage)
}

/// Saves a document if it can be read: its id must be UTF-8 and its source a JSON object. Returns whether it
/// was saved.
fn save(
    segment: &Segment,
    doc: DocId,
    reader: &mut StoredReader,
    to: &mut Destination<'_>,
    is_suspect: bool,
) -> limber_store::Result<bool> {
    let Ok(document) = segment.document(doc, reader) else { return Ok(false) };
    let Ok(id) = std::str::from_utf8(document.id) else { return Ok(false) };
    let routing = document.routing.map(std::str::from_utf8).transpose();
    let (Ok(routing), false) = (routing, id.is_empty()) else { return Ok(false) };
    let Ok(Some(source)) = shown_source(to.mapping, segment, doc, document.source) else { return Ok(false) };
    let is_object = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(&source).is_ok();
    if !is_object || segment.intact().is_err() {
        return Ok(false);
    }
    let saved = Saved { index: to.index, id, routing, source: Some(&source), only_if_absent: true };
    let file = if is_suspect { &mut *to.suspect } else { &mut *to.verified };
    file.save(to.folders, &saved)?;
    Ok(true)
}
