//! Chooses what a merge compresses stored documents with: "does it need a dictionary, and which?"

use crate::file::{NO_FIELD, SectionKind};
use crate::stored::format::{
    DICTIONARY_BYTES_MAX, DICTIONARY_STORED_BYTES_MIN, STORED_BYTES_PER_DICTIONARY_BYTE, TERMINATOR,
};
use crate::stored::{DictionaryTrial, StoredCodec, StoredReader, usable_dictionary};
use crate::{DocId, Result, Segment, SegmentView};

/// The origin of the dictionary with which a merge compresses stored documents.
#[derive(Debug, Clone, Copy)]
pub enum MergeDictionary<'s> {
    /// From the documents. All of them are compressed again, and nothing of deleted documents remains.
    New,
    /// From the largest of the merged segments that has one or, if none does, from this segment; but from the
    /// documents if that is better. Blocks with the same dictionary are copied as they are.
    Known(Option<&'s Segment>),
}

/// Pieces of documents in a dictionary; with 256 instead, logs get 0.3 % smaller.
const PIECES: usize = 64;
/// Pieces of documents with which two dictionaries are compared.
const TRIAL_PIECES: usize = 8;
/// A new dictionary must make documents smaller than this, in percent of what the known one makes of them.
/// Otherwise compressing everything again is not worth it.
const BETTER_PERCENT: usize = 90;

/// Returns the codec of the merged segment if it gets a dictionary: when there are enough documents, or when
/// a source has one.
pub(super) fn merged_codec(views: &[SegmentView], codec: StoredCodec) -> Result<Option<StoredCodec>> {
    let mut is_worth_it = stored_bytes(views) >= DICTIONARY_STORED_BYTES_MIN;
    for view in views {
        is_worth_it |= view.segment.stored_documents()?.is_some_and(|stored| stored.codec().has_dictionary());
    }
    Ok(is_worth_it.then(|| codec.with_dictionary()))
}

/// Returns the approximate bytes of the live stored documents, compressed.
pub(super) fn stored_bytes(views: &[SegmentView]) -> u64 {
    let of_view = |view: &SegmentView| {
        let section = view.segment.file().entry(SectionKind::StoredBlocks, NO_FIELD);
        let bytes = section.map_or(0, |section| section.len);
        bytes * u64::from(view.live_count()) / u64::from(view.doc_count().max(1))
    };
    views.iter().map(of_view).sum()
}

impl MergeDictionary<'_> {
    /// Returns the codec and the dictionary; without documents to take it from, the plain codec.
    pub(super) fn choose(self, views: &[SegmentView], codec: StoredCodec) -> Result<(StoredCodec, Vec<u8>)> {
        let len = (stored_bytes(views) / STORED_BYTES_PER_DICTIONARY_BYTE) as usize;
        let live: u64 = views.iter().map(|view| u64::from(view.live_count())).sum();
        let mut samples = Samples { views, live, reader: StoredReader::new() };
        let new = usable_dictionary(samples.pieces(PIECES, len.min(DICTIONARY_BYTES_MAX) / PIECES));
        let known = match self {
            MergeDictionary::New => None,
            MergeDictionary::Known(donor) => known_dictionary(views, donor, codec)?,
        };
        let chosen = match (known, new) {
            (Some(known), new) if new.is_empty() => known.to_vec(),
            (Some(known), new) => {
                // Between the pieces of the dictionary, so that it is not measured by its own text.
                let piece_bytes = codec.block_bytes();
                let trial: Vec<Vec<u8>> = (0..TRIAL_PIECES)
                    .map(|n| samples.piece(2 * n + 1, 2 * TRIAL_PIECES, piece_bytes))
                    .collect();
                let with =
                    |dictionary: &[u8]| DictionaryTrial::of(codec, dictionary).compressed_bytes(&trial);
                let is_better = with(&new) * 100 < with(known) * BETTER_PERCENT;
                if is_better { new } else { known.to_vec() }
            }
            (None, new) => new,
        };
        match chosen.is_empty() {
            true => Ok((codec.without_dictionary(), chosen)),
            false => Ok((codec, chosen)),
        }
    }
}

/// Returns the dictionary of the source that has the most documents with this codec, else that of `donor`.
fn known_dictionary<'v>(
    views: &'v [SegmentView],
    donor: Option<&'v Segment>,
    codec: StoredCodec,
) -> Result<Option<&'v [u8]>> {
    let mut largest: Option<(u32, &[u8])> = None;
    for view in views {
        let Some(stored) = view.segment.stored_documents()? else { continue };
        let docs = view.live_count();
        if stored.codec() == codec && largest.is_none_or(|(most, _)| docs > most) {
            largest = Some((docs, stored.dictionary()));
        }
    }
    if let Some((_, dictionary)) = largest {
        return Ok(Some(dictionary));
    }
    // A damaged donor is no reason to fail: it is not merged.
    let donor = donor.filter(|segment| segment.file().verify_dictionary().is_ok());
    let stored = donor.and_then(|segment| segment.stored_documents().ok().flatten());
    let stored = stored.filter(|stored| stored.codec() == codec);
    Ok(stored.map(|stored| stored.dictionary()).filter(|dictionary| !dictionary.is_empty()))
}

/// Reads pieces of live documents.
struct Samples<'v> {
    views: &'v [SegmentView],
    live: u64,
    reader: StoredReader,
}

impl Samples<'_> {
    /// Returns `count` pieces of `bytes`, spread over all documents, one after the other.
    fn pieces(&mut self, count: usize, bytes: usize) -> Vec<u8> {
        (0..count).flat_map(|n| self.piece(n, count, bytes)).collect()
    }

    /// Returns at most `bytes` of the documents from the `n`-th part of all documents on, of `count` parts.
    fn piece(&mut self, n: usize, count: usize, bytes: usize) -> Vec<u8> {
        let mut first = self.live * n as u64 / count as u64;
        let mut piece = Vec::with_capacity(bytes);
        for view in self.views {
            let live = u64::from(view.live_count());
            if first >= live {
                first -= live;
                continue;
            }
            // Deleted documents are spread about evenly, so this is near the document meant.
            let mut doc = (first * u64::from(view.doc_count()) / live) as DocId;
            while doc < view.doc_count() && piece.len() < bytes {
                if view.is_live(doc) {
                    // The copy of the documents reports what cannot be read.
                    let Ok(source) = view.segment.source(doc, &mut self.reader) else { break };
                    let terminator = std::slice::from_ref(&TERMINATOR);
                    let left = bytes - piece.len();
                    piece.extend(source.iter().chain(terminator).take(left));
                }
                doc += 1;
            }
            break;
        }
        piece
    }
}
