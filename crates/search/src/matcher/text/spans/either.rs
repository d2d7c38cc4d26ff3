//! Spans of any of several parts.

use limber_segment::DocId;

use super::iterator::{BoxedSpans, Spans};
use crate::error::Result;
use crate::matcher::text::position_queue::PositionQueue;
use crate::matcher::text::positions::NO_MORE;

/// Source: Lucene's `SpanOrQuery`.
pub(super) struct Either<'a> {
    parts: Vec<BoxedSpans<'a>>,
    /// The parts with spans in the document, by the start of their current span, then by its end.
    queue: PositionQueue,
    is_placed: bool,
    /// The parts that may have spans in the document.
    here: Vec<usize>,
}

impl<'a> Either<'a> {
    pub(crate) fn new(parts: Vec<BoxedSpans<'a>>) -> Either<'a> {
        let queue = PositionQueue::new(parts.len(), |left, right| left < right);
        Either { parts, queue, is_placed: false, here: Vec::new() }
    }

    fn first(&self) -> Option<&BoxedSpans<'a>> {
        self.queue.first().map(|(_, at)| &self.parts[at])
    }
}

impl Spans for Either<'_> {
    fn reset(&mut self, doc: DocId) -> Result<bool> {
        self.is_placed = false;
        self.queue.clear();
        self.here.clear();
        for (at, part) in self.parts.iter_mut().enumerate() {
            if part.reset(doc)? {
                self.here.push(at);
            }
        }
        Ok(!self.here.is_empty())
    }

    fn next(&mut self) -> i64 {
        if let Some((_, at)) = self.queue.first() {
            let part = &mut self.parts[at];
            part.next();
            self.queue.replace_first((part.start(), part.end()));
        } else if !self.is_placed {
            self.is_placed = true;
            for at in std::mem::take(&mut self.here) {
                let part = &mut self.parts[at];
                if part.next() != NO_MORE {
                    self.queue.push((part.start(), part.end()), at);
                }
            }
        }
        self.start()
    }

    fn start(&self) -> i64 {
        if self.is_placed { self.first().map_or(NO_MORE, |first| first.start()) } else { -1 }
    }

    fn end(&self) -> i64 {
        if self.is_placed { self.first().map_or(NO_MORE, |first| first.end()) } else { -1 }
    }

    fn width(&self) -> i64 {
        self.first().map_or(0, |first| first.width())
    }

    fn tokens(&self, out: &mut Vec<u32>) {
        if let Some(first) = self.first() {
            first.tokens(out);
        }
    }
}
