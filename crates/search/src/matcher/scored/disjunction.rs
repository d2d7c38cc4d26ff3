//! Scored disjunctions of terms, window by window: documents and scores in one pass.
//!
//! Without a threshold every clause adds its scores to an accumulator a document (Lucene's `BooleanScorer`). With one, the clauses
//! whose bounds together cannot reach it choose no candidates of their own and are looked up only for those that can still
//! compete (block-max MAXSCORE, Lucene's `MaxScoreBulkScorer`).

use limber_segment::postings::Want;
use limber_segment::{DocId, LiveDocs, NO_MORE_DOCS, Segment};

use super::scored_term::{BLOCK, Rounding, ScoredTerm};
use crate::error::Result;
use crate::matcher::{Bits, WINDOW};
use crate::primitives::TermNode;

pub(crate) struct Disjunction<'a> {
    clauses: Vec<Clause<'a>>,
    rounding: Rounding,
    sums: Box<[f64; WINDOW as usize]>,
    /// Documents of the window that were given a score.
    seen: Bits,
    /// Scores so far of the documents that are collected.
    kept: Vec<f64>,
}

struct Clause<'a> {
    term: ScoredTerm<'a>,
    /// No document of the current window scores more.
    bound: f32,
}

/// What documents have to beat, and what clauses that were not looked at may still add.
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
    /// `terms`: of which any is enough.
    pub fn open(terms: &[&'a TermNode], segment: &'a Segment) -> Result<Disjunction<'a>> {
        let mut found = Vec::with_capacity(terms.len());
        for node in terms {
            found.extend(ScoredTerm::open(&node.field, &node.term, Want::Freqs, &node.scorer, segment)?);
        }
        let rounding = Rounding::of(&found);
        let clauses = found.into_iter().map(|term| Clause { term, bound: f32::INFINITY }).collect();
        let sums = vec![0.0; WINDOW as usize].into_boxed_slice().try_into().expect("as long as a window");
        Ok(Disjunction { clauses, rounding, sums, seen: Bits::default(), kept: Vec::new() })
    }

    /// The first document at or after `target`, or [`NO_MORE_DOCS`].
    pub fn next(&mut self, target: DocId) -> Result<DocId> {
        let mut first = NO_MORE_DOCS;
        for clause in &mut self.clauses {
            first = first.min(clause.term.postings.advance(target));
            clause.term.postings.status()?;
        }
        Ok(first)
    }

    /// Replaces `docs` and `scores` by the live matches of the window at `start`, ascending. With a threshold those that do not score
    /// more may be missing.
    pub fn collect(
        &mut self,
        start: DocId,
        threshold: Option<f32>,
        live: Option<&LiveDocs>,
        docs: &mut Vec<DocId>,
        scores: &mut Vec<f32>,
    ) -> Result<()> {
        docs.clear();
        scores.clear();
        let end = start.saturating_add(WINDOW);
        let Some(threshold) = threshold else {
            for clause in &mut self.clauses {
                clause.add_all(start, end, &mut self.sums, &mut self.seen)?;
            }
            self.take_seen(start, live, docs);
            scores.extend(self.kept.drain(..).map(|sum| sum as f32));
            return Ok(());
        };
        for clause in &mut self.clauses {
            clause.bound = clause.max_score(start, end);
        }
        self.clauses.sort_by(|left, right| left.bound.total_cmp(&right.bound));
        let mut goal = Goal { rounding: self.rounding, threshold, rest: 0.0 };
        let mut optional_count = 0;
        for clause in &self.clauses {
            if goal.is_in_reach(f64::from(clause.bound)) {
                break;
            }
            goal.rest += f64::from(clause.bound);
            optional_count += 1;
        }
        match &mut self.clauses[optional_count..] {
            [] => return Ok(()),
            [only] => only.collect_alone(end, goal, live, docs, &mut self.kept)?,
            several => {
                for clause in several {
                    clause.add_all(start, end, &mut self.sums, &mut self.seen)?;
                }
                self.take_seen(start, live, docs);
            }
        }
        let optional = &mut self.clauses[..optional_count];
        // The clause that can add most first.
        for at in (0..optional.len()).rev() {
            keep_hopeful(docs, &mut self.kept, goal);
            goal.rest = optional[..at].iter().map(|clause| f64::from(clause.bound)).sum();
            let term = &mut optional[at].term;
            for (doc, sum) in docs.iter().zip(&mut self.kept) {
                if term.postings.advance(*doc) == *doc {
                    *sum += f64::from(term.score());
                }
            }
            term.postings.status()?;
        }
        scores.extend(self.kept.drain(..).map(|sum| sum as f32));
        Ok(())
    }

    /// Appends the live documents that were seen to `docs`, and their sums to `kept`; forgets both.
    fn take_seen(&mut self, start: DocId, live: Option<&LiveDocs>, docs: &mut Vec<DocId>) {
        if let Some(live) = live {
            // Their sums must not leak into the next window.
            let mut dead = self.seen.clone();
            live.mask_window((start / WINDOW) as usize, &mut self.seen.0);
            dead.and_not(&self.seen);
            dead.each(|index| self.sums[index as usize] = 0.0);
        }
        self.seen.append_to(start, docs);
        self.seen.clear();
        let sums = &mut self.sums;
        self.kept.extend(docs.iter().map(|doc| std::mem::take(&mut sums[(doc - start) as usize])));
    }
}

/// Removes documents that cannot score enough even if all that is left to look up adds what it can.
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
    fn max_score(&mut self, start: DocId, end: DocId) -> f32 {
        let current = self.term.postings.advance(start);
        if current >= end {
            return 0.0;
        }
        self.term.bound(current, end - 1)
    }

    /// Adds the scores of all documents of the window.
    fn add_all(
        &mut self,
        start: DocId,
        end: DocId,
        sums: &mut [f64; WINDOW as usize],
        seen: &mut Bits,
    ) -> Result<()> {
        let (mut docs, mut scores) = ([0; BLOCK], [0.0; BLOCK]);
        let term = &mut self.term;
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

    /// Appends the live documents before `end` that can score enough with what the others may add, and what this clause adds in them. Blocks
    /// that hold none are passed over without being decoded.
    fn collect_alone(
        &mut self,
        end: DocId,
        goal: Goal,
        live: Option<&LiveDocs>,
        found: &mut Vec<DocId>,
        sums: &mut Vec<f64>,
    ) -> Result<()> {
        let (mut docs, mut scores) = ([0; BLOCK], [0.0; BLOCK]);
        let term = &mut self.term;
        while term.postings.doc() < end {
            let mut target = term.postings.doc();
            loop {
                let last = term.postings.shallow_advance(target).min(end - 1);
                if goal.is_in_reach(f64::from(term.bound(target, last))) {
                    break;
                }
                target = last + 1;
                if target >= end {
                    break;
                }
            }
            if term.postings.advance(target) >= end {
                break;
            }
            let count = term.scored_block(end, &mut docs, &mut scores);
            for (doc, score) in docs[..count].iter().zip(&scores) {
                let sum = f64::from(*score);
                if goal.is_in_reach(sum) && live.is_none_or(|live| live.is_live(*doc)) {
                    found.push(*doc);
                    sums.push(sum);
                }
            }
            term.pass(count, end);
        }
        Ok(term.postings.status()?)
    }
}
