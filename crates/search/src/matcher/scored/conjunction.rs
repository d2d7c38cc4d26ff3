//! Scored conjunctions of terms, and phrases, window by window: documents and scores in one pass.
//!
//! The rarest term leads, block by block. A block whose bound cannot reach the threshold is passed over without being decoded (block-max
//! AND, Lucene's `BlockMaxConjunctionBulkScorer`), and a document is dropped as soon as what the terms that are left can add does not help.
//! A phrase is no more frequent in a document than the rarest of its terms there, which bounds its score before any position is read.

use limber_segment::postings::Want;
use limber_segment::{DocId, LiveDocs, NO_MORE_DOCS, Segment};

use super::scored_term::{BLOCK, Rounding, ScoredTerm};
use crate::error::Result;
use crate::matcher::text::exact_phrase::ExactPhrase;
use crate::matcher::{Bits, Matcher, WINDOW};
use crate::primitives::{PhraseNode, TermNode};

pub(crate) struct Conjunction<'a> {
    /// Rarest first; none: one of them is missing in the segment.
    terms: Vec<ScoredTerm<'a>>,
    /// What their positions have to make; `None`: documents need to have the terms, wherever.
    phrase: Option<ExactPhrase>,
    rounding: Rounding,
    /// What each term adds at most in the current block of the first.
    bounds: Vec<f32>,
}

impl<'a> Conjunction<'a> {
    /// Documents with all of `terms`.
    pub fn of_terms(terms: &[&'a TermNode], segment: &'a Segment) -> Result<Conjunction<'a>> {
        let open = |node: &&'a TermNode| {
            ScoredTerm::open(&node.field, &node.term, Want::Freqs, &node.scorer, segment)
        };
        let terms = terms.iter().map(open).collect::<Result<Option<Vec<_>>>>()?.unwrap_or_default();
        Ok(Conjunction::new(terms, None))
    }

    /// Documents with a phrase; `None`: it is not one of single terms, each at its place.
    pub fn of_phrase(node: &'a PhraseNode, segment: &'a Segment) -> Result<Option<Conjunction<'a>>> {
        let Some(slots) = node.exact_terms() else { return Ok(None) };
        let mut terms = Vec::with_capacity(slots.len());
        for (_, term) in &slots {
            match ScoredTerm::open(&node.field, term, Want::Positions, &node.scorer, segment)? {
                Some(term) => terms.push(term),
                None => return Ok(Some(Conjunction::new(Vec::new(), None))),
            }
        }
        let mut terms: Vec<_> = terms.into_iter().zip(slots.iter().map(|(place, _)| *place)).collect();
        terms.sort_by_key(|(term, _)| term.postings.doc_freq());
        let (terms, places) = terms.into_iter().unzip();
        Ok(Some(Conjunction::new(terms, Some(ExactPhrase::new(places)))))
    }

    fn new(mut terms: Vec<ScoredTerm<'a>>, phrase: Option<ExactPhrase>) -> Conjunction<'a> {
        if phrase.is_none() {
            terms.sort_by_key(|term| term.postings.doc_freq());
        }
        let rounding = Rounding::of(&terms);
        let bounds = vec![0.0; terms.len()];
        Conjunction { terms, phrase, rounding, bounds }
    }

    /// A document at or after `target` before which none matches, or [`NO_MORE_DOCS`].
    pub fn next(&mut self, target: DocId) -> Result<DocId> {
        let mut target = if self.terms.is_empty() { NO_MORE_DOCS } else { target };
        for term in &mut self.terms {
            target = term.postings.advance(target);
            term.postings.status()?;
        }
        Ok(target)
    }

    /// Replaces `docs` and `scores` by the live matches of the window at `start`, ascending. With a threshold those that do not score
    /// more may be missing; answers how many are, where `counts`, else 0.
    pub fn collect(
        &mut self,
        start: DocId,
        threshold: Option<f32>,
        counts: bool,
        live: Option<&LiveDocs>,
        docs: &mut Vec<DocId>,
        scores: &mut Vec<f32>,
    ) -> Result<u64> {
        docs.clear();
        scores.clear();
        if self.terms.is_empty() {
            return Ok(0);
        }
        let end = start.saturating_add(WINDOW);
        let mut left_out = 0;
        let mut doc = self.terms[0].postings.advance(start);
        while doc < end {
            let (mut last, mut bar) = (end - 1, None);
            if let Some(threshold) = threshold {
                let competing = self.next_competing(doc, end, threshold);
                if !counts {
                    doc = self.terms[0].postings.advance(competing);
                    if doc >= end {
                        break;
                    }
                    bar = Some(threshold);
                } else if competing > doc {
                    // Until there, documents are but counted.
                    left_out += self.count(competing.min(end), live)?;
                    doc = self.terms[0].postings.doc();
                    continue;
                }
                last = self.terms[0].postings.block_docs().last().map_or(last, |last| *last.min(&(end - 1)));
            }
            match &mut self.phrase {
                None => self.collect_block(end, bar, live, docs, scores),
                Some(phrase) => {
                    let terms = &mut self.terms;
                    each_common(terms, last + 1, |terms| {
                        let doc = terms[0].postings.doc();
                        if live.is_some_and(|live| !live.is_live(doc)) {
                            return;
                        }
                        if let Some(threshold) = threshold
                            && phrase.bound(terms) <= threshold
                        {
                            left_out += u64::from(counts && phrase.holds(terms));
                            return;
                        }
                        let freq = phrase.freq(terms);
                        if freq > 0 {
                            docs.push(doc);
                            scores.push(terms[0].score_of(freq));
                        }
                    });
                }
            }
            doc = self.terms[0].postings.doc();
        }
        self.terms.iter().try_for_each(|term| term.postings.status())?;
        Ok(left_out)
    }

    /// The first document at or after `doc` whose block may hold one that scores more than the threshold; at or after `end`: there is none
    /// before it. Nothing is decoded. Leaves the bounds of that block in `bounds`.
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
            let competes = match &self.phrase {
                // Each bounds the phrase as if it were as frequent as the term.
                Some(_) => self.bounds.iter().all(|bound| *bound > threshold),
                None => {
                    let sum = self.bounds.iter().map(|bound| f64::from(*bound)).sum();
                    self.rounding.beats(sum, threshold)
                }
            };
            if competes {
                return doc;
            }
            doc = last + 1;
        }
        doc
    }

    /// Collects the current block of the first term as far as it lies before `end`. `bar`: what does not score more is not wanted.
    fn collect_block(
        &mut self,
        end: DocId,
        bar: Option<f32>,
        live: Option<&LiveDocs>,
        found: &mut Vec<DocId>,
        scores: &mut Vec<f32>,
    ) {
        let (mut docs, mut own) = ([0; BLOCK], [0.0; BLOCK]);
        let rounding = self.rounding;
        let wanted = |sum: f64, rest: f64| bar.is_none_or(|bar| rounding.beats(sum + rest, bar));
        let [lead, others @ ..] = &mut self.terms[..] else { return };
        let all = lead.scored_block(end, &mut docs, &mut own);
        let mut rest: f64 = self.bounds[1..].iter().map(|bound| f64::from(*bound)).sum();
        let mut sums = [0.0; BLOCK];
        let mut count = 0;
        for at in 0..all {
            let sum = f64::from(own[at]);
            (docs[count], sums[count]) = (docs[at], sum);
            count += usize::from(wanted(sum, rest));
        }
        for (at, other) in others.iter_mut().enumerate() {
            rest = self.bounds[at + 2..].iter().map(|bound| f64::from(*bound)).sum();
            let mut kept = 0;
            for at in 0..count {
                if other.postings.advance(docs[at]) == docs[at] {
                    let sum = sums[at] + f64::from(other.score());
                    (docs[kept], sums[kept]) = (docs[at], sum);
                    kept += usize::from(wanted(sum, rest));
                }
            }
            count = kept;
        }
        for (doc, sum) in docs[..count].iter().zip(&sums) {
            if live.is_none_or(|live| live.is_live(*doc)) {
                found.push(*doc);
                scores.push(*sum as f32);
            }
        }
        lead.pass(all, end);
    }

    /// Goes to the first document of the first term at or after `end`, and counts the live matches before it.
    fn count(&mut self, end: DocId, live: Option<&LiveDocs>) -> Result<u64> {
        let (mut count, phrase) = (0, &mut self.phrase);
        each_common(&mut self.terms, end, |terms| {
            let doc = terms[0].postings.doc();
            let is_live = live.is_none_or(|live| live.is_live(doc));
            count += u64::from(is_live && phrase.as_mut().is_none_or(|phrase| phrase.holds(terms)));
        });
        self.terms.iter().try_for_each(|term| term.postings.status())?;
        Ok(count)
    }
}

/// Calls `visit` on each document before `end` that has all terms, from the current one of the first on, which is left at or after `end`.
#[inline]
fn each_common(terms: &mut [ScoredTerm<'_>], end: DocId, mut visit: impl FnMut(&mut [ScoredTerm<'_>])) {
    let Some(lead) = terms.first() else { return };
    let mut doc = lead.postings.doc();
    'docs: while doc < end {
        for at in 1..terms.len() {
            let found = terms[at].postings.advance(doc);
            if found > doc {
                doc = terms[0].postings.advance(found);
                continue 'docs;
            }
        }
        visit(terms);
        doc = terms[0].postings.next();
    }
}

/// A phrase as documents alone.
impl Matcher for Conjunction<'_> {
    fn cost(&self) -> u64 {
        // Positions make a candidate dear.
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
        });
        self.terms.iter().try_for_each(|term| Ok(term.postings.status()?))
    }

    fn restrict(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        let Conjunction { terms, phrase, .. } = self;
        bits.retain(|index| {
            let doc = start + index;
            let has_all = !terms.is_empty() && terms.iter_mut().all(|term| term.postings.advance(doc) == doc);
            Ok(has_all && phrase.as_mut().is_none_or(|phrase| phrase.holds(terms)))
        })?;
        self.terms.iter().try_for_each(|term| Ok(term.postings.status()?))
    }
}
