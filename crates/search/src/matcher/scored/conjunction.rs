//! Conjunctions of terms and exact phrases that are matched and scored in one pass.
//!
//! The rarest term leads, block by block. A block whose bound cannot reach the threshold is skipped without
//! being decoded (block-max AND, Lucene's `BlockMaxConjunctionBulkScorer`). A document is dropped as soon as
//! the remaining terms cannot raise its score above the threshold. Optional terms, which only add to the
//! score, are looked up last (Lucene's `ReqOptSumScorer`); a single optional term becomes required once no
//! document without it can be among the best. In a document, a phrase cannot be more frequent than the rarest
//! of its terms, so its score has a bound before any positions are read.

use std::ops::Range;

use limber_segment::postings::Want;
use limber_segment::{DocId, NO_MORE_DOCS, Segment};

use super::guards::Guards;
use super::keeper::Keeper;
use super::scored_term::{BLOCK, Rounding, ScoredTerm};
use crate::error::Result;
use crate::matcher::text::exact_phrase::ExactPhrase;
use crate::matcher::{Bits, Matcher, WINDOW};
use crate::primitives::{PhraseNode, TermNode};

pub(crate) struct Conjunction<'a> {
    /// The required terms, rarest first. Empty if one of them is missing in the segment.
    terms: Vec<ScoredTerm<'a>>,
    /// Terms that add to the score of documents with all of `terms`.
    optional: Vec<ScoredTerm<'a>>,
    /// The phrase that the terms must form; `None` if their positions do not matter.
    phrase: Option<ExactPhrase>,
    rounding: Rounding,
    /// Upper bound of each term's score in the current block of the first term.
    bounds: Vec<f32>,
    optional_bounds: Vec<f32>,
    /// Documents to be offered, with their scores.
    docs: Vec<DocId>,
    scores: Vec<f32>,
}

/// Partial sums of the scores of a block's documents: of the required terms, and of the optional ones.
struct Found {
    sums: [f64; BLOCK],
    added: [f64; BLOCK],
}

impl Found {
    #[inline]
    fn start(&mut self, at: usize, score: f32, only_adds: bool) {
        let score = f64::from(score);
        (self.sums[at], self.added[at]) = if only_adds { (0.0, score) } else { (score, 0.0) };
    }

    /// Copies the sums at index `at` to index `to`, and adds a score.
    #[inline]
    fn go_on(&mut self, at: usize, to: usize, score: f32, only_adds: bool) {
        (self.sums[to], self.added[to]) = (self.sums[at], self.added[at]);
        let sums = if only_adds { &mut self.added } else { &mut self.sums };
        sums[to] += f64::from(score);
    }

    /// Keeps those of the first `all` documents, which are the current block of `lead`, that `other` has as
    /// well, and adds up both scores. Returns their number.
    fn start_common(
        &mut self,
        docs: &mut [DocId; BLOCK],
        all: usize,
        lead: &mut ScoredTerm<'_>,
        other: &mut ScoredTerm<'_>,
    ) -> usize {
        let (mut of_lead, mut of_other, mut kept) = ([0; BLOCK], [0; BLOCK], 0);
        let freqs = lead.postings.block_freqs();
        for at in 0..all {
            let doc = docs[at];
            if other.postings.advance(doc) == doc {
                (docs[kept], of_lead[kept], of_other[kept]) = (doc, freqs[at], other.postings.freq());
                kept += 1;
            }
        }
        let mut scores = [0.0; BLOCK];
        lead.score_docs(&docs[..kept], &of_lead[..kept], &mut scores);
        (0..kept).for_each(|at| self.start(at, scores[at], lead.only_adds));
        other.score_docs(&docs[..kept], &of_other[..kept], &mut scores);
        (0..kept).for_each(|at| self.go_on(at, at, scores[at], other.only_adds));
        kept
    }

    #[inline]
    fn sum(&self, at: usize) -> f64 {
        self.sums[at] + self.added[at]
    }

    /// Returns the score at an index: both sums are rounded, then their sum.
    #[inline]
    fn score(&self, at: usize) -> f32 {
        self.sums[at] as f32 + self.added[at] as f32
    }
}

impl<'a> Conjunction<'a> {
    /// Opens documents that have all terms of `required`; those of `optional` add to their scores.
    pub fn of_terms(
        required: &[&'a TermNode],
        optional: &[&'a TermNode],
        segment: &'a Segment,
    ) -> Result<Conjunction<'a>> {
        let open = |node: &&'a TermNode| {
            ScoredTerm::open(&node.field, &node.term, Want::Freqs, &node.scorer, segment)
        };
        let required = required.iter().map(open).collect::<Result<Option<Vec<_>>>>()?.unwrap_or_default();
        let optional = optional.iter().map(open).filter_map(Result::transpose).collect::<Result<Vec<_>>>()?;
        Ok(Conjunction::new(required, optional, None))
    }

    /// Opens documents with a phrase; `None` unless it consists of single terms at consecutive fixed
    /// positions.
    pub fn of_phrase(node: &'a PhraseNode, segment: &'a Segment) -> Result<Option<Conjunction<'a>>> {
        let Some(slots) = node.exact_terms() else { return Ok(None) };
        let mut terms = Vec::with_capacity(slots.len());
        for (_, term) in &slots {
            match ScoredTerm::open(&node.field, term, Want::Positions, &node.scorer, segment)? {
                Some(term) => terms.push(term),
                None => return Ok(Some(Conjunction::new(Vec::new(), Vec::new(), None))),
            }
        }
        let mut terms: Vec<_> = terms.into_iter().zip(slots.iter().map(|(place, _)| *place)).collect();
        terms.sort_by_key(|(term, _)| term.postings.doc_freq());
        let (terms, places) = terms.into_iter().unzip();
        Ok(Some(Conjunction::new(terms, Vec::new(), Some(ExactPhrase::new(places)))))
    }

    fn new(
        mut terms: Vec<ScoredTerm<'a>>,
        mut optional: Vec<ScoredTerm<'a>>,
        phrase: Option<ExactPhrase>,
    ) -> Conjunction<'a> {
        if phrase.is_none() {
            terms.sort_by_key(|term| term.postings.doc_freq());
        }
        optional.iter_mut().for_each(|term| term.only_adds = true);
        let rounding = Rounding::of(&terms, &optional);
        let (bounds, optional_bounds) = (vec![0.0; terms.len()], vec![0.0; optional.len()]);
        let (docs, scores) = (Vec::with_capacity(BLOCK), Vec::with_capacity(BLOCK));
        Conjunction { terms, optional, phrase, rounding, bounds, optional_bounds, docs, scores }
    }

    /// Returns a document at or after `target` such that no earlier one from `target` on matches, or
    /// [`NO_MORE_DOCS`].
    pub fn next(&mut self, target: DocId) -> Result<DocId> {
        let mut target = if self.terms.is_empty() { NO_MORE_DOCS } else { target };
        for term in &mut self.terms {
            target = term.postings.advance(target);
            term.postings.status()?;
        }
        Ok(target)
    }

    /// Offers the matches of `range` that pass the guards. Matches that do not exceed the keeper's threshold
    /// can be left out; returns their number if `counts` is set, otherwise 0.
    pub fn best(
        &mut self,
        range: Range<DocId>,
        counts: bool,
        guards: &mut Guards<'_>,
        keeper: &mut dyn Keeper,
    ) -> Result<u64> {
        if self.terms.is_empty() {
            return Ok(0);
        }
        let end = range.end;
        let mut left_out = 0;
        let mut doc = self.terms[0].postings.advance(range.start);
        while doc < end {
            let mut threshold = keeper.threshold();
            if let Some(least) = threshold {
                if !counts && self.require_last_optional(least) {
                    doc = self.terms[0].postings.advance(doc);
                }
                let competing = self.next_competing(doc, end, least);
                if counts && competing > doc {
                    // The documents before the competing one are only counted.
                    left_out += self.count(competing.min(end), guards)?;
                    doc = self.terms[0].postings.doc();
                    continue;
                }
                doc = self.terms[0].postings.advance(competing);
                if doc >= end {
                    break;
                }
                if counts && self.phrase.is_none() {
                    threshold = None;
                }
            }
            self.docs.clear();
            self.scores.clear();
            match self.phrase.is_some() {
                false => self.collect_block(end, threshold, guards)?,
                true => left_out += self.collect_phrases(end, threshold, counts, guards)?,
            }
            keeper.offer(&self.docs, &self.scores);
            doc = self.terms[0].postings.doc();
        }
        self.status()?;
        Ok(left_out)
    }

    /// Counts the documents of `range` that match and pass the guards.
    pub fn count_range(&mut self, range: Range<DocId>, guards: &mut Guards<'_>) -> Result<u64> {
        if let Some(lead) = self.terms.first_mut() {
            lead.postings.advance(range.start);
        }
        self.count(range.end, guards)
    }

    fn status(&self) -> Result<()> {
        self.terms.iter().chain(&self.optional).try_for_each(|term| Ok(term.postings.status()?))
    }

    /// Makes the only optional term required if no document without it can score more than the threshold.
    /// Returns whether it did so.
    fn require_last_optional(&mut self, threshold: f32) -> bool {
        if self.optional.len() != 1 {
            return false;
        }
        let most = self.terms.iter_mut().map(|term| f64::from(term.bound_anywhere())).sum();
        if self.rounding.beats(most, threshold) {
            return false;
        }
        self.terms.append(&mut self.optional);
        self.terms.sort_by_key(|term| term.postings.doc_freq());
        self.bounds.resize(self.terms.len(), 0.0);
        self.optional_bounds.clear();
        true
    }

    /// Returns the first document at or after `doc` whose block can contain one that scores more than the
    /// threshold; if there is none before `end`, returns a document at or after `end`. Decodes nothing.
    /// Leaves the bounds of that block in `bounds`.
    fn next_competing(&mut self, mut doc: DocId, end: DocId, threshold: f32) -> DocId {
        'blocks: while doc < end {
            let last = self.terms[0].postings.shallow_advance(doc).min(end - 1);
            for (term, bound) in self.terms.iter_mut().zip(&mut self.bounds) {
                let current = term.postings.doc();
                if current > last {
                    doc = current;
                    continue 'blocks;
                }
                *bound = term.bound(doc.max(current), last);
            }
            for (term, bound) in self.optional.iter_mut().zip(&mut self.optional_bounds) {
                let current = term.postings.doc();
                *bound = if current > last { 0.0 } else { term.bound(doc.max(current), last) };
            }
            let competes = match &self.phrase {
                // Each bound assumes that the phrase is as frequent as the term.
                Some(_) => self.bounds.iter().all(|bound| *bound > threshold),
                None => {
                    let bounds = self.bounds.iter().chain(&self.optional_bounds);
                    self.rounding.beats(bounds.map(|bound| f64::from(*bound)).sum(), threshold)
                }
            };
            if competes {
                return doc;
            }
            doc = last + 1;
        }
        doc
    }

    /// Collects the current block of the first term, up to `end` (excluded). Documents that do not score more
    /// than `threshold` can be left out.
    fn collect_block(&mut self, end: DocId, threshold: Option<f32>, guards: &mut Guards<'_>) -> Result<()> {
        let (mut docs, mut own) = ([0; BLOCK], [0.0; BLOCK]);
        let mut found = Found { sums: [0.0; BLOCK], added: [0.0; BLOCK] };
        let rounding = self.rounding;
        let wanted =
            |sum: f64, rest: f64| threshold.is_none_or(|threshold| rounding.beats(sum + rest, threshold));
        let total = |bounds: &[f32]| bounds.iter().map(|bound| f64::from(*bound)).sum::<f64>();
        let of_optional = total(&self.optional_bounds);
        let [lead, others @ ..] = &mut self.terms[..] else { return Ok(()) };
        let (all, mut count, looked_up) = match (&mut *others, threshold) {
            // Every document is wanted, so only those are scored that the next term has as well.
            ([first, ..], None) => {
                let all = lead.block(end, &mut docs);
                (all, found.start_common(&mut docs, all, lead, first), 1)
            }
            _ => {
                let all = lead.scored_block(end, &mut docs, &mut own);
                let (rest, mut count) = (total(&self.bounds[1..]) + of_optional, 0);
                for at in 0..all {
                    docs[count] = docs[at];
                    found.start(count, own[at], lead.only_adds);
                    count += usize::from(wanted(f64::from(own[at]), rest));
                }
                (all, count, 0)
            }
        };
        for (at, other) in others.iter_mut().enumerate().skip(looked_up) {
            let rest = total(&self.bounds[at + 2..]) + of_optional;
            let mut kept = 0;
            for at in 0..count {
                if other.postings.advance(docs[at]) == docs[at] {
                    docs[kept] = docs[at];
                    found.go_on(at, kept, other.score(), other.only_adds);
                    kept += usize::from(wanted(found.sum(kept), rest));
                }
            }
            count = kept;
        }
        for (at, other) in self.optional.iter_mut().enumerate() {
            let rest = total(&self.optional_bounds[at + 1..]);
            let mut kept = 0;
            for at in 0..count {
                let has_it = other.postings.advance(docs[at]) == docs[at];
                docs[kept] = docs[at];
                found.go_on(at, kept, if has_it { other.score() } else { 0.0 }, true);
                kept += usize::from(wanted(found.sum(kept), rest));
            }
            count = kept;
        }
        for (at, doc) in docs[..count].iter().enumerate() {
            if guards.allow(*doc)? {
                self.docs.push(*doc);
                self.scores.push(found.score(at));
            }
        }
        lead.pass(all, end);
        Ok(())
    }

    /// Collects the documents with the phrase in the current block of the first term, up to `end` (excluded).
    /// Returns how many it left out because of the threshold if `counts` is set.
    fn collect_phrases(
        &mut self,
        end: DocId,
        threshold: Option<f32>,
        counts: bool,
        guards: &mut Guards<'_>,
    ) -> Result<u64> {
        let Conjunction { terms, phrase: Some(phrase), docs, scores, .. } = self else { return Ok(0) };
        let last = terms[0].postings.block_docs().last().map_or(end - 1, |last| *last.min(&(end - 1)));
        let mut left_out = 0;
        each_common(terms, last + 1, |terms| {
            let doc = terms[0].postings.doc();
            if !guards.allow(doc)? {
                return Ok(());
            }
            if let Some(threshold) = threshold
                && phrase.bound(terms) <= threshold
            {
                left_out += u64::from(counts && phrase.holds(terms));
                return Ok(());
            }
            let freq = phrase.freq(terms);
            if freq > 0 {
                docs.push(doc);
                scores.push(terms[0].score_of(freq));
            }
            Ok(())
        })?;
        Ok(left_out)
    }

    /// Counts the matches before `end` that pass the guards, and leaves the first term at or after `end`.
    fn count(&mut self, end: DocId, guards: &mut Guards<'_>) -> Result<u64> {
        if self.phrase.is_none() {
            return self.count_by_blocks(end, guards);
        }
        let (mut count, phrase) = (0, &mut self.phrase);
        each_common(&mut self.terms, end, |terms| {
            let passes = guards.allow(terms[0].postings.doc())?;
            count += u64::from(passes && phrase.as_mut().is_none_or(|phrase| phrase.holds(terms)));
            Ok(())
        })?;
        self.status()?;
        Ok(count)
    }

    /// [`Conjunction::count`] for terms whose positions do not matter: each term keeps the documents that it
    /// has of a block of the first term. As that is the rarest one, hardly any of its documents could be
    /// skipped.
    fn count_by_blocks(&mut self, end: DocId, guards: &mut Guards<'_>) -> Result<u64> {
        let (mut docs, mut total) = ([0; BLOCK], 0);
        let [lead, others @ ..] = &mut self.terms[..] else { return Ok(0) };
        while lead.postings.doc() < end {
            let all = lead.block(end, &mut docs);
            let mut count = all;
            for other in &mut *others {
                count = other.postings.retain(&mut docs[..count]);
            }
            for doc in &docs[..count] {
                total += u64::from(guards.allow(*doc)?);
            }
            lead.pass(all, end);
        }
        self.status()?;
        Ok(total)
    }
}

/// Calls `visit` for each document before `end` that has all terms, starting at the current one of the first
/// term, which is left at or after `end`.
#[inline]
fn each_common(
    terms: &mut [ScoredTerm<'_>],
    end: DocId,
    mut visit: impl FnMut(&mut [ScoredTerm<'_>]) -> Result<()>,
) -> Result<()> {
    let Some(lead) = terms.first() else { return Ok(()) };
    let mut doc = lead.postings.doc();
    'docs: while doc < end {
        for at in 1..terms.len() {
            let found = terms[at].postings.advance(doc);
            if found > doc {
                doc = terms[0].postings.advance(found);
                continue 'docs;
            }
        }
        visit(terms)?;
        doc = terms[0].postings.next();
    }
    Ok(())
}

/// Matches documents without scoring them, as for a phrase in a filter.
impl Matcher for Conjunction<'_> {
    fn cost(&self) -> u64 {
        // Reading the positions of a candidate is expensive.
        self.terms.first().map_or(0, |term| 2 * u64::from(term.postings.doc_freq()))
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        Conjunction::next(self, target)
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        let Some(lead) = self.terms.first_mut() else { return Ok(()) };
        lead.postings.advance(start);
        let phrase = &mut self.phrase;
        each_common(&mut self.terms, start.saturating_add(WINDOW), |terms| {
            if phrase.as_mut().is_none_or(|phrase| phrase.holds(terms)) {
                bits.set(terms[0].postings.doc() - start);
            }
            Ok(())
        })?;
        self.status()
    }

    fn restrict(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        let Conjunction { terms, phrase, .. } = self;
        bits.retain(|index| {
            let doc = start + index;
            let has_all = !terms.is_empty() && terms.iter_mut().all(|term| term.postings.advance(doc) == doc);
            Ok(has_all && phrase.as_mut().is_none_or(|phrase| phrase.holds(terms)))
        })?;
        self.status()
    }
}
