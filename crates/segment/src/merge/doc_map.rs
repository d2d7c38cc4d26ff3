//! Maps the documents of merged segments to their new numbers.

use std::sync::Arc;

use limber_codec::Reader;

use crate::{DocId, Error, LiveDocs, Result, SegmentView};

/// Maps (index of the merged segment, document in it) to the document in the new segment. Documents of one
/// segment keep their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocIdMap {
    segments: Vec<SegmentDocs>,
    doc_count: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum SegmentDocs {
    /// Nothing was deleted; the new number is `base + doc`.
    Shifted { base: DocId, doc_count: u32 },
    /// The live documents are numbered consecutively in their order.
    Ranked(Ranked),
    /// New number of each document, interleaved with those of other segments; [`DROPPED_DOC`] for deleted
    /// ones.
    Placed(Vec<DocId>),
}

/// Stands for the new number of a document that was dropped.
pub(super) const DROPPED_DOC: DocId = DocId::MAX;

/// New numbers of live documents. Takes one and a half bits per document; a list of numbers would take 32.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Ranked {
    live: Arc<LiveDocs>,
    /// New number of the first live document in each word.
    starts: Vec<DocId>,
}

impl Ranked {
    fn new(live: &Arc<LiveDocs>, mut next: DocId) -> Ranked {
        let start = |word: &u64| {
            let start = next;
            next += word.count_ones();
            start
        };
        let starts = live.words().iter().map(start).collect();
        Ranked { live: live.clone(), starts }
    }

    #[inline]
    fn get(&self, doc: DocId) -> Option<DocId> {
        let (word, bit) = (doc as usize / 64, doc % 64);
        let bits = *self.live.words().get(word)?;
        (bits >> bit & 1 != 0).then(|| self.starts[word] + (bits & ((1 << bit) - 1)).count_ones())
    }
}

/// Maximum number of documents per segment, as in Lucene (`IndexWriter.MAX_DOCS`).
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
                let first = next;
                next += view.live_count();
                match view.live.as_ref().filter(|live| live.deleted_count() > 0) {
                    None => SegmentDocs::Shifted { base: first, doc_count: view.doc_count() },
                    Some(live) => SegmentDocs::Ranked(Ranked::new(live, first)),
                }
            })
            .collect();
        Ok(DocIdMap { segments, doc_count: next })
    }

    /// Creates a map; `places` is by segment, then by document.
    pub(super) fn placed(places: Vec<Vec<DocId>>, doc_count: u32) -> DocIdMap {
        DocIdMap { segments: places.into_iter().map(SegmentDocs::Placed).collect(), doc_count }
    }

    /// Returns the heap bytes of the map for these segments; the live documents belong to the views.
    pub(super) fn heap_bytes(views: &[SegmentView]) -> u64 {
        let with_deletes = views.iter().filter(|view| view.deleted_count() > 0);
        with_deletes.map(|view| u64::from(view.doc_count()).div_ceil(64) * size_of::<DocId>() as u64).sum()
    }

    /// Returns the number of documents in the new segment.
    pub fn doc_count(&self) -> u32 {
        self.doc_count
    }

    /// Returns the document in the new segment; `None` if it was dropped or does not exist.
    #[inline]
    pub fn get(&self, segment: usize, doc: DocId) -> Option<DocId> {
        match self.segments.get(segment)? {
            SegmentDocs::Shifted { base, doc_count } => (doc < *doc_count).then(|| base + doc),
            SegmentDocs::Ranked(ranked) => ranked.get(doc),
            SegmentDocs::Placed(places) => {
                places.get(doc as usize).copied().filter(|&doc| doc != DROPPED_DOC)
            }
        }
    }

    /// Returns the new number of the segment's first document if all its documents were kept, one after the
    /// other.
    #[inline]
    pub(super) fn shift(&self, segment: usize) -> Option<DocId> {
        match self.segments.get(segment)? {
            SegmentDocs::Shifted { base, .. } => Some(*base),
            SegmentDocs::Ranked(_) | SegmentDocs::Placed(_) => None,
        }
    }

    /// Maps `docs` to new numbers and drops the deleted ones; `freqs` (one per document, or empty) likewise.
    pub(super) fn map(&self, segment: usize, docs: &mut Vec<DocId>, freqs: &mut Vec<u32>) -> Result<()> {
        match &self.segments[segment] {
            SegmentDocs::Shifted { base, doc_count } => {
                if docs.last().is_some_and(|doc| doc >= doc_count) {
                    return Err(outside());
                }
                docs.iter_mut().for_each(|doc| *doc += base);
                Ok(())
            }
            SegmentDocs::Ranked(ranked) => keep(docs, freqs, ranked.live.doc_count(), |doc| ranked.get(doc)),
            SegmentDocs::Placed(places) => keep(docs, freqs, places.len() as u32, |doc| {
                Some(places[doc as usize]).filter(|&doc| doc != DROPPED_DOC)
            }),
        }
    }
}

/// Keeps only documents with a new number. `doc_count` is that of the segment.
#[inline]
fn keep(
    docs: &mut Vec<DocId>,
    freqs: &mut Vec<u32>,
    doc_count: u32,
    new_doc: impl Fn(DocId) -> Option<DocId>,
) -> Result<()> {
    if docs.last().is_some_and(|doc| *doc >= doc_count) {
        return Err(outside());
    }
    let mut kept = 0;
    for index in 0..docs.len() {
        let new = new_doc(docs[index]);
        docs[kept] = new.unwrap_or_default();
        if let Some(freq) = freqs.get(index).copied() {
            freqs[kept] = freq;
        }
        kept += usize::from(new.is_some());
    }
    docs.truncate(kept);
    freqs.truncate(kept);
    Ok(())
}

#[cold]
pub(super) fn outside() -> Error {
    Error::in_section("postings", 0)(Reader::new(&[]).corrupt("documents of the segment"))
}
