//! Scores documents that are known to be hits.

use limber_segment::norms::Norms;
use limber_segment::postings::{KnownBounds, Postings};
use limber_segment::{DocId, NO_MORE_DOCS, Segment};

use super::text::phrase::PhraseCursor;
use super::{Bits, BoxedMatcher, SegmentBits, WINDOW};
use crate::error::Result;
use crate::matcher::clauses::each_clause;
use crate::score::Bm25;

/// Adds a node's score to those of hits, window by window in ascending order.
pub(crate) trait Scorer {
    /// Adds the score of `docs[i]` to `sums[i]` if the node matches; all documents are in one window.
    fn score(&mut self, docs: &[DocId], sums: &mut [f64]) -> Result<()>;

    /// Returns an upper bound of the scores in `start..end`. Ranges must ascend, and must be after all
    /// documents scored so far.
    fn max_score(&mut self, start: DocId, end: DocId) -> Result<f32>;

    /// Returns the documents of the segment that can have at least the score `score`; `None` if they cannot
    /// be determined without examining them.
    fn contenders(&self, _score: f32, _segment: &Segment) -> Result<Option<SegmentBits>> {
        Ok(None)
    }
}

pub(crate) type BoxedScorer<'a> = Box<dyn Scorer + 'a>;

/// BM25 of one term.
pub(crate) struct TermScorer<'a> {
    pub postings: Postings,
    pub known: KnownBounds,
    pub norms: Option<&'a Norms>,
    pub bm25: &'a Bm25,
}

impl TermScorer<'_> {
    #[inline]
    fn add(
        postings: &mut Postings,
        bm25: &Bm25,
        docs: &[DocId],
        sums: &mut [f64],
        norm: impl Fn(DocId) -> u8,
    ) {
        for (doc, sum) in docs.iter().zip(sums) {
            if postings.doc() < *doc {
                postings.advance(*doc);
            }
            if postings.doc() == *doc {
                *sum += f64::from(bm25.score(postings.freq() as f32, norm(*doc)));
            }
        }
    }
}

impl Scorer for TermScorer<'_> {
    fn score(&mut self, docs: &[DocId], sums: &mut [f64]) -> Result<()> {
        let (postings, bm25) = (&mut self.postings, self.bm25);
        let Some(norms) = self.norms else {
            TermScorer::add(postings, bm25, docs, sums, |_| 1);
            return Ok(postings.status()?);
        };
        match (norms.as_slice(), norms.packed()) {
            (Some(dense), _) => TermScorer::add(postings, bm25, docs, sums, |doc| dense[doc as usize]),
            (_, Some(packed)) => TermScorer::add(postings, bm25, docs, sums, |doc| packed.get(doc)),
            _ => TermScorer::add(postings, bm25, docs, sums, |doc| norms.get(doc)),
        }
        Ok(self.postings.status()?)
    }

    fn max_score(&mut self, start: DocId, end: DocId) -> Result<f32> {
        let current = self.postings.doc();
        if current == NO_MORE_DOCS || current >= end {
            return Ok(0.0);
        }
        self.postings.shallow_advance(start.max(current));
        Ok(self.postings.max_score(end - 1, &mut self.known, self.bm25).max(0.0))
    }
}

/// The same score for every match.
pub(crate) struct ConstantScorer<'a> {
    pub score: f32,
    /// `None` if all documents to be scored are known to match.
    pub matcher: Option<BoxedMatcher<'a>>,
}

impl Scorer for ConstantScorer<'_> {
    fn score(&mut self, docs: &[DocId], sums: &mut [f64]) -> Result<()> {
        if self.score == 0.0 {
            return Ok(());
        }
        let score = f64::from(self.score);
        match &mut self.matcher {
            None => sums.iter_mut().for_each(|sum| *sum += score),
            Some(matcher) => {
                each_match(matcher, docs, |at| sums[at] += score)?;
            }
        }
        Ok(())
    }

    fn max_score(&mut self, _: DocId, _: DocId) -> Result<f32> {
        Ok(self.score)
    }
}

/// Calls `found` with the index of each of `docs` that matches; all documents are in one window.
pub(crate) fn each_match(
    matcher: &mut BoxedMatcher<'_>,
    docs: &[DocId],
    mut found: impl FnMut(usize),
) -> Result<()> {
    let Some(first) = docs.first() else { return Ok(()) };
    let start = first / WINDOW * WINDOW;
    let mut bits = Bits::of(docs, start);
    matcher.restrict(start, &mut bits)?;
    for (at, doc) in docs.iter().enumerate() {
        if bits.contains(doc - start) {
            found(at);
        }
    }
    Ok(())
}

/// BM25 of a phrase.
pub(crate) struct PhraseScorer<'a> {
    pub cursor: PhraseCursor,
    pub norms: Option<&'a Norms>,
    pub bm25: &'a Bm25,
}

impl Scorer for PhraseScorer<'_> {
    fn score(&mut self, docs: &[DocId], sums: &mut [f64]) -> Result<()> {
        for (doc, sum) in docs.iter().zip(sums) {
            let freq = self.cursor.freq(*doc)?;
            if freq > 0.0 {
                let norm = self.norms.map_or(1, |norms| norms.get(*doc));
                *sum += f64::from(self.bm25.score(freq, norm));
            }
        }
        Ok(())
    }

    fn max_score(&mut self, _: DocId, _: DocId) -> Result<f32> {
        Ok(self.bm25.max_score())
    }
}

/// The sum of `must` plus the sum of `should`. Each sum is computed as a double and rounded to a float, as in
/// Lucene's scorers.
pub(crate) struct BoolScorer<'a> {
    pub must: Vec<BoxedScorer<'a>>,
    pub should: Vec<BoxedScorer<'a>>,
    /// `None` if all documents to be scored are known to match.
    pub matcher: Option<BoxedMatcher<'a>>,
    pub sums: Vec<f64>,
    pub hits: Vec<DocId>,
    pub at: Vec<usize>,
}

impl<'a> BoolScorer<'a> {
    /// Adds the scores of the matching clauses of `should`.
    pub fn sum_of(should: Vec<BoxedScorer<'a>>) -> BoolScorer<'a> {
        let (sums, hits, at) = (Vec::new(), Vec::new(), Vec::new());
        BoolScorer { must: Vec::new(), should, matcher: None, sums, hits, at }
    }

    fn add(
        must: &mut [BoxedScorer<'_>],
        should: &mut [BoxedScorer<'_>],
        sums: &mut Vec<f64>,
        docs: &[DocId],
        mut add: impl FnMut(usize, f64),
    ) -> Result<()> {
        sums.clear();
        sums.resize(docs.len(), 0.0);
        each_clause(must.iter_mut(), |scorer| scorer.score(docs, sums))?;
        if !must.is_empty() && !should.is_empty() {
            let required: Vec<f32> = sums.iter().map(|sum| *sum as f32).collect();
            sums.fill(0.0);
            each_clause(should, |scorer| scorer.score(docs, sums))?;
            for (at, (required, optional)) in required.iter().zip(sums.iter()).enumerate() {
                add(at, f64::from(required + *optional as f32));
            }
            return Ok(());
        }
        each_clause(should, |scorer| scorer.score(docs, sums))?;
        for (at, sum) in sums.iter().enumerate() {
            add(at, f64::from(*sum as f32));
        }
        Ok(())
    }
}

impl Scorer for BoolScorer<'_> {
    fn score(&mut self, docs: &[DocId], sums: &mut [f64]) -> Result<()> {
        let Some(matcher) = &mut self.matcher else {
            return BoolScorer::add(&mut self.must, &mut self.should, &mut self.sums, docs, |at, score| {
                sums[at] += score
            });
        };
        let (hits, positions) = (&mut self.hits, &mut self.at);
        hits.clear();
        positions.clear();
        each_match(matcher, docs, |at| {
            hits.push(docs[at]);
            positions.push(at);
        })?;
        BoolScorer::add(&mut self.must, &mut self.should, &mut self.sums, hits, |at, score| {
            sums[positions[at]] += score
        })
    }

    fn max_score(&mut self, start: DocId, end: DocId) -> Result<f32> {
        let mut sum = 0.0f64;
        each_clause(self.must.iter_mut().chain(&mut self.should), |scorer| {
            sum += f64::from(scorer.max_score(start, end)?);
            Ok(())
        })?;
        // Rounded up, so that rounded scores cannot exceed it.
        Ok((sum as f32).next_up())
    }
}

/// The best of several scores, plus a fraction of the others (Lucene's `DisjunctionMaxScorer`).
pub(crate) struct DisMaxScorer<'a> {
    pub parts: Vec<BoxedScorer<'a>>,
    pub tie_breaker: f32,
    /// For each document, the best score so far and the sum of the others.
    pub scores: Vec<(f32, f64)>,
}

impl Scorer for DisMaxScorer<'_> {
    fn score(&mut self, docs: &[DocId], sums: &mut [f64]) -> Result<()> {
        self.scores.clear();
        self.scores.resize(docs.len(), (0.0, 0.0));
        let mut own = vec![0.0; docs.len()];
        let scores = &mut self.scores;
        each_clause(&mut self.parts, |part| {
            own.fill(0.0);
            part.score(docs, &mut own)?;
            for ((best, others), score) in scores.iter_mut().zip(&own) {
                let score = *score as f32;
                if score >= *best {
                    *others += f64::from(*best);
                    *best = score;
                } else {
                    *others += f64::from(score);
                }
            }
            Ok(())
        })?;
        for (sum, (best, others)) in sums.iter_mut().zip(&self.scores) {
            *sum += f64::from((f64::from(*best) + others * f64::from(self.tie_breaker)) as f32);
        }
        Ok(())
    }

    fn max_score(&mut self, start: DocId, end: DocId) -> Result<f32> {
        let (mut best, mut sum) = (0.0f32, 0.0f64);
        each_clause(&mut self.parts, |part| {
            let score = part.max_score(start, end)?;
            best = best.max(score);
            sum += f64::from(score);
            Ok(())
        })?;
        let most = f64::from(best) + (sum - f64::from(best)) * f64::from(self.tie_breaker.max(0.0));
        // Rounded up, so that rounded scores cannot exceed it.
        Ok((most as f32).next_up())
    }
}
