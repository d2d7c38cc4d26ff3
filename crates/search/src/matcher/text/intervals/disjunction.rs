//! Intervals of any of several sources.

use limber_segment::DocId;

use super::iterator::{BoxedIntervals, Intervals, is_end};
use crate::error::Result;
use crate::matcher::text::position_queue::PositionQueue;
use crate::matcher::text::positions::NO_MORE;

/// The intervals that contain no other one. Source: Lucene's `DisjunctionIntervalsSource`.
pub(super) struct Disjunction<'a> {
    parts: Vec<BoxedIntervals<'a>>,
    /// The parts that have a current interval, by its end; of equal ends, the shortest first.
    queue: PositionQueue,
    current: Current,
}

#[derive(Clone, Copy, PartialEq)]
enum Current {
    Before,
    At(usize),
    Over,
}

impl<'a> Disjunction<'a> {
    pub(crate) fn new(parts: Vec<BoxedIntervals<'a>>) -> Disjunction<'a> {
        let shortest_first =
            |left: (i64, i64), right: (i64, i64)| left.0 < right.0 || left.0 == right.0 && left.1 >= right.1;
        let queue = PositionQueue::new(parts.len(), shortest_first);
        Disjunction { parts, queue, current: Current::Before }
    }

    fn queue_up(&mut self, at: usize) -> Result<()> {
        let part = &mut self.parts[at];
        if !is_end(part.next()?) {
            self.queue.push((part.end(), part.start()), at);
        }
        Ok(())
    }

    fn current(&self) -> Option<&BoxedIntervals<'a>> {
        match self.current {
            Current::At(at) => Some(&self.parts[at]),
            _ => None,
        }
    }

    /// Returns the position when there is no current interval: before the first one or after the last one.
    fn outside(&self) -> i64 {
        if self.current == Current::Before { -1 } else { NO_MORE }
    }
}

impl Intervals for Disjunction<'_> {
    fn reset(&mut self, doc: DocId) -> Result<bool> {
        self.queue.clear();
        self.current = Current::Before;
        let mut is_any = false;
        for at in 0..self.parts.len() {
            if self.parts[at].reset(doc)? {
                is_any = true;
                self.queue_up(at)?;
            }
        }
        Ok(is_any)
    }

    fn next(&mut self) -> Result<i64> {
        if let Some(current) = self.current() {
            let (start, end) = (current.start(), current.end());
            let holds = |(next_end, next_start): (i64, i64)| next_start <= start && end <= next_end;
            while let Some((_, at)) = self.queue.first().filter(|(next, _)| holds(*next)) {
                self.queue.pop();
                self.queue_up(at)?;
            }
        }
        self.current = match self.queue.first() {
            Some((_, at)) => Current::At(at),
            None => Current::Over,
        };
        Ok(self.start())
    }

    fn start(&self) -> i64 {
        self.current().map_or_else(|| self.outside(), |current| current.start())
    }

    fn end(&self) -> i64 {
        self.current().map_or_else(|| self.outside(), |current| current.end())
    }

    fn gaps(&self) -> i64 {
        self.current().map_or(0, |current| current.gaps())
    }

    fn tokens(&self, out: &mut Vec<u32>) {
        if let Some(current) = self.current() {
            current.tokens(out);
        }
    }
}
