//! Intervals of several parts in order, with anything between them.

use limber_segment::DocId;

use super::iterator::{BoxedIntervals, Intervals, Noted, gaps_between, is_end, reset_all};
use crate::error::Result;
use crate::matcher::text::positions::NO_MORE;

/// Source: Lucene's `OrderedIntervalsSource`.
pub(super) struct Ordered<'a> {
    parts: Vec<BoxedIntervals<'a>>,
    /// The part that is moved next; those before it are in order.
    at: usize,
    start: i64,
    end: i64,
    gaps: i64,
    /// `None` if tokens are not needed.
    noted: Option<Noted>,
}

impl<'a> Ordered<'a> {
    /// `parts` must have at least two items.
    pub fn new(parts: Vec<BoxedIntervals<'a>>, notes_tokens: bool) -> Ordered<'a> {
        Ordered { parts, at: 1, start: -1, end: -1, gaps: 0, noted: notes_tokens.then(Noted::default) }
    }

    /// Moves parts, starting at `self.at`, so that each begins after the end of the preceding one, each as
    /// little as possible. `is_placed`: they were in order before the first part moved. Returns false if one
    /// of them would end at `end` or later.
    fn line_up(&mut self, end: i64, is_placed: bool) -> Result<bool> {
        loop {
            let previous_end = self.parts[self.at - 1].end();
            if previous_end >= end {
                return Ok(false);
            }
            let Some(part) = self.parts.get_mut(self.at) else { return Ok(true) };
            if is_placed && part.start() > previous_end {
                return Ok(true);
            }
            loop {
                if part.end() >= end || is_end(part.next()?) {
                    return Ok(false);
                }
                if part.start() > previous_end {
                    break;
                }
            }
            self.at += 1;
        }
    }
}

impl Intervals for Ordered<'_> {
    fn reset(&mut self, doc: DocId) -> Result<bool> {
        (self.start, self.end, self.gaps) = (-1, -1, -1);
        self.at = 1;
        if !reset_all(&mut self.parts, doc)? {
            return Ok(false);
        }
        self.parts[0].next()?;
        Ok(true)
    }

    fn next(&mut self) -> Result<i64> {
        (self.start, self.end, self.gaps) = (NO_MORE, NO_MORE, NO_MORE);
        // The start of the last part of the match so far; a smaller match must end before it.
        let (mut bound, mut is_placed) = (NO_MORE, false);
        let last = self.parts.len() - 1;
        loop {
            if !self.line_up(bound, is_placed)? {
                return Ok(self.start);
            }
            self.start = self.parts[0].start();
            if is_end(self.start) {
                self.end = NO_MORE;
                return Ok(NO_MORE);
            }
            self.end = self.parts[last].end();
            self.gaps = gaps_between(self.start, self.end, &self.parts);
            if let Some(noted) = &mut self.noted {
                noted.note(&self.parts);
            }
            bound = self.parts[last].start();
            self.at = 1;
            if is_end(self.parts[0].next()?) {
                return Ok(self.start);
            }
            is_placed = true;
        }
    }

    fn start(&self) -> i64 {
        self.start
    }

    fn end(&self) -> i64 {
        self.end
    }

    fn gaps(&self) -> i64 {
        self.gaps
    }

    fn tokens(&self, out: &mut Vec<u32>) {
        if let Some(noted) = &self.noted {
            noted.add_to(out);
        }
    }
}
