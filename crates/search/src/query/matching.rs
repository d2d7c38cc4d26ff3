//! Bound queries as filters on batches of documents, for aggregations such as `filter`.

use limber_segment::{DocId, Segment, SegmentView};
use limber_work as work;

use super::bound::BoundQuery;
use crate::error::Result;
use crate::matcher::{Bits, BoxedMatcher, WINDOW};

/// The matching documents of one segment, for batches of documents.
pub struct MatchingDocs<'a> {
    matcher: BoxedMatcher<'a>,
}

impl<'a> MatchingDocs<'a> {
    /// Opens a query on a segment. Windows of documents must ascend.
    pub fn open(query: &'a BoundQuery, segment: &'a Segment) -> Result<MatchingDocs<'a>> {
        Ok(MatchingDocs { matcher: query.matcher(segment)? })
    }

    /// Clears the bits of the documents in the window at `start` that do not match. Windows are as for
    /// [`Self::retain`].
    pub(crate) fn restrict(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        self.matcher.restrict(start, bits)
    }

    /// Replaces the contents of `out` by those of `docs` that match. `docs` must ascend and all be in one
    /// window of 4,096, as in collectors; windows must ascend from call to call and be distinct.
    pub fn retain(&mut self, docs: &[DocId], out: &mut Vec<DocId>) -> Result<()> {
        out.clear();
        let Some(first) = docs.first() else { return Ok(()) };
        let start = first / WINDOW * WINDOW;
        let mut bits = Bits::of(docs, start);
        self.matcher.restrict(start, &mut bits)?;
        bits.append_to(start, out);
        Ok(())
    }
}

impl BoundQuery {
    /// Whether a single document matches.
    pub(crate) fn matches_doc(&self, segment: &Segment, doc: DocId) -> Result<bool> {
        Ok(!self.matching_docs(segment, &[doc])?.is_empty())
    }

    /// Whether any live document of the segment matches. Stops at the first one.
    pub(crate) fn matches_any(&self, view: &SegmentView) -> Result<bool> {
        let (mut opened, count) = (self.matcher(&view.segment)?, view.doc_count());
        let (mut target, mut docs) = (0, Vec::new());
        while target < count {
            work::check_beyond_deadline()?;
            let next = opened.next(target)?;
            if next >= count {
                break;
            }
            let start = next / WINDOW * WINDOW;
            let mut bits = Bits::default();
            opened.fill(start, &mut bits)?;
            docs.clear();
            bits.append_to(start, &mut docs);
            if docs.iter().any(|doc| view.is_live(*doc)) {
                return Ok(true);
            }
            target = start.saturating_add(WINDOW);
        }
        Ok(false)
    }

    /// Returns those of `docs` (ascending) that match.
    pub(crate) fn matching_docs(&self, segment: &Segment, docs: &[DocId]) -> Result<Vec<DocId>> {
        let mut matching = Vec::new();
        if docs.is_empty() {
            return Ok(matching);
        }
        let mut opened = self.matcher(segment)?;
        for window in docs.chunk_by(|left, right| left / WINDOW == right / WINDOW) {
            let start = window[0] / WINDOW * WINDOW;
            let mut bits = Bits::of(window, start);
            opened.restrict(start, &mut bits)?;
            bits.append_to(start, &mut matching);
        }
        Ok(matching)
    }

    /// Returns the scores of `docs`, which must ascend and match.
    pub(crate) fn scores_of(&self, segment: &Segment, docs: &[DocId]) -> Result<Vec<f32>> {
        let mut scorer = self.scorer(segment, true)?;
        let mut scores = Vec::with_capacity(docs.len());
        let mut sums = Vec::new();
        for window in docs.chunk_by(|left, right| left / WINDOW == right / WINDOW) {
            sums.clear();
            sums.resize(window.len(), 0.0);
            scorer.score(window, &mut sums)?;
            scores.extend(sums.iter().map(|sum| *sum as f32));
        }
        Ok(scores)
    }
}
