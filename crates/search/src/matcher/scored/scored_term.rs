//! The postings of a term with everything its scores are computed from: its scores in documents, and their
//! upper bounds.

use limber_mapping::Field;
use limber_segment::norms::Norms;
use limber_segment::postings::{KnownBounds, Postings, Want};
use limber_segment::{DocId, NO_MORE_DOCS, Segment};

use crate::error::Result;
use crate::matcher::open::open_postings;
use crate::score::Bm25;

/// Number of documents in a block.
pub(in crate::matcher) const BLOCK: usize = 128;

pub(in crate::matcher) struct ScoredTerm<'a> {
    pub postings: Postings,
    /// Whether it is an optional term, which only adds to the score of others. Optional terms are summed
    /// separately.
    pub only_adds: bool,
    norms: Option<&'a Norms>,
    bm25: &'a Bm25,
    known: KnownBounds,
    /// Upper bound of the scores in the rest of the segment; computed when it is first needed.
    most: Option<f32>,
}

impl<'a> ScoredTerm<'a> {
    /// Opens the term; `None` if the segment does not have it.
    pub fn open(
        field: &Field,
        term: &[u8],
        want: Want,
        bm25: &'a Bm25,
        segment: &'a Segment,
    ) -> Result<Option<ScoredTerm<'a>>> {
        let Some(postings) = open_postings(segment, field, term, want)? else { return Ok(None) };
        let norms = segment.norms(&field.path)?;
        Ok(Some(ScoredTerm {
            postings,
            only_adds: false,
            norms,
            bm25,
            known: KnownBounds::default(),
            most: None,
        }))
    }

    /// Returns an upper bound of the scores in `from..=last`. `from` must not be before the current document.
    #[inline]
    pub fn bound(&mut self, from: DocId, last: DocId) -> f32 {
        self.postings.shallow_advance(from);
        self.postings.max_score(last, &mut self.known, self.bm25).max(0.0)
    }

    /// Returns an upper bound of the scores of all documents from that one on that was current at the first
    /// call.
    pub fn bound_anywhere(&mut self) -> f32 {
        let (bm25, postings, known) = (self.bm25, &mut self.postings, &mut self.known);
        let most = || postings.max_score(NO_MORE_DOCS, known, bm25).max(0.0);
        *self.most.get_or_insert_with(most)
    }

    /// Returns the first document in `target..end` whose block has a bound for which `beats` returns true;
    /// `None` if there is none. Decodes nothing. `target` must not be before the current document.
    #[inline]
    pub fn next_competing(
        &mut self,
        mut target: DocId,
        end: DocId,
        beats: impl Fn(f32) -> bool,
    ) -> Option<DocId> {
        while target < end {
            let last = self.postings.shallow_advance(target);
            if let Some((last, bound)) = self.postings.group_bound_from_here(&mut self.known, self.bm25)
                && !beats(bound.max(0.0))
            {
                target = last.saturating_add(1);
                continue;
            }
            if beats(self.postings.block_bound_here(&mut self.known, self.bm25).max(0.0)) {
                return Some(target);
            }
            target = last.saturating_add(1);
        }
        None
    }

    /// Returns the score of the term in its current document.
    #[inline]
    pub fn score(&mut self) -> f32 {
        let freq = self.postings.freq();
        let norm = self.norms.map_or(1, |norms| norms.get(self.postings.doc()));
        self.bm25.score(freq as f32, norm)
    }

    /// Copies the documents of the current block from the current one up to `end` (excluded), and their
    /// scores in this term. Does not move the cursor. Returns the number of documents, which is at least one
    /// if the current document is before `end`.
    #[inline]
    pub fn scored_block(
        &mut self,
        end: DocId,
        docs: &mut [DocId; BLOCK],
        scores: &mut [f32; BLOCK],
    ) -> usize {
        let count = self.block(end, docs);
        self.score_block(&docs[..count], scores);
        count
    }

    /// Computes the scores of the term in the first of the current block's remaining documents, which are
    /// `docs`.
    #[inline]
    pub fn score_block(&mut self, docs: &[DocId], scores: &mut [f32; BLOCK]) {
        let freqs = &self.postings.block_freqs()[..docs.len()];
        score_docs(self.norms, self.bm25, docs, freqs, scores);
    }

    /// Returns what scores are computed from.
    #[inline]
    pub fn scoring(&self) -> (Option<&'a Norms>, &'a Bm25) {
        (self.norms, self.bm25)
    }

    /// Computes the scores of the term in `docs`, in which it has these frequencies.
    #[inline]
    pub fn score_docs(&self, docs: &[DocId], freqs: &[u32], scores: &mut [f32; BLOCK]) {
        score_docs(self.norms, self.bm25, docs, freqs, scores);
    }

    /// Does the same as [`ScoredTerm::scored_block`] without scores.
    #[inline]
    pub fn block(&self, end: DocId, docs: &mut [DocId; BLOCK]) -> usize {
        let block = self.postings.block_docs();
        let count = match block.last() {
            None => 0,
            Some(last) if *last < end => block.len(),
            Some(_) => block.partition_point(|doc| *doc < end),
        };
        docs[..count].copy_from_slice(&block[..count]);
        count
    }

    /// Skips the first `count` documents of the current block, which are those before `end`.
    #[inline]
    pub fn pass(&mut self, count: usize, end: DocId) {
        if count == self.postings.block_docs().len() {
            self.postings.next_block();
        } else {
            self.postings.advance(end);
        }
    }
}

/// Computes the scores in `docs` of something with these frequencies.
#[inline]
pub(in crate::matcher) fn score_docs(
    norms: Option<&Norms>,
    bm25: &Bm25,
    docs: &[DocId],
    freqs: &[u32],
    scores: &mut [f32; BLOCK],
) {
    let Some(norms) = norms else { return bm25.score_all(freqs, |_| 1, scores) };
    match (norms.as_slice(), norms.packed()) {
        (Some(dense), _) => bm25.score_all(freqs, |at| dense[docs[at] as usize], scores),
        (_, Some(packed)) => bm25.score_all(freqs, |at| packed.get(docs[at]), scores),
        _ => bm25.score_all(freqs, |at| norms.get(docs[at]), scores),
    }
}

/// How sums of scores are compared with the threshold.
///
/// Scores are added as doubles, and the sum is rounded to a float. A score is a multiple of the last bits of
/// its term's weight, so sums of doubles are exact unless weights differ by a factor of more than 2^20. Then
/// an upper bound of the sum is an upper bound of the rounded score, and a bound equal to the threshold is
/// not enough to compete. That matters if many documents are alike and all bounds are equal to the best
/// score. The sums of required and of optional terms are rounded separately, and their sum once more
/// (Lucene's `ReqOptSumScorer`); in that case each of them may have been rounded up.
#[derive(Debug, Clone, Copy)]
pub(in crate::matcher) struct Rounding {
    /// How many floats above its bound a score can be.
    steps: u32,
}

impl Rounding {
    /// Maximum number of terms for which sums of doubles are exact.
    const TERMS_MAX: usize = 64;
    const WEIGHTS_RATIO_MAX: f32 = (1 << 20) as f32;

    /// Determines the possible error of sums of these terms' scores, in any order of addition.
    pub fn of(terms: &[ScoredTerm<'_>], optional: &[ScoredTerm<'_>]) -> Rounding {
        if !optional.is_empty() {
            return Rounding { steps: 3 };
        }
        let weights = || terms.iter().map(|term| term.bm25.max_score());
        let (least, most) = (weights().fold(f32::INFINITY, f32::min), weights().fold(0.0, f32::max));
        let is_close = most <= least * Rounding::WEIGHTS_RATIO_MAX && most < f32::INFINITY;
        let is_exact = terms.len() == 1 || (is_close && terms.len() <= Rounding::TERMS_MAX);
        Rounding { steps: u32::from(!is_exact) }
    }

    /// Whether a document whose score has the upper bound `bound` can score more than `threshold`.
    #[inline]
    pub fn beats(self, bound: f64, threshold: f32) -> bool {
        (0..self.steps).fold(bound as f32, |bound, _| bound.next_up()) > threshold
    }
}
