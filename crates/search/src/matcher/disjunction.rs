//! Scored disjunctions of terms, window by window: documents and scores in one pass.
//!
//! Without a threshold every clause adds its scores to an accumulator a document (Lucene's `BooleanScorer`). With one, the clauses
//! whose bounds together cannot reach it choose no candidates of their own and are looked up only for those that can still
//! compete (block-max MAXSCORE, Lucene's `MaxScoreBulkScorer`).

use limber_segment::norms::Norms;
use limber_segment::postings::{Postings, Want};
use limber_segment::{DocId, LiveDocs, NO_MORE_DOCS, Segment};

use super::open::open_postings;
use super::{Bits, WINDOW};
use crate::error::Result;
use crate::primitives::TermNode;
use crate::score::Bm25;

pub(crate) struct Disjunction<'a> {
    clauses: Vec<Clause<'a>>,
    sums: Box<[f64; WINDOW as usize]>,
    /// Documents of the window that were given a score.
    seen: Bits,
}

struct Clause<'a> {
    postings: Postings,
    norms: Option<&'a Norms>,
    bm25: &'a Bm25,
    /// No document of the current window scores more.
    bound: f32,
}

impl<'a> Disjunction<'a> {
    /// `terms`: of which any is enough; `None` where the query is something else.
    pub fn open(terms: Option<Vec<&'a TermNode>>, segment: &'a Segment) -> Result<Option<Disjunction<'a>>> {
        let Some(terms) = terms else { return Ok(None) };
        let mut clauses = Vec::with_capacity(terms.len());
        for node in terms {
            if let Some(postings) = open_postings(segment, &node.field, &node.term, Want::Freqs)? {
                let norms = segment.norms(&node.field.path)?;
                clauses.push(Clause { postings, norms, bm25: &node.scorer, bound: f32::INFINITY });
            }
        }
        let sums = vec![0.0; WINDOW as usize].into_boxed_slice().try_into().expect("as long as a window");
        Ok(Some(Disjunction { clauses, sums, seen: Bits::default() }))
    }

    /// The first document at or after `target`, or [`NO_MORE_DOCS`].
    pub fn next(&mut self, target: DocId) -> Result<DocId> {
        let mut first = NO_MORE_DOCS;
        for clause in &mut self.clauses {
            first = first.min(clause.postings.advance(target));
            clause.postings.status()?;
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
        let mut optional_count = 0;
        let mut optional_bound = 0.0f64;
        if let Some(threshold) = threshold {
            for clause in &mut self.clauses {
                clause.bound = clause.max_score(start, end);
            }
            self.clauses.sort_by(|left, right| left.bound.total_cmp(&right.bound));
            for clause in &self.clauses {
                let bound = optional_bound + f64::from(clause.bound);
                // Rounding may lift a sum by half a unit in the last place.
                if (bound as f32).next_up() > threshold {
                    break;
                }
                optional_bound = bound;
                optional_count += 1;
            }
            if optional_count == self.clauses.len() {
                return Ok(());
            }
        }
        self.seen.clear();
        let is_single = self.clauses.len() == 1;
        let (optional, essential) = self.clauses.split_at_mut(optional_count);
        for clause in essential.iter_mut() {
            let skip_to = if is_single { threshold } else { None };
            clause.add_all(start, end, skip_to, &mut self.sums, &mut self.seen)?;
        }
        if let Some(live) = live {
            // Their sums must not leak into the next window.
            let mut dead = self.seen.clone();
            live.mask_window((start / WINDOW) as usize, &mut self.seen.0);
            dead.and_not(&self.seen);
            dead.each(|index| self.sums[index as usize] = 0.0);
        }
        self.seen.append_to(start, docs);
        let mut kept: Vec<f64> = Vec::new();
        let sums = match optional.is_empty() {
            true => None,
            false => {
                kept.extend(docs.iter().map(|doc| self.sums[(doc - start) as usize]));
                Some(&mut kept)
            }
        };
        if let (Some(sums), Some(threshold)) = (sums, threshold) {
            let mut rest = optional_bound;
            // The clause that can add most first.
            for clause in optional.iter_mut().rev() {
                drop_hopeless(start, docs, sums, &mut self.sums, rest, threshold);
                rest = (rest - f64::from(clause.bound)).max(0.0);
                for (doc, sum) in docs.iter().zip(sums.iter_mut()) {
                    if clause.postings.advance(*doc) == *doc {
                        *sum +=
                            f64::from(clause.bm25.score(clause.postings.freq() as f32, clause.norm(*doc)));
                    }
                }
                clause.postings.status()?;
            }
            scores.extend(sums.iter().map(|sum| *sum as f32));
            docs.iter().for_each(|doc| self.sums[(doc - start) as usize] = 0.0);
            return Ok(());
        }
        scores.extend(docs.iter().map(|doc| std::mem::take(&mut self.sums[(doc - start) as usize]) as f32));
        Ok(())
    }
}

/// Removes documents that cannot score more than the threshold even if all that is left to look up adds `rest`.
fn drop_hopeless(
    start: DocId,
    docs: &mut Vec<DocId>,
    sums: &mut Vec<f64>,
    window: &mut [f64; WINDOW as usize],
    rest: f64,
    threshold: f32,
) {
    let mut at = 0;
    for read in 0..docs.len() {
        if ((sums[read] + rest) as f32).next_up() > threshold {
            (docs[at], sums[at]) = (docs[read], sums[read]);
            at += 1;
        } else {
            window[(docs[read] - start) as usize] = 0.0;
        }
    }
    docs.truncate(at);
    sums.truncate(at);
}

impl Clause<'_> {
    #[inline]
    fn norm(&self, doc: DocId) -> u8 {
        self.norms.map_or(1, |norms| norms.get(doc))
    }

    fn max_score(&mut self, start: DocId, end: DocId) -> f32 {
        let current = self.postings.advance(start);
        if current >= end {
            return 0.0;
        }
        self.postings.shallow_advance(current);
        let bm25 = self.bm25;
        self.postings
            .max_impacts(end - 1)
            .iter()
            .map(|impact| bm25.score(impact.freq as f32, impact.norm))
            .fold(0.0, f32::max)
    }

    /// Adds the scores of all documents of the window; blocks that cannot reach the threshold, if given, are passed over.
    fn add_all(
        &mut self,
        start: DocId,
        end: DocId,
        threshold: Option<f32>,
        sums: &mut [f64; WINDOW as usize],
        seen: &mut Bits,
    ) -> Result<()> {
        let mut docs = [0; 128];
        self.postings.advance(start);
        while self.postings.doc() < end {
            if let Some(threshold) = threshold {
                let current = self.postings.doc();
                let last = self.postings.shallow_advance(current);
                let bm25 = self.bm25;
                let best = self
                    .postings
                    .max_impacts(last)
                    .iter()
                    .map(|impact| bm25.score(impact.freq as f32, impact.norm))
                    .fold(0.0, f32::max);
                if best <= threshold {
                    match last.checked_add(1) {
                        Some(after) if last < end => self.postings.advance(after),
                        _ => self.postings.advance(end),
                    };
                    continue;
                }
            }
            let block = self.postings.block_docs();
            let count = if block[block.len() - 1] < end {
                block.len()
            } else {
                block.partition_point(|doc| *doc < end)
            };
            docs[..count].copy_from_slice(&block[..count]);
            let is_whole = count == block.len();
            let freqs = &self.postings.block_freqs()[..count];
            let mut add = |doc: DocId, freq: u32, norm: u8| {
                let index = doc - start;
                sums[index as usize] += f64::from(self.bm25.score(freq as f32, norm));
                seen.set(index);
            };
            match (self.norms, self.norms.and_then(|norms| norms.as_slice())) {
                (_, Some(dense)) => docs[..count]
                    .iter()
                    .zip(freqs)
                    .for_each(|(doc, freq)| add(*doc, *freq, dense[*doc as usize])),
                (Some(norms), None) => {
                    docs[..count].iter().zip(freqs).for_each(|(doc, freq)| add(*doc, *freq, norms.get(*doc)))
                }
                (None, None) => docs[..count].iter().zip(freqs).for_each(|(doc, freq)| add(*doc, *freq, 1)),
            }
            if is_whole {
                self.postings.next_block();
            } else {
                self.postings.advance(end);
            }
        }
        Ok(self.postings.status()?)
    }
}
