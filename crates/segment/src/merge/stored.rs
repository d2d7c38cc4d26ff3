//! Merges stored documents; copies whole blocks unchanged if none of their documents was deleted and they are
//! compressed as the merged segment's are.

use super::conduct::Documents;
use super::dictionary::{MergeDictionary, merged_codec};
use super::order::MergeOrder;
use crate::file::{Follower, NO_FIELD, SectionKind, SectionWriter, SegmentWriter};
use crate::stored::{RawBlock, Stored, StoredCodec, StoredReader, StoredWriter};
use crate::{DocId, Result, SegmentView};

/// Bytes of finished blocks that are collected before they are written.
const DRAIN_BYTES: usize = 1 << 20;

pub(super) fn merge_stored(
    documents: &Documents<'_>,
    codec: StoredCodec,
    dictionary: MergeDictionary<'_>,
    writer: &mut SegmentWriter<'_>,
) -> Result<()> {
    let (codec, dictionary) = match merged_codec(documents.views, codec)? {
        Some(codec) => dictionary.choose(documents.views, codec)?,
        None => (codec, Vec::new()),
    };
    let mut section = writer.begin(SectionKind::StoredBlocks, NO_FIELD);
    let mut merged = StoredWriter::with_dictionary(codec, dictionary);
    if let Some(order) = documents.order {
        copy_in_order(documents.views, order, &mut merged, &mut section)?;
        return merged.finish(section, writer);
    }
    let mut reader = StoredReader::new();
    for view in documents.views {
        let Some(stored) = view.segment.stored_documents()? else { continue };
        let mut follower = view.segment.file().follow_stored();
        let copied = copy_segment(view, &stored, &mut follower, &mut reader, &mut merged, &mut section);
        // The error of the whole section says more than the error that a reader met in it, so it is
        // returned first.
        follower.finish()?;
        copied?;
    }
    merged.finish(section, writer)
}

/// Copies all live documents of a segment, in their order.
fn copy_segment(
    view: &SegmentView,
    stored: &Stored<'_>,
    follower: &mut Follower<'_>,
    reader: &mut StoredReader,
    merged: &mut StoredWriter,
    section: &mut SectionWriter<'_>,
) -> Result<()> {
    let is_alike = is_alike(stored, merged);
    for block in 0..stored.block_count() {
        let raw = stored.raw_block(block)?;
        follower.advance(stored.block_end(block));
        if is_alike && is_whole(view, &raw) && stored.is_well_filled(&raw)? {
            merged.push_raw(&raw)?;
        } else {
            copy_documents(view, stored, &raw, reader, merged)?;
        }
        if merged.finished_bytes() >= DRAIN_BYTES {
            merged.drain(section)?;
        }
    }
    Ok(())
}

/// Copies runs of documents of one segment; if a run is long, copies whole blocks unchanged.
fn copy_in_order(
    views: &[SegmentView],
    order: &MergeOrder,
    merged: &mut StoredWriter,
    section: &mut SectionWriter<'_>,
) -> Result<()> {
    let mut sources = Vec::with_capacity(views.len());
    for view in views {
        let stored = view.segment.stored_documents()?;
        sources.push(StoredSource {
            view,
            is_alike: stored.as_ref().is_some_and(|stored| is_alike(stored, merged)),
            stored,
            reader: StoredReader::new(),
            next: 0,
            block: 0,
            follower: view.segment.file().follow_stored(),
        });
    }
    for (segment, doc_count) in order.runs() {
        if let Err(error) = sources[segment].copy(doc_count, merged) {
            sources.swap_remove(segment).follower.finish()?;
            return Err(error);
        }
        if merged.finished_bytes() >= DRAIN_BYTES {
            merged.drain(section)?;
        }
    }
    sources.into_iter().try_for_each(|source| source.follower.finish())
}

/// The stored documents of a segment, read from the first to the last.
struct StoredSource<'a> {
    view: &'a SegmentView,
    stored: Option<Stored<'a>>,
    is_alike: bool,
    reader: StoredReader,
    next: DocId,
    /// A block at or before the one that holds `next`.
    block: usize,
    follower: Follower<'a>,
}

/// A run of fewer blocks is copied document by document, because a raw block ends the block before it,
/// however small that is.
const RAW_BLOCKS_MIN: u32 = 4;

impl StoredSource<'_> {
    /// Copies the next `doc_count` live documents.
    fn copy(&mut self, doc_count: u32, merged: &mut StoredWriter) -> Result<()> {
        let Some(stored) = &self.stored else { return Ok(()) };
        let mut left = doc_count;
        while left > 0 {
            if !self.view.is_live(self.next) {
                self.next += 1;
                continue;
            }
            let mut raw = stored.raw_block(self.block)?;
            while self.next >= raw.first_doc + raw.doc_count {
                self.block += 1;
                raw = stored.raw_block(self.block)?;
            }
            self.follower.advance(stored.block_end(self.block));
            let is_long = left >= raw.doc_count.saturating_mul(RAW_BLOCKS_MIN);
            if is_long
                && self.next == raw.first_doc
                && self.is_alike
                && is_whole(self.view, &raw)
                && stored.is_well_filled(&raw)?
            {
                merged.push_raw(&raw)?;
                self.next += raw.doc_count;
                left -= raw.doc_count;
                continue;
            }
            let document = stored.document(self.view.segment.core(), self.next, &mut self.reader)?;
            merged.push(document.id, document.routing, document.source)?;
            self.next += 1;
            left -= 1;
        }
        Ok(())
    }
}

/// Whether the blocks are compressed as those of the merged segment are.
fn is_alike(stored: &Stored<'_>, merged: &StoredWriter) -> bool {
    stored.codec() == merged.codec() && stored.dictionary() == merged.dictionary()
}

/// Whether all documents of the block are live.
fn is_whole(view: &SegmentView, raw: &RawBlock<'_>) -> bool {
    let mut docs = raw.first_doc..raw.first_doc + raw.doc_count;
    view.live.as_ref().is_none_or(|live| docs.all(|doc| live.is_live(doc)))
}

fn copy_documents(
    view: &SegmentView,
    stored: &Stored<'_>,
    raw: &RawBlock<'_>,
    reader: &mut StoredReader,
    merged: &mut StoredWriter,
) -> Result<()> {
    for doc in (raw.first_doc..raw.first_doc + raw.doc_count).filter(|doc| view.is_live(*doc)) {
        let document = stored.document(view.segment.core(), doc, reader)?;
        merged.push(document.id, document.routing, document.source)?;
    }
    Ok(())
}
