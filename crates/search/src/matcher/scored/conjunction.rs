//! Conjunctions of terms and exact phrases that are matched and scored in one pass.
//!
//! The rarest term leads, block by block. A block whose bound cannot reach the threshold is skipped without
//! being decoded (block-max AND, Lucene's `BlockMaxConjunctionBulkScorer`). A document is dropped as soon as
//! the remaining terms cannot raise its score above the threshold. Optional terms, which only add to the
//! score, are looked up last (Lucene's `ReqOptSumScorer`); a single optional term becomes required once no
//! document without it can be among the best. In a document, a phrase cannot be more frequent than the rarest
//! of its terms, so its score has a bound before any positions are read.

use std::ops::Range;

use limber_segment::postings::{Found, Postings, Want};
use limber_segment::{DocId, NO_MORE_DOCS, Segment};

use super::common::{Common, complement};
use super::guards::Guards;
use super::keeper::Keeper;
use super::scored_term::{BLOCK, Rounding, ScoredTerm, score_docs};
use crate::error::Result;
use crate::matcher::open::open_postings;
use crate::matcher::text::exact_phrase::ExactPhrase;
use crate::matcher::{Bits, Matcher, WINDOW};
use crate::primitives::{PhraseNode, TermNode};

pub(crate) struct Conjunction<'a> {
    /// The required terms, rarest first. Empty if one of them is missing in the segment.
    terms: Vec<ScoredTerm<'a>>,
    /// Terms that add to the score of documents with all of `terms`.
    optional: Vec<ScoredTerm<'a>>,
    /// Terms whose documents do not match.
    excluded: Vec<Postings>,
    /// The phrase that the terms must form; `None` if their positions do not matter.
    phrase: Option<ExactPhrase>,
    rounding: Rounding,
    /// Upper bound of each term's score in the current block of the first term.
    bounds: Vec<f32>,
    optional_bounds: Vec<f32>,
    /// What a term was found in.
    found: Found,
    /// Documents with all terms of the phrase.
    common: Common,
    /// Documents to be offered, with their scores.
    docs: Vec<DocId>,
    scores: Vec<f32>,
}

/// Documents of a block of the first term, with partial sums of their scores: of the required terms, and of
/// the optional ones.
struct Candidates {
    docs: [DocId; BLOCK],
    count: usize,
    sums: [f64; BLOCK],
    added: [f64; BLOCK],
}

impl Candidates {
    fn new() -> Candidates {
        Candidates { docs: [0; BLOCK], count: 0, sums: [0.0; BLOCK], added: [0.0; BLOCK] }
    }

    #[inline]
    fn docs(&self) -> &[DocId] {
        &self.docs[..self.count]
    }

    /// Adds the score of a term in each document.
    #[inline]
    fn add(&mut self, scores: &[f32; BLOCK], only_adds: bool) {
        let sums = if only_adds { &mut self.added } else { &mut self.sums };
        sums[..self.count].iter_mut().zip(scores).for_each(|(sum, score)| *sum += f64::from(*score));
    }

    /// Adds the score of a term in the documents that have it, whose indices are `numbers`.
    #[inline]
    fn add_to(&mut self, numbers: &[u8], scores: &[f32; BLOCK]) {
        for (number, score) in numbers.iter().zip(scores) {
            self.added[usize::from(*number) % BLOCK] += f64::from(*score);
        }
    }

    /// Keeps the documents at these ascending indices.
    #[inline]
    fn keep(&mut self, numbers: &[u8]) {
        for (to, from) in numbers.iter().enumerate() {
            let from = usize::from(*from) % BLOCK;
            (self.docs[to], self.sums[to], self.added[to]) =
                (self.docs[from], self.sums[from], self.added[from]);
        }
        self.count = numbers.len();
    }

    /// Keeps the documents whose sum `is_wanted`.
    #[inline]
    fn keep_if(&mut self, is_wanted: impl Fn(f64) -> bool) {
        let mut kept = 0;
        for at in 0..self.count {
            let (sum, added) = (self.sums[at], self.added[at]);
            (self.docs[kept], self.sums[kept], self.added[kept]) = (self.docs[at], sum, added);
            kept += usize::from(is_wanted(sum + added));
        }
        self.count = kept;
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
        let (found, common) = (Found::default(), Common::default());
        Conjunction {
            terms,
            optional,
            excluded: Vec::new(),
            phrase,
            rounding,
            bounds,
            optional_bounds,
            found,
            common,
            docs,
            scores,
        }
    }

    /// Leaves out the documents that have any of these terms.
    pub fn excluding(mut self, terms: &[&TermNode], segment: &Segment) -> Result<Conjunction<'a>> {
        for node in terms {
            self.excluded.extend(open_postings(segment, &node.field, &node.term, Want::Docs)?);
        }
        Ok(self)
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
        let scored = self.terms.iter().chain(&self.optional).map(|term| &term.postings);
        scored.chain(&self.excluded).try_for_each(|postings| Ok(postings.status()?))
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
        let (mut candidates, mut scores) = (Candidates::new(), [0.0; BLOCK]);
        let rounding = self.rounding;
        let keep = |candidates: &mut Candidates, rest: f64| {
            if let Some(threshold) = threshold {
                candidates.keep_if(|sum| rounding.beats(sum + rest, threshold));
            }
        };
        let total = |bounds: &[f32]| bounds.iter().map(|bound| f64::from(*bound)).sum::<f64>();
        let of_optional = total(&self.optional_bounds);
        let [lead, others @ ..] = &mut self.terms[..] else { return Ok(()) };
        let all = lead.block(end, &mut candidates.docs);
        candidates.count = all;
        // If every document is wanted, only those are scored that the next term has as well.
        let is_scored_first = threshold.is_some() || others.is_empty();
        if is_scored_first {
            lead.score_block(candidates.docs(), &mut scores);
            candidates.add(&scores, lead.only_adds);
            keep(&mut candidates, total(&self.bounds[1..]) + of_optional);
        }
        let found = &mut self.found;
        for (at, other) in others.iter_mut().enumerate() {
            other.postings.find(candidates.docs(), Want::Freqs, found);
            candidates.keep(found.numbers());
            other.score_docs(candidates.docs(), found.freqs(), &mut scores);
            candidates.add(&scores, other.only_adds);
            if at == 0 && !is_scored_first {
                lead.postings.find(candidates.docs(), Want::Freqs, found);
                lead.score_docs(candidates.docs(), found.freqs(), &mut scores);
                candidates.add(&scores, lead.only_adds);
            }
            keep(&mut candidates, total(&self.bounds[at + 2..]) + of_optional);
        }
        for (at, other) in self.optional.iter_mut().enumerate() {
            other.postings.find(candidates.docs(), Want::Freqs, found);
            let mut docs = [0; BLOCK];
            let numbers = found.numbers();
            docs.iter_mut()
                .zip(numbers)
                .for_each(|(doc, at)| *doc = candidates.docs[usize::from(*at) % BLOCK]);
            other.score_docs(&docs[..numbers.len()], found.freqs(), &mut scores);
            candidates.add_to(numbers, &scores);
            keep(&mut candidates, total(&self.optional_bounds[at + 1..]));
        }
        for term in &mut self.excluded {
            let mut numbers = [0; BLOCK];
            term.find(candidates.docs(), Want::Docs, found);
            let count = complement(found.numbers(), candidates.count, &mut numbers);
            candidates.keep(&numbers[..count]);
        }
        for (at, doc) in candidates.docs().iter().enumerate() {
            if guards.allow(*doc)? {
                self.docs.push(*doc);
                self.scores.push(candidates.score(at));
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
        let Conjunction { terms, excluded, phrase: Some(phrase), common, docs, scores, .. } = self else {
            return Ok(0);
        };
        let all = common.start(&terms[0], end);
        let (norms, bm25) = terms[0].scoring();
        let mut found = [0.0; BLOCK];
        let competes = |score: f32| threshold.is_none_or(|threshold| score > threshold);
        phrase.keep(terms, common, |common, most| {
            score_docs(norms, bm25, common.docs(), most, &mut found);
            let (mut numbers, mut count) = ([0; BLOCK], 0);
            for (at, doc) in common.docs().iter().enumerate() {
                if (counts || competes(found[at])) && guards.allow(*doc)? {
                    numbers[count] = at as u8;
                    count += 1;
                }
            }
            common.keep_numbers(&numbers[..count]);
            excluded.iter_mut().for_each(|term| common.drop_with(term));
            Ok(())
        })?;
        terms[0].score_docs(common.docs(), phrase.freqs(), &mut found);
        for (doc, score) in common.docs().iter().zip(found).filter(|(_, score)| competes(*score)) {
            docs.push(*doc);
            scores.push(score);
        }
        terms[0].pass(all, end);
        Ok(if counts { (common.docs().len() - docs.len()) as u64 } else { 0 })
    }

    /// Counts the matches before `end` that pass the guards, and leaves the first term at or after `end`.
    fn count(&mut self, end: DocId, guards: &mut Guards<'_>) -> Result<u64> {
        let mut count = 0;
        self.each_match(end, |doc| {
            count += u64::from(guards.allow(doc)?);
            Ok(())
        })?;
        Ok(count)
    }

    /// Calls `visit` for each match before `end`, starting at the current document of the first term, which
    /// is left at or after `end`. As the first term is the rarest one, hardly any of its documents could be
    /// skipped.
    #[inline]
    fn each_match(&mut self, end: DocId, mut visit: impl FnMut(DocId) -> Result<()>) -> Result<()> {
        while self.terms.first().is_some_and(|lead| lead.postings.doc() < end) {
            let all = self.common.start(&self.terms[0], end);
            self.each_common(1, &mut visit)?;
            self.terms[0].pass(all, end);
        }
        self.status()
    }

    /// Calls `visit` for each document of the batch in `common` that matches, given that all of them have the
    /// first `known` terms.
    #[inline]
    fn each_common(&mut self, known: usize, mut visit: impl FnMut(DocId) -> Result<()>) -> Result<()> {
        let Conjunction { terms, excluded, phrase, common, .. } = self;
        let mut exclude = |common: &mut Common| excluded.iter_mut().for_each(|term| common.drop_with(term));
        let Some(phrase) = phrase else {
            terms[known..].iter_mut().for_each(|term| common.keep(term));
            exclude(common);
            return common.docs().iter().try_for_each(|doc| visit(*doc));
        };
        phrase.keep(terms, common, |common, _| {
            exclude(common);
            Ok(())
        })?;
        common.docs().iter().try_for_each(|doc| visit(*doc))
    }
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
        self.each_match(start.saturating_add(WINDOW), |doc| {
            bits.set(doc - start);
            Ok(())
        })
    }

    fn restrict(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        self.docs.clear();
        bits.append_to(start, &mut self.docs);
        bits.clear();
        if self.terms.is_empty() {
            return Ok(());
        }
        let docs = std::mem::take(&mut self.docs);
        for batch in docs.chunks(BLOCK) {
            self.common.start_with(batch);
            self.each_common(0, |doc| {
                bits.set(doc - start);
                Ok(())
            })?;
        }
        self.docs = docs;
        self.status()
    }
}
