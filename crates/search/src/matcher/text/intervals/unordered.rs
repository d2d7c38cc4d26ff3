//! Intervals of several parts in any order.

use limber_segment::DocId;

use super::iterator::{BoxedIntervals, Intervals, Noted, gaps_between, is_end, reset_all};
use crate::error::Result;
use crate::matcher::text::position_queue::PositionQueue;
use crate::matcher::text::positions::NO_MORE;

/// Source: Lucene's `UnorderedIntervalsSource`.
pub(super) struct Unordered<'a> {
    parts: Vec<BoxedIntervals<'a>>,
    /// The parts that have a current interval, by its start; of equal starts, the longest first.
    queue: PositionQueue,
    /// The greatest end of all intervals that were queued.
    reach: i64,
    start: i64,
    end: i64,
    gaps: i64,
    /// `None` if tokens are not needed.
    noted: Option<Noted>,
}

impl<'a> Unordered<'a> {
    /// `parts` must have at least two items.
    pub fn new(parts: Vec<BoxedIntervals<'a>>, notes_tokens: bool) -> Unordered<'a> {
        let longest_first =
            |left: (i64, i64), right: (i64, i64)| left.0 < right.0 || left.0 == right.0 && left.1 >= right.1;
        let queue = PositionQueue::new(parts.len(), longest_first);
        let noted = notes_tokens.then(Noted::default);
        Unordered { parts, queue, reach: -1, start: -1, end: -1, gaps: -1, noted }
    }

    /// Moves a part that is not queued, and queues it if it has another interval.
    fn advance(&mut self, at: usize) -> Result<bool> {
        let part = &mut self.parts[at];
        if is_end(part.next()?) {
            return Ok(false);
        }
        self.queue.push((part.start(), part.end()), at);
        self.reach = self.reach.max(part.end());
        Ok(true)
    }

    fn least(&self) -> Option<(i64, i64)> {
        self.queue.first().map(|(key, _)| key)
    }

    fn advance_least(&mut self) -> Result<()> {
        if let Some((_, at)) = self.queue.pop() {
            self.advance(at)?;
        }
        Ok(())
    }

    fn is_whole(&self) -> bool {
        self.queue.len() == self.parts.len()
    }
}

impl Intervals for Unordered<'_> {
    fn reset(&mut self, doc: DocId) -> Result<bool> {
        (self.start, self.end, self.reach) = (-1, -1, -1);
        self.queue.clear();
        if !reset_all(&mut self.parts, doc)? {
            return Ok(false);
        }
        for at in 0..self.parts.len() {
            if !self.advance(at)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn next(&mut self) -> Result<i64> {
        while self.is_whole() && self.least().is_some_and(|(start, _)| start == self.start) {
            self.advance_least()?;
        }
        if !self.is_whole() {
            (self.start, self.end) = (NO_MORE, NO_MORE);
            return Ok(NO_MORE);
        }
        // The interval from the least start to the greatest end is minimized: the part that starts it moves
        // on while the end does not increase.
        while let Some((start, end)) = self.least().filter(|_| self.is_whole()) {
            (self.start, self.end) = (start, self.reach);
            self.gaps = gaps_between(self.start, self.end, &self.parts);
            if let Some(noted) = &mut self.noted {
                noted.note(&self.parts);
            }
            if end == self.end {
                break;
            }
            self.advance_least()?;
            if self.end != self.reach {
                break;
            }
        }
        Ok(self.start)
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
