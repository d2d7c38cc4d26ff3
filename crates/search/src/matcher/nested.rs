//! Matches and scores documents by their matching nested documents.
//!
//! Source: Lucene's `ToParentBlockJoinQuery`. Windows of parents and windows of children end at different
//! documents, so the current window of children is kept until the next one is requested.

use limber_segment::nested::{ChildrenCursor, Lineage, LineageCursor};
use limber_segment::{DocId, NO_MORE_DOCS};

use super::scorer::{BoxedScorer, Scorer};
use super::{Bits, BoxedMatcher, Matcher, WINDOW};
use crate::error::Result;
use crate::primitives::NestedScore;

/// The nested documents that match a query, in ascending order.
pub(crate) struct MatchingChildren<'a> {
    matcher: BoxedMatcher<'a>,
    /// The start of the current window; [`NO_MORE_DOCS`] before the first one.
    start: DocId,
    bits: Bits,
}

impl<'a> MatchingChildren<'a> {
    pub(crate) fn new(matcher: BoxedMatcher<'a>) -> MatchingChildren<'a> {
        MatchingChildren { matcher, start: NO_MORE_DOCS, bits: Bits::default() }
    }

    /// Returns about how many documents the matcher examines.
    pub fn cost(&self) -> u64 {
        self.matcher.cost()
    }

    /// Returns the first match at or after `target`; [`NO_MORE_DOCS`] if there is none. A target before the
    /// current window is moved to the start of that window: no document in between matches.
    pub fn next(&mut self, target: DocId) -> Result<DocId> {
        let mut target = target;
        if self.start != NO_MORE_DOCS {
            target = target.max(self.start);
        }
        loop {
            let mut window = target / WINDOW * WINDOW;
            if self.start != window {
                target = target.max(self.matcher.next(target)?);
                if target == NO_MORE_DOCS {
                    return Ok(NO_MORE_DOCS);
                }
                window = target / WINDOW * WINDOW;
                self.bits.clear();
                self.matcher.fill(window, &mut self.bits)?;
                self.start = window;
            }
            match self.bits.next(target - window) {
                Some(index) => return Ok(window + index),
                None => target = window + WINDOW,
            }
        }
    }
}

/// Documents that have a matching nested document.
pub(crate) struct NestedDocs<'a> {
    children: MatchingChildren<'a>,
    lineage: Lineage<'a>,
    cursor: LineageCursor<'a>,
    inside: ChildrenCursor<'a>,
    doc_count: u32,
}

/// Up to this number of candidates in a window are checked one by one.
const ONE_BY_ONE_MAX: u32 = 64;

impl<'a> NestedDocs<'a> {
    /// `doc_count` is the number of parent documents.
    pub fn new(children: BoxedMatcher<'a>, lineage: Lineage<'a>, doc_count: u32) -> NestedDocs<'a> {
        let (cursor, inside) = (lineage.cursor(), lineage.children_cursor());
        NestedDocs { children: MatchingChildren::new(children), lineage, cursor, inside, doc_count }
    }
}

impl Matcher for NestedDocs<'_> {
    fn cost(&self) -> u64 {
        // For each match its parent must be looked up as well.
        self.children.cost().saturating_mul(2)
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        if target >= self.doc_count {
            return Ok(NO_MORE_DOCS);
        }
        match self.children.next(self.lineage.first_child(target))? {
            NO_MORE_DOCS => Ok(NO_MORE_DOCS),
            child => Ok(self.lineage.parent(child).max(target)),
        }
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        if start >= self.doc_count {
            return Ok(());
        }
        let range = self.lineage.inside(start..self.doc_count.min(start + WINDOW));
        let mut child = self.children.next(range.start)?;
        while child < range.end {
            let parent = self.cursor.parent(child);
            if parent >= start {
                bits.set(parent - start);
            }
            child = self.children.next(child + 1)?;
        }
        Ok(())
    }

    fn restrict(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        if bits.count() > ONE_BY_ONE_MAX {
            let mut matches = Bits::default();
            self.fill(start, &mut matches)?;
            bits.and(&matches);
            return Ok(());
        }
        bits.retain(|index| {
            let range = self.inside.children(start + index);
            Ok(!range.is_empty() && self.children.next(range.start)? < range.end)
        })
    }
}

/// Scores documents by the scores of their matching nested documents.
pub(crate) struct NestedScorer<'a> {
    pub children: BoxedMatcher<'a>,
    pub scorer: BoxedScorer<'a>,
    pub inside: ChildrenCursor<'a>,
    pub mode: NestedScore,
    pub window: ScoredWindow,
}

/// The matches in a window of nested documents, with their scores.
#[derive(Default)]
pub(crate) struct ScoredWindow {
    /// The end of the window (excluded); all earlier documents were requested before.
    end: DocId,
    docs: Vec<DocId>,
    scores: Vec<f64>,
}

impl NestedScorer<'_> {
    /// Loads the window of `child`, unless it is the current one.
    fn load(&mut self, child: DocId) -> Result<()> {
        let start = child / WINDOW * WINDOW;
        if start < self.window.end {
            return Ok(());
        }
        let ScoredWindow { end, docs, scores } = &mut self.window;
        *end = start + WINDOW;
        docs.clear();
        let mut bits = Bits::default();
        self.children.fill(start, &mut bits)?;
        bits.append_to(start, docs);
        scores.clear();
        scores.resize(docs.len(), 0.0);
        if !docs.is_empty() {
            self.scorer.score(docs, scores)?;
        }
        Ok(())
    }
}

impl Scorer for NestedScorer<'_> {
    fn score(&mut self, docs: &[DocId], sums: &mut [f64]) -> Result<()> {
        for (doc, sum) in docs.iter().zip(sums) {
            let range = self.inside.children(*doc);
            let mut score = self.mode.start();
            let mut child = range.start;
            while child < range.end {
                self.load(child)?;
                let ScoredWindow { end, docs, scores } = &self.window;
                let from = docs.partition_point(|other| *other < child);
                let inside =
                    docs[from..].iter().zip(&scores[from..]).take_while(|(other, _)| **other < range.end);
                inside.for_each(|(_, child_score)| score.add(*child_score as f32));
                child = *end;
            }
            *sum += f64::from(score.finish());
        }
        Ok(())
    }

    fn max_score(&mut self, _: DocId, _: DocId) -> Result<f32> {
        // The children of a range can begin in a window that was already scored, for which there is no bound
        // any more.
        Ok(f32::INFINITY)
    }
}
