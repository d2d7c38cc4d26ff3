//! What of a segment a user may see: its documents, and the ordinals of their terms.

use limber_segment::{DocId, SegmentView};

/// A set of a segment's ordinals, as a bit set.
pub(super) struct Ordinals(Vec<u64>);

impl Ordinals {
    /// Makes an empty set for `count` ordinals.
    pub(super) fn new(count: usize) -> Ordinals {
        Ordinals(vec![0; count.div_ceil(64)])
    }

    pub(super) fn add(&mut self, ordinal: usize) {
        if let Some(word) = self.0.get_mut(ordinal / 64) {
            *word |= 1 << (ordinal % 64);
        }
    }

    pub(super) fn has(&self, ordinal: usize) -> bool {
        self.0.get(ordinal / 64).is_some_and(|word| word >> (ordinal % 64) & 1 == 1)
    }
}

/// Iterates over the live documents of a segment, some thousands at a time.
pub(super) fn visible_docs(view: &SegmentView) -> impl Iterator<Item = Vec<DocId>> {
    const DOCS_AT_ONCE: u32 = 4096;
    let count = view.doc_count();
    let starts = (0..count).step_by(DOCS_AT_ONCE as usize);
    starts
        .map(move |start| (start..count.min(start + DOCS_AT_ONCE)).filter(|doc| view.is_live(*doc)).collect())
}
