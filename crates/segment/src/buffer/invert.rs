//! Inverts logs by document into postings by term, by counting sort.

use super::chunk_log::ChunkLog;
use super::table::{TermTable, same};
use super::text::STEP;
use crate::DocId;
use crate::zeros::zeros;

/// The used terms of a field in order, and where each one's entries are after a scatter.
pub struct TermOrder {
    /// Term numbers, ascending by their bytes; unused ones left out.
    pub sorted: Vec<u32>,
    /// Indexed by term number: index of the term's first entry.
    starts: Vec<u32>,
    /// Indexed by term number: number of the term's entries.
    counts: Vec<u32>,
    /// Indexed by term number: rank in `sorted` (the ordinal).
    ranks: Vec<u32>,
}

impl TermOrder {
    /// Orders the terms of `values`, which are numbers of `table`. If several numbers stand for the same
    /// term, replaces them by one.
    pub fn of_terms(table: &TermTable, values: &mut ChunkLog<u32>) -> TermOrder {
        let mut counts = zeros(table.len());
        values.iter().for_each(|value| counts[value as usize] += 1);
        let mut sorted = sorted(&counts, |number| table.term(number));
        if table.may_repeat() {
            unify(table, values, &mut sorted, &mut counts);
        }
        TermOrder::of_sorted(sorted, counts)
    }

    /// Orders the terms of `tokens`: slices of term numbers below `term_count`, with [`STEP`]s among them.
    pub fn of_tokens<'a, 'v>(
        term_count: usize,
        tokens: impl Iterator<Item = &'v [u32]>,
        term: impl Fn(u32) -> &'a [u8],
    ) -> TermOrder {
        let mut counts: Vec<u32> = zeros(term_count);
        for &token in tokens.flatten() {
            if token & STEP == 0 {
                counts[token as usize] += 1;
            }
        }
        TermOrder::of_sorted(sorted(&counts, term), counts)
    }

    fn of_sorted(sorted: Vec<u32>, counts: Vec<u32>) -> TermOrder {
        let (mut starts, mut ranks) = (zeros(counts.len()), zeros(counts.len()));
        let mut start = 0;
        for (rank, &number) in sorted.iter().enumerate() {
            (starts[number as usize], ranks[number as usize]) = (start, rank as u32);
            start += counts[number as usize];
        }
        TermOrder { sorted, starts, counts, ranks }
    }

    /// Returns the ordinal of a used term.
    #[inline]
    pub fn rank(&self, number: u32) -> u32 {
        self.ranks[number as usize]
    }

    /// Returns the range of a term's entries in the result of a scatter.
    #[inline]
    pub fn range(&self, number: u32) -> std::ops::Range<usize> {
        let start = self.starts[number as usize] as usize;
        start..start + self.counts[number as usize] as usize
    }

    fn entry_count(&self) -> usize {
        self.counts.iter().map(|&count| count as usize).sum()
    }

    /// Returns documents by term, those of `sorted[0]` first, ascending within a term. `docs` is the
    /// document of each of `values`; `None` if value `i` belongs to document `i`.
    pub fn scatter_docs<'v>(
        &self,
        values: impl Iterator<Item = &'v [u32]>,
        docs: Option<&[DocId]>,
    ) -> Vec<DocId> {
        let mut next = self.starts.clone();
        let mut scattered = zeros(self.entry_count());
        let mut put = |value: u32, doc: DocId| {
            let at = &mut next[value as usize];
            scattered[*at as usize] = doc;
            *at += 1;
        };
        match docs {
            None => values.flatten().zip(0..).for_each(|(&value, doc)| put(value, doc)),
            Some(docs) => values.flatten().zip(docs).for_each(|(&value, &doc)| put(value, doc)),
        }
        scattered
    }

    /// Returns `document << 32 | position` by term, ascending within a term. `texts` is the document of
    /// each text and the slices of its log.
    pub fn scatter_positions<'t, L>(&self, texts: impl Iterator<Item = (DocId, L)>) -> Vec<u64>
    where
        L: Iterator<Item = &'t [u32]>,
    {
        let mut next = self.starts.clone();
        let mut scattered = zeros(self.entry_count());
        for (doc, tokens) in texts {
            // Starts one before the first position; a step precedes the token that it moves.
            let (mut position, mut step) = (u32::MAX, 1);
            for &token in tokens.flatten() {
                if token & STEP != 0 {
                    step = token & !STEP;
                    continue;
                }
                position = position.wrapping_add(step);
                step = 1;
                let at = &mut next[token as usize];
                scattered[*at as usize] = (doc as u64) << 32 | position as u64;
                *at += 1;
            }
        }
        scattered
    }
}

/// Returns the used numbers in the order of their terms.
fn sorted<'a>(counts: &[u32], term: impl Fn(u32) -> &'a [u8]) -> Vec<u32> {
    let mut sorted: Vec<u32> =
        (0..counts.len() as u32).filter(|&number| counts[number as usize] > 0).collect();
    super::sort::sort_by_term(&mut sorted, term);
    sorted
}

/// Keeps only the first of the `sorted` numbers that stand for the same term.
fn unify(table: &TermTable, values: &mut ChunkLog<u32>, sorted: &mut Vec<u32>, counts: &mut [u32]) {
    // Indexed by number: the number that is kept for its term; empty while all are kept.
    let mut kept: Vec<u32> = Vec::new();
    sorted.dedup_by(|later, first| {
        let is_same = same(table.term(*later), table.term(*first));
        if is_same {
            if kept.is_empty() {
                kept = (0..counts.len() as u32).collect();
            }
            kept[*later as usize] = *first;
            counts[*first as usize] += std::mem::take(&mut counts[*later as usize]);
        }
        is_same
    });
    if !kept.is_empty() {
        (0..values.len()).for_each(|at| values.set(at, kept[values.get(at) as usize]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scatters_by_rank() {
        let terms: [&[u8]; 4] = [b"pear", b"apple", b"unused", b"fig"];
        let values = [0, 1, 0, 3, 1];
        let order = TermOrder::of_tokens(4, [&values[..]].into_iter(), |number| terms[number as usize]);
        assert_eq!(order.sorted, [1, 3, 0]);
        assert_eq!([order.rank(0), order.rank(1), order.rank(3)], [2, 0, 1]);
        assert_eq!(order.scatter_docs(values.chunks(2), None), [1, 4, 3, 0, 2]);
        assert_eq!(order.scatter_docs(values.chunks(2), Some(&[0, 0, 1, 1, 2])), [0, 2, 1, 0, 1]);
        assert_eq!(order.range(0), 3..5);
    }

    #[test]
    fn steps_move_positions() {
        let terms: [&[u8]; 2] = [b"a", b"b"];
        let tokens = [0, 1, STEP | 101, 0, STEP, 1];
        let order = TermOrder::of_tokens(2, tokens.chunks(4), |number| terms[number as usize]);
        let scattered = order.scatter_positions([(7, tokens.chunks(3))].into_iter());
        let at = |position: u64| 7 << 32 | position;
        assert_eq!(scattered, [at(0), at(102), at(1), at(102)]);
    }
}
