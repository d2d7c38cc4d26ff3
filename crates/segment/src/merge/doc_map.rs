//! Where the documents of merged segments went.

use limber_codec::Reader;

use crate::{DocId, Error, Result, SegmentView};

/// (number of the merged segment, document in it) to the document in the new segment. Documents keep their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocIdMap {
    segments: Vec<SegmentDocs>,
    doc_count: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum SegmentDocs {
    /// Nothing was deleted: `base + doc`.
    Shifted { base: DocId, doc_count: u32 },
    /// New document of each old one, [`DELETED`] for those dropped.
    Mapped(Vec<DocId>),
}

const DELETED: DocId = DocId::MAX;
/// Most documents of a segment, as in Lucene (`IndexWriter.MAX_DOCS`).
pub const DOC_COUNT_MAX: u64 = i32::MAX as u64 - 128;

impl DocIdMap {
    pub(super) fn of(views: &[SegmentView]) -> Result<DocIdMap> {
        let live: u64 = views.iter().map(|view| u64::from(view.live_count())).sum();
        if live > DOC_COUNT_MAX {
            return Err(Error::LimitExceeded { what: "documents of a segment", limit: DOC_COUNT_MAX });
        }
        let mut next = 0;
        let segments = views
            .iter()
            .map(|view| {
                let doc_count = view.doc_count();
                match view.live.as_ref().filter(|live| live.deleted_count() > 0) {
                    None => {
                        let base = next;
                        next += doc_count;
                        SegmentDocs::Shifted { base, doc_count }
                    }
                    Some(live) => {
                        let mut map = vec![DELETED; doc_count as usize];
                        for doc in live.iter() {
                            map[doc as usize] = next;
                            next += 1;
                        }
                        SegmentDocs::Mapped(map)
                    }
                }
            })
            .collect();
        Ok(DocIdMap { segments, doc_count: next })
    }

    /// Documents of the new segment.
    pub fn doc_count(&self) -> u32 {
        self.doc_count
    }

    /// The document in the new segment; `None` when it was dropped (or never was).
    #[inline]
    pub fn get(&self, segment: usize, doc: DocId) -> Option<DocId> {
        match self.segments.get(segment)? {
            SegmentDocs::Shifted { base, doc_count } => (doc < *doc_count).then(|| base + doc),
            SegmentDocs::Mapped(map) => map.get(doc as usize).copied().filter(|doc| *doc != DELETED),
        }
    }

    /// Where the segment's documents start, when all of them went over.
    #[inline]
    pub(super) fn shift(&self, segment: usize) -> Option<DocId> {
        match self.segments.get(segment)? {
            SegmentDocs::Shifted { base, .. } => Some(*base),
            SegmentDocs::Mapped(_) => None,
        }
    }

    /// Replaces `docs` and `freqs` (one a document, or none at all) by what is left of them, in new numbers.
    pub(super) fn map(&self, segment: usize, docs: &mut Vec<DocId>, freqs: &mut Vec<u32>) -> Result<()> {
        let (doc_count, map) = match &self.segments[segment] {
            SegmentDocs::Shifted { base, doc_count } => {
                if docs.last().is_some_and(|doc| doc >= doc_count) {
                    return Err(outside());
                }
                docs.iter_mut().for_each(|doc| *doc += base);
                return Ok(());
            }
            SegmentDocs::Mapped(map) => (map.len(), map),
        };
        if docs.last().is_some_and(|doc| *doc as usize >= doc_count) {
            return Err(outside());
        }
        let mut kept = 0;
        for index in 0..docs.len() {
            let new = map[docs[index] as usize];
            docs[kept] = new;
            if let Some(freq) = freqs.get(index).copied() {
                freqs[kept] = freq;
            }
            kept += usize::from(new != DELETED);
        }
        docs.truncate(kept);
        freqs.truncate(kept);
        Ok(())
    }
}

#[cold]
pub(super) fn outside() -> Error {
    Error::in_section("postings", 0)(Reader::new(&[]).corrupt("documents of the segment"))
}
