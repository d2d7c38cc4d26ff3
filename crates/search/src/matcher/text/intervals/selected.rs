//! Intervals of a source that pass a filter.

use limber_script::OpenScript;
use limber_segment::DocId;

use super::iterator::{BoxedIntervals, Intervals, is_end};
use crate::error::Result;

pub(super) enum Test<'a> {
    /// The interval has at most this many gaps.
    GapsMax(i64),
    /// The script returns `true`.
    Script(Box<OpenScript<'a>>),
}

/// Source: Lucene's `FilteredIntervalsSource`.
pub(super) struct Selected<'a> {
    pub part: BoxedIntervals<'a>,
    pub test: Test<'a>,
}

impl Intervals for Selected<'_> {
    fn reset(&mut self, doc: DocId) -> Result<bool> {
        self.part.reset(doc)
    }

    fn next(&mut self) -> Result<i64> {
        loop {
            let start = self.part.next()?;
            if is_end(start) {
                return Ok(start);
            }
            let passes = match &mut self.test {
                Test::GapsMax(most) => self.part.gaps() <= *most,
                Test::Script(script) => script.accepts_interval(start, self.part.end(), self.part.gaps())?,
            };
            if passes {
                return Ok(start);
            }
        }
    }

    fn start(&self) -> i64 {
        self.part.start()
    }

    fn end(&self) -> i64 {
        self.part.end()
    }

    fn gaps(&self) -> i64 {
        self.part.gaps()
    }

    fn tokens(&self, out: &mut Vec<u32>) {
        self.part.tokens(out);
    }
}
