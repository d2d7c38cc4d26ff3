//! The postings of a term with what its scores are made from: "how much does it add in these documents, and
//! at most in those?"

use limber_mapping::Field;
use limber_segment::norms::Norms;
use limber_segment::postings::{KnownBounds, Postings, Want};
use limber_segment::{DocId, NO_MORE_DOCS, Segment};

use crate::error::Result;
use crate::matcher::open::open_postings;
use crate::score::Bm25;

/// Documents of a block.
pub(in crate::matcher) const BLOCK: usize = 128;

pub(in crate::matcher) struct ScoredTerm<'a> {
    pub postings: Postings,
    /// Whether it is one of the terms that only add to the score of others. Theirs are summed up on their
    /// own.
    pub only_adds: bool,
    norms: Option<&'a Norms>,
    bm25: &'a Bm25,
    known: KnownBounds,
    /// What no document of the segment exceeds, once it was asked for.
    most: Option<f32>,
}

impl<'a> ScoredTerm<'a> {
    /// `None`: the segment does not have the term.
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

    /// No document of `from..=last` scores more. `from` must not lie before the current document.
    #[inline]
    pub fn bound(&mut self, from: DocId, last: DocId) -> f32 {
        self.postings.shallow_advance(from);
        self.postings.max_score(last, &mut self.known, self.bm25).max(0.0)
    }

    /// No document that was left when this was asked for the first time scores more.
    pub fn bound_anywhere(&mut self) -> f32 {
        let (bm25, postings, known) = (self.bm25, &mut self.postings, &mut self.known);
        let most = || postings.max_score(NO_MORE_DOCS, known, bm25).max(0.0);
        *self.most.get_or_insert_with(most)
    }

    /// A document at or after `target` and before `end` before which no block holds one whose bound `beats`
    /// holds of; `None`: no block before `end` does. Nothing is decoded. `target` must not lie before the
    /// current document.
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

    /// What the term adds in its current document.
    #[inline]
    pub fn score(&mut self) -> f32 {
        let freq = self.postings.freq();
        self.score_of(freq)
    }

    /// What something that occurs so often in the current document adds.
    #[inline]
    pub fn score_of(&self, freq: u32) -> f32 {
        let norm = self.norms.map_or(1, |norms| norms.get(self.postings.doc()));
        self.bm25.score(freq as f32, norm)
    }

    /// Copies the documents of the current block that lie before `end`, from the current one on, and what the
    /// term adds in each. The cursor stays. How many they are: at least one where the current document lies
    /// before `end`.
    #[inline]
    pub fn scored_block(
        &mut self,
        end: DocId,
        docs: &mut [DocId; BLOCK],
        scores: &mut [f32; BLOCK],
    ) -> usize {
        let count = self.block(end, docs);
        let freqs = &self.postings.block_freqs()[..count];
        let docs = &docs[..count];
        match (self.norms, self.norms.and_then(Norms::as_slice)) {
            (_, Some(dense)) => self.bm25.score_all(freqs, |at| dense[docs[at] as usize], scores),
            (Some(norms), None) => self.bm25.score_all(freqs, |at| norms.get(docs[at]), scores),
            (None, None) => self.bm25.score_all(freqs, |_| 1, scores),
        }
        count
    }

    /// As [`ScoredTerm::scored_block`], documents alone.
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

    /// Goes on after the first `count` documents of the current block, which lie before `end`.
    #[inline]
    pub fn pass(&mut self, count: usize, end: DocId) {
        if count == self.postings.block_docs().len() {
            self.postings.next_block();
        } else {
            self.postings.advance(end);
        }
    }
}

/// How sums of scores are compared with a score that has to be beaten.
///
/// Scores are added up in double and rounded to float at the end. A score is a multiple of its term's
/// weight's last bits, so that sums in double are exact unless weights differ by more than 2^20; then an
/// upper bound of the sum bounds the rounded score, and a bound that is equal to the score to be beaten is
/// not enough. That matters where many documents are alike and all bounds are as high as the best score.
/// Where the sums of required and of optional terms are rounded on their own, and their sum once more
/// (Lucene's `ReqOptSumScorer`), each may have been rounded up.
#[derive(Debug, Clone, Copy)]
pub(in crate::matcher) struct Rounding {
    /// So many floats above a bound may the score be.
    steps: u32,
}

impl Rounding {
    /// So many terms are added up at most without a thought about carries.
    const TERMS_MAX: usize = 64;
    const WEIGHTS_RATIO_MAX: f32 = (1 << 20) as f32;

    /// How far sums of these terms' scores may be off, whatever order they are added in.
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

    /// Whether a document whose score is at most `bound` can score more than `threshold`.
    #[inline]
    pub fn beats(self, bound: f64, threshold: f32) -> bool {
        (0..self.steps).fold(bound as f32, |bound, _| bound.next_up()) > threshold
    }
}
