//! The spans of a word in one value: "is this position in one of them, and where does the one end that begins
//! here?"
//!
//! A text may have as many spans as tokens, and each may be as long as the text. A question takes time
//! logarithmic in their number.

use limber_work as work;

use crate::error::Result;

/// First and last position.
type Span = (i64, i64);

/// Spans of one or several queries.
#[derive(Debug, PartialEq)]
pub(super) struct Spans {
    /// What they cover: ascending and disjoint.
    covered: Vec<Span>,
    /// By first position. Of spans that begin at one position, only the first in the order of the query.
    starts: Vec<Span>,
}

impl Spans {
    /// Sorts and merges spans.
    ///
    /// # Errors
    /// There is not enough memory, or the request must end.
    pub fn of(mut spans: Vec<Span>) -> Result<Spans> {
        // Sorting keeps a copy; what is covered is another.
        work::claim(2 * bytes(spans.len()))?;
        spans.sort_by_key(|(first, _)| *first);
        let mut covered: Vec<Span> = Vec::new();
        for (first, last) in &spans {
            match covered.last_mut() {
                Some((_, end)) if *first <= end.saturating_add(1) => *end = (*end).max(*last),
                _ => covered.push((*first, *last)),
            }
        }
        spans.dedup_by_key(|(first, _)| *first);
        work::check_beyond_deadline()?;
        Ok(Spans { covered, starts: spans })
    }

    /// Returns these spans and then those.
    ///
    /// # Errors
    /// As [`Spans::of`].
    pub fn and(&self, others: &Spans) -> Result<Spans> {
        work::claim(2 * bytes(self.starts.len() + others.starts.len()))?;
        let starts = Spans::of([&self.starts[..], &others.starts[..]].concat())?.starts;
        let covered = Spans::of([&self.covered[..], &others.covered[..]].concat())?.covered;
        Ok(Spans { covered, starts })
    }

    /// Whether a span contains this position.
    pub fn cover(&self, position: i64) -> bool {
        let after = self.covered.partition_point(|(first, _)| *first <= position);
        after > 0 && position <= self.covered[after - 1].1
    }

    /// Returns the last position of the span that begins at `position`.
    pub fn last_of(&self, position: i64) -> Option<i64> {
        let found = self.starts.binary_search_by_key(&position, |(first, _)| *first).ok()?;
        Some(self.starts[found].1)
    }
}

fn bytes(count: usize) -> u64 {
    (count * size_of::<Span>()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with a search of every span.
    #[test]
    fn positions_are_those_of_a_search_of_all_spans() {
        let mut state = 3u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % below) as i64
        };
        for _ in 0..300 {
            let mut list = || -> Vec<Span> {
                let mut spans = Vec::new();
                for _ in 0..next(8) {
                    let first = next(30);
                    spans.push((first, first + next(5)));
                }
                spans
            };
            let (left, right) = (list(), list());
            let all = [&left[..], &right[..]].concat();
            let spans = |list: &[Span]| Spans::of(list.to_vec()).expect("spans");
            let both = spans(&left).and(&spans(&right)).expect("spans");
            assert_eq!(both, spans(&all), "{left:?} {right:?}");
            for position in -1..40 {
                let covered = all.iter().any(|(first, last)| (*first..=*last).contains(&position));
                assert_eq!(both.cover(position), covered, "{position} in {all:?}");
                let begins = all.iter().find(|(first, _)| *first == position).map(|(_, last)| *last);
                assert_eq!(both.last_of(position), begins, "{position} in {all:?}");
            }
        }
    }
}
