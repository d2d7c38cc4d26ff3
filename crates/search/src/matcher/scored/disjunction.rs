//! Disjunctions of terms that are matched and scored in one pass.
//!
//! Without a threshold every clause adds its scores to an array with an entry for each document (Lucene's
//! `BooleanScorer`). With a threshold, clauses whose bounds together cannot reach it are non-essential: they
//! propose no candidates, and are only looked up for candidates that can still compete (block-max MAXSCORE,
//! Lucene's `MaxScoreBulkScorer`). Bounds are computed for spans of documents that end at a block boundary of
//! an essential clause, so that they are as tight as possible. The threshold is updated for each span.

use std::ops::Range;

use limber_segment::postings::Want;
use limber_segment::{DocId, NO_MORE_DOCS, Segment};

use super::guards::Guards;
use super::keeper::Keeper;
use super::scored_term::{BLOCK, Rounding, ScoredTerm};
use crate::error::Result;
use crate::matcher::{Bits, WINDOW};
use crate::primitives::TermNode;

/// Length of the first span, before there is a threshold: short, so that a threshold is found early.
const FIRST_SPAN: u32 = 512;
/// Spans are made longer while they have fewer candidates than this on average: computing bounds then costs
/// more than it saves.
const CANDIDATES_MIN: u64 = 32;
/// Maximum length of a span that is made longer for that reason.
const SPAN_MAX: u32 = 2_048;
/// The minimum length of a span is this many documents times the square of the number of clauses. Each span
/// has a cost for each clause, and with more clauses less is skipped.
const SPAN_OF_CLAUSES: u32 = 16;

pub(crate) struct Disjunction<'a> {
    clauses: Vec<Clause<'a>>,
    rounding: Rounding,
    /// Partial sums of scores by index in a span of [`WINDOW`] documents. All are 0 between spans. Empty
    /// until needed.
    sums: Vec<f64>,
    /// Documents of the span that have a score.
    seen: Bits,
    /// Collected documents of the span, with their partial sums in `kept`.
    docs: Vec<DocId>,
    kept: Vec<f64>,
    scores: Vec<f32>,
    /// The number of non-essential clauses in the last span.
    optional_count: usize,
    span_min: u32,
    spans: u64,
    candidates: u64,
}

struct Clause<'a> {
    term: ScoredTerm<'a>,
    /// Upper bound of the scores in the current span.
    bound: f32,
}

/// The threshold, and the sum of the bounds of clauses that were not looked up yet.
#[derive(Clone, Copy)]
struct Goal {
    rounding: Rounding,
    threshold: f32,
    rest: f64,
}

impl Goal {
    #[inline]
    fn is_in_reach(self, sum: f64) -> bool {
        self.rounding.beats(sum + self.rest, self.threshold)
    }
}

impl<'a> Disjunction<'a> {
    /// Opens documents with any of `terms`.
    pub fn open(terms: &[&'a TermNode], segment: &'a Segment) -> Result<Disjunction<'a>> {
        let mut found = Vec::with_capacity(terms.len());
        for node in terms {
            found.extend(ScoredTerm::open(&node.field, &node.term, Want::Freqs, &node.scorer, segment)?);
        }
        let rounding = Rounding::of(&found, &[]);
        let count = found.len() as u32;
        let span_min = count.saturating_mul(count).saturating_mul(SPAN_OF_CLAUSES).min(WINDOW);
        let clauses = found.into_iter().map(|term| Clause { term, bound: f32::INFINITY }).collect();
        Ok(Disjunction {
            clauses,
            rounding,
            sums: Vec::new(),
            seen: Bits::default(),
            docs: Vec::new(),
            kept: Vec::new(),
            scores: Vec::new(),
            optional_count: 0,
            span_min,
            spans: 0,
            candidates: 0,
        })
    }

    /// Returns the first document at or after `target`, or [`NO_MORE_DOCS`].
    pub fn next(&mut self, target: DocId) -> Result<DocId> {
        let mut first = NO_MORE_DOCS;
        for clause in &mut self.clauses {
            first = first.min(clause.term.postings.advance(target));
            clause.term.postings.status()?;
        }
        Ok(first)
    }

    /// Offers the matches of `range` that pass the guards. Matches that do not exceed the keeper's threshold
    /// can be left out.
    pub fn best(
        &mut self,
        range: Range<DocId>,
        guards: &mut Guards<'_>,
        keeper: &mut dyn Keeper,
    ) -> Result<()> {
        if let [only] = &mut self.clauses[..] {
            return only.best(range, self.rounding, guards, keeper);
        }
        let (mut start, mut first_span) = (range.start, FIRST_SPAN);
        while start < range.end {
            self.docs.clear();
            self.kept.clear();
            let end = match keeper.threshold() {
                None => {
                    start = self.next(start)?;
                    if start >= range.end {
                        break;
                    }
                    let end = start.saturating_add(first_span).min(range.end);
                    first_span = (2 * first_span).min(WINDOW);
                    self.add_all(0, start, end)?;
                    end
                }
                Some(threshold) => {
                    let end = self.bound(start, range.end);
                    self.collect(start, end, threshold)?;
                    end
                }
            };
            self.offer(guards, keeper)?;
            start = end;
        }
        Ok(())
    }

    fn offer(&mut self, guards: &mut Guards<'_>, keeper: &mut dyn Keeper) -> Result<()> {
        if self.docs.is_empty() {
            return Ok(());
        }
        let count = guards.retain(&mut self.docs, &mut self.kept)?;
        self.scores.clear();
        self.scores.extend(self.kept[..count].iter().map(|sum| *sum as f32));
        keeper.offer(&self.docs[..count], &self.scores);
        Ok(())
    }

    /// Chooses the span that begins at `start`, and computes the bounds of the clauses. Returns the end of
    /// the span.
    fn bound(&mut self, start: DocId, end: DocId) -> DocId {
        if self.spans > 0 && self.candidates < CANDIDATES_MIN * self.spans {
            self.span_min = (2 * self.span_min).min(SPAN_MAX).max(self.span_min);
        }
        let choosing = self.optional_count.min(self.clauses.len().saturating_sub(1));
        let mut last = NO_MORE_DOCS;
        for clause in &mut self.clauses[choosing..] {
            let postings = &mut clause.term.postings;
            last = last.min(postings.shallow_advance(start.max(postings.doc())));
        }
        let longest = start.saturating_add(WINDOW).min(end);
        let until = last.saturating_add(1).max(start.saturating_add(self.span_min)).min(longest);
        for clause in &mut self.clauses {
            let current = clause.term.postings.doc().max(start);
            clause.bound = if current < until { clause.term.bound(current, until - 1) } else { 0.0 };
        }
        until
    }

    /// Collects the documents of a span that can exceed the threshold, with their scores.
    fn collect(&mut self, start: DocId, end: DocId, threshold: f32) -> Result<()> {
        // The non-essential clauses should together have as many documents as possible. Choosing clauses with
        // a low bound per document first comes close to the optimum.
        self.clauses.sort_by(|left, right| left.worth().total_cmp(&right.worth()));
        let mut goal = Goal { rounding: self.rounding, threshold, rest: 0.0 };
        self.optional_count = 0;
        for clause in &self.clauses {
            if goal.is_in_reach(f64::from(clause.bound)) {
                break;
            }
            goal.rest += f64::from(clause.bound);
            self.optional_count += 1;
        }
        self.spans += 1;
        match &mut self.clauses[self.optional_count..] {
            [] => return Ok(()),
            [only] => only.collect_alone(start, end, goal, &mut self.docs, &mut self.kept)?,
            _ => self.add_all(self.optional_count, start, end)?,
        }
        self.candidates += self.docs.len() as u64;
        let (optional, docs, kept) =
            (&mut self.clauses[..self.optional_count], &mut self.docs, &mut self.kept);
        // The clause with the highest bound is looked up first.
        optional.sort_by(|left, right| left.bound.total_cmp(&right.bound));
        for at in (0..optional.len()).rev() {
            keep_hopeful(docs, kept, goal);
            goal.rest = optional[..at].iter().map(|clause| f64::from(clause.bound)).sum();
            if optional[at].bound == 0.0 {
                continue;
            }
            let term = &mut optional[at].term;
            for (doc, sum) in docs.iter().zip(&mut *kept) {
                if term.postings.advance(*doc) == *doc {
                    *sum += f64::from(term.score());
                }
            }
            term.postings.status()?;
        }
        Ok(())
    }

    /// Collects the documents in `start..end` (at most [`WINDOW`] of them) of all clauses from index `from`
    /// on.
    fn add_all(&mut self, from: usize, start: DocId, end: DocId) -> Result<()> {
        self.sums.resize(WINDOW as usize, 0.0);
        for clause in &mut self.clauses[from..] {
            clause.add_all(start, end, &mut self.sums, &mut self.seen)?;
        }
        self.seen.append_to(start, &mut self.docs);
        self.seen.clear();
        let sums = &mut self.sums;
        self.kept.extend(self.docs.iter().map(|doc| std::mem::take(&mut sums[(doc - start) as usize])));
        Ok(())
    }
}

/// Removes documents that cannot reach the threshold even if all remaining clauses add their bounds.
fn keep_hopeful(docs: &mut Vec<DocId>, sums: &mut Vec<f64>, goal: Goal) {
    let mut kept = 0;
    for read in 0..docs.len() {
        (docs[kept], sums[kept]) = (docs[read], sums[read]);
        kept += usize::from(goal.is_in_reach(sums[read]));
    }
    docs.truncate(kept);
    sums.truncate(kept);
}

impl Clause<'_> {
    /// Returns the bound in the span divided by the number of documents.
    fn worth(&self) -> f32 {
        self.bound / self.term.postings.doc_freq() as f32
    }

    /// Adds the scores of all documents of a span.
    fn add_all(&mut self, start: DocId, end: DocId, sums: &mut [f64], seen: &mut Bits) -> Result<()> {
        let (mut docs, mut scores) = ([0; BLOCK], [0.0; BLOCK]);
        let term = &mut self.term;
        let sums = &mut sums[..WINDOW as usize];
        term.postings.advance(start);
        while term.postings.doc() < end {
            let count = term.scored_block(end, &mut docs, &mut scores);
            for (doc, score) in docs[..count].iter().zip(&scores) {
                let index = (doc - start) % WINDOW;
                sums[index as usize] += f64::from(*score);
                seen.set(index);
            }
            term.pass(count, end);
        }
        Ok(term.postings.status()?)
    }

    /// Appends the documents of `start..end` that can exceed the threshold together with the other clauses,
    /// and their scores in this clause. Blocks without such documents are skipped without being decoded.
    fn collect_alone(
        &mut self,
        start: DocId,
        end: DocId,
        goal: Goal,
        found: &mut Vec<DocId>,
        sums: &mut Vec<f64>,
    ) -> Result<()> {
        let (mut docs, mut scores) = ([0; BLOCK], [0.0; BLOCK]);
        let term = &mut self.term;
        let mut target = start.max(term.postings.doc());
        while let Some(doc) = term.next_competing(target, end, |bound| goal.is_in_reach(f64::from(bound))) {
            if term.postings.advance(doc) >= end {
                break;
            }
            let count = term.scored_block(end, &mut docs, &mut scores);
            for (doc, score) in docs[..count].iter().zip(&scores) {
                let sum = f64::from(*score);
                if goal.is_in_reach(sum) {
                    found.push(*doc);
                    sums.push(sum);
                }
            }
            target = docs[count - 1] + 1;
        }
        Ok(term.postings.status()?)
    }

    /// Does the same as [`Disjunction::best`] if there is no other clause.
    fn best(
        &mut self,
        range: Range<DocId>,
        rounding: Rounding,
        guards: &mut Guards<'_>,
        keeper: &mut dyn Keeper,
    ) -> Result<()> {
        let (mut docs, mut scores) = ([0; BLOCK], [0.0; BLOCK]);
        let term = &mut self.term;
        let mut target = range.start.max(term.postings.doc());
        while target < range.end {
            let threshold = keeper.threshold();
            if let Some(threshold) = threshold {
                let beats = |bound| rounding.beats(f64::from(bound), threshold);
                match term.next_competing(target, range.end, beats) {
                    Some(doc) => target = doc,
                    None => break,
                }
            }
            if term.postings.advance(target) >= range.end {
                break;
            }
            let all = term.scored_block(range.end, &mut docs, &mut scores);
            target = docs[all - 1] + 1;
            let least = threshold.unwrap_or(f32::NEG_INFINITY);
            let mut count = 0;
            for at in 0..all {
                (docs[count], scores[count]) = (docs[at], scores[at]);
                count += usize::from(scores[at] > least);
            }
            count = guards.retain(&mut docs[..count], &mut scores[..count])?;
            keeper.offer(&docs[..count], &scores[..count]);
        }
        Ok(term.postings.status()?)
    }
}
