//! Combines a matcher with a scorer: only matching documents are scored, or only documents with a minimum
//! score match.

use limber_segment::DocId;

use super::scorer::{BoxedScorer, Scorer, each_match};
use super::{Bits, BoxedMatcher, Matcher};
use crate::context::seen::Seen;
use crate::error::Result;

/// Documents that match `query` and have at least the minimum score.
pub(crate) struct ScoredEnough<'a> {
    query: BoxedMatcher<'a>,
    scorer: BoxedScorer<'a>,
    min_score: f32,
    seen: Seen,
    docs: Vec<DocId>,
    sums: Vec<f64>,
}

impl<'a> ScoredEnough<'a> {
    /// `scorer` scores documents that `query` matches and that are `seen`.
    pub fn new(
        query: BoxedMatcher<'a>,
        scorer: BoxedScorer<'a>,
        min_score: f32,
        seen: Seen,
    ) -> ScoredEnough<'a> {
        ScoredEnough { query, scorer, min_score, seen, docs: Vec::new(), sums: Vec::new() }
    }
}

impl ScoredEnough<'_> {
    fn keep(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        self.docs.clear();
        bits.append_to(start, &mut self.docs);
        self.seen.retain(&mut self.docs);
        self.sums.clear();
        self.sums.resize(self.docs.len(), 0.0);
        self.scorer.score(&self.docs, &mut self.sums)?;
        bits.clear();
        for (doc, sum) in self.docs.iter().zip(&self.sums) {
            if *sum as f32 >= self.min_score {
                bits.set(doc - start);
            }
        }
        Ok(())
    }
}

impl Matcher for ScoredEnough<'_> {
    fn cost(&self) -> u64 {
        // Computing scores is expensive, so this is evaluated last.
        self.query.cost().saturating_mul(1000).min(u64::MAX >> 16)
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        self.query.next(target)
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        let mut own = Bits::default();
        self.query.fill(start, &mut own)?;
        self.keep(start, &mut own)?;
        bits.or(&own);
        Ok(())
    }

    fn restrict(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        self.query.restrict(start, bits)?;
        self.keep(start, bits)
    }
}

/// Scores only the documents that `matcher` matches.
pub(crate) struct MatchingScorer<'a> {
    matcher: BoxedMatcher<'a>,
    scorer: BoxedScorer<'a>,
    at: Vec<usize>,
    docs: Vec<DocId>,
    sums: Vec<f64>,
}

impl<'a> MatchingScorer<'a> {
    /// `scorer` scores documents that `matcher` matches.
    pub fn new(matcher: BoxedMatcher<'a>, scorer: BoxedScorer<'a>) -> MatchingScorer<'a> {
        MatchingScorer { matcher, scorer, at: Vec::new(), docs: Vec::new(), sums: Vec::new() }
    }
}

impl Scorer for MatchingScorer<'_> {
    fn score(&mut self, docs: &[DocId], sums: &mut [f64]) -> Result<()> {
        let (at, own) = (&mut self.at, &mut self.docs);
        at.clear();
        own.clear();
        each_match(&mut self.matcher, docs, |index| {
            at.push(index);
            own.push(docs[index]);
        })?;
        self.sums.clear();
        self.sums.resize(own.len(), 0.0);
        self.scorer.score(own, &mut self.sums)?;
        for (at, sum) in self.at.iter().zip(&self.sums) {
            sums[*at] += sum;
        }
        Ok(())
    }

    fn max_score(&mut self, start: DocId, end: DocId) -> Result<f32> {
        self.scorer.max_score(start, end)
    }
}
