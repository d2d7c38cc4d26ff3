//! Stored documents of several segments as one: whole blocks as they are where nothing was deleted.

use crate::file::{NO_FIELD, SectionKind, SegmentWriter};
use crate::stored::{RawBlock, Stored, StoredCodec, StoredReader, StoredWriter};
use crate::{Result, SegmentView};

/// Finished blocks collected before they are written out.
const DRAIN_BYTES: usize = 1 << 20;

pub(super) fn merge_stored(
    views: &[SegmentView],
    codec: StoredCodec,
    writer: &mut SegmentWriter<'_>,
) -> Result<()> {
    let mut section = writer.begin(SectionKind::StoredBlocks, NO_FIELD);
    let mut merged = StoredWriter::new(codec);
    let mut reader = StoredReader::new();
    for view in views {
        let Some(stored) = view.segment.stored_documents()? else { continue };
        for block in 0..stored.block_count() {
            let raw = stored.raw_block(block)?;
            if stored.codec() == codec && is_whole(view, &raw) && stored.is_well_filled(&raw)? {
                merged.push_raw(&raw)?;
            } else {
                copy_documents(view, &stored, &raw, &mut reader, &mut merged)?;
            }
            if merged.finished_bytes() >= DRAIN_BYTES {
                merged.drain(&mut section)?;
            }
        }
    }
    merged.finish(section, writer)
}

/// All documents of the block are live.
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
