//! Several successive intervals of one source.

use std::collections::VecDeque;

use limber_segment::DocId;

use super::iterator::{BoxedIntervals, Intervals, is_end};
use crate::error::Result;
use crate::matcher::text::positions::NO_MORE;

/// A number of successive intervals of one source, so that equal parts of a rule never share an interval.
///
/// Source: Lucene's `RepeatingIntervalsSource`, whose width is the sum of its parts' widths.
pub(super) struct Repeated<'a> {
    part: BoxedIntervals<'a>,
    count: usize,
    /// The current intervals, in order.
    window: VecDeque<Copy>,
    is_over: bool,
}

struct Copy {
    start: i64,
    end: i64,
    tokens: Vec<u32>,
}

impl<'a> Repeated<'a> {
    pub(crate) fn new(part: BoxedIntervals<'a>, count: usize) -> Repeated<'a> {
        Repeated { part, count, window: VecDeque::with_capacity(count), is_over: false }
    }

    fn take(&mut self) -> Result<bool> {
        if is_end(self.part.next()?) {
            self.is_over = true;
            return Ok(false);
        }
        let mut tokens = Vec::new();
        self.part.tokens(&mut tokens);
        self.window.push_back(Copy { start: self.part.start(), end: self.part.end(), tokens });
        Ok(true)
    }
}

impl Intervals for Repeated<'_> {
    fn reset(&mut self, doc: DocId) -> Result<bool> {
        self.window.clear();
        self.is_over = false;
        self.part.reset(doc)
    }

    fn next(&mut self) -> Result<i64> {
        self.window.pop_front();
        while !self.is_over && self.window.len() < self.count {
            if !self.take()? {
                break;
            }
        }
        Ok(self.start())
    }

    fn start(&self) -> i64 {
        if self.is_over { NO_MORE } else { self.window.front().map_or(-1, |copy| copy.start) }
    }

    fn end(&self) -> i64 {
        if self.is_over { NO_MORE } else { self.window.back().map_or(-1, |copy| copy.end) }
    }

    fn gaps(&self) -> i64 {
        self.end() - self.start() + 1 - self.width()
    }

    fn width(&self) -> i64 {
        // Lucene subtracts the end from the start.
        self.window.iter().map(|copy| copy.start - copy.end + 1).sum()
    }

    fn tokens(&self, out: &mut Vec<u32>) {
        self.window.iter().for_each(|copy| out.extend_from_slice(&copy.tokens));
    }
}
