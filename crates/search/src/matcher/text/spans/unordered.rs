//! Spans of several parts near one another, in any order.

use limber_segment::DocId;

use super::iterator::{BoxedSpans, Spans, reset_all};
use crate::error::Result;
use crate::matcher::text::position_queue::PositionQueue;
use crate::matcher::text::positions::NO_MORE;

/// Source: Lucene's `NearSpansUnordered`.
pub(super) struct Unordered<'a> {
    parts: Vec<BoxedSpans<'a>>,
    slop: i64,
    /// All parts by the start of their span, then by its end.
    queue: PositionQueue,
    /// Total length of the parts' current spans, and their greatest end.
    length_sum: i64,
    reach: i64,
    state: State,
}

#[derive(PartialEq, Clone, Copy)]
enum State {
    Before,
    At,
    Over,
}

impl<'a> Unordered<'a> {
    pub(crate) fn new(parts: Vec<BoxedSpans<'a>>, slop: i64) -> Unordered<'a> {
        let queue = PositionQueue::new(parts.len(), |left, right| left < right);
        Unordered { parts, slop, queue, length_sum: 0, reach: -1, state: State::Before }
    }

    /// Moves a part, and updates the total length and the greatest end.
    fn advance(&mut self, at: usize) -> Option<(i64, i64)> {
        let part = &mut self.parts[at];
        if part.next() == NO_MORE {
            return None;
        }
        let (start, end) = (part.start(), part.end());
        self.length_sum += end - start;
        self.reach = self.reach.max(end);
        Some((start, end))
    }

    fn place(&mut self) -> bool {
        (self.length_sum, self.reach) = (0, -1);
        self.queue.clear();
        for at in 0..self.parts.len() {
            let Some(key) = self.advance(at) else { return false };
            self.queue.push(key, at);
        }
        true
    }

    /// Moves the part that starts first.
    fn step(&mut self) -> bool {
        let Some(((start, end), at)) = self.queue.first() else { return false };
        self.length_sum -= end - start;
        let Some(key) = self.advance(at) else { return false };
        self.queue.replace_first(key);
        true
    }

    fn first_start(&self) -> i64 {
        self.queue.first().map_or(NO_MORE, |((start, _), _)| start)
    }
}

impl Spans for Unordered<'_> {
    fn reset(&mut self, doc: DocId) -> Result<bool> {
        self.state = State::Before;
        reset_all(&mut self.parts, doc)
    }

    fn next(&mut self) -> i64 {
        let mut is_placed = match self.state {
            State::Before => self.place(),
            State::At => self.step(),
            State::Over => false,
        };
        while is_placed {
            if self.reach - self.first_start() - self.length_sum <= self.slop {
                self.state = State::At;
                return self.first_start();
            }
            is_placed = self.step();
        }
        self.state = State::Over;
        NO_MORE
    }

    fn start(&self) -> i64 {
        match self.state {
            State::Before => -1,
            State::At => self.first_start(),
            State::Over => NO_MORE,
        }
    }

    fn end(&self) -> i64 {
        match self.state {
            State::Before => -1,
            State::At => self.reach,
            State::Over => NO_MORE,
        }
    }

    fn width(&self) -> i64 {
        self.reach - self.first_start()
    }

    fn tokens(&self, out: &mut Vec<u32>) {
        self.parts.iter().for_each(|part| part.tokens(out));
    }
}
