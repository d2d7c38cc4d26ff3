//! A bound query as a filter over batches of documents: what aggregations such as `filter` ask.

use limber_segment::{DocId, Segment};

use super::bound::BoundQuery;
use crate::error::Result;
use crate::matcher::{self, Bits, BoxedMatcher, WINDOW};

/// The documents of one segment that a query matches, asked for batch by batch.
pub struct MatchingDocs<'a> {
    matcher: BoxedMatcher<'a>,
}

impl<'a> MatchingDocs<'a> {
    pub fn open(query: &'a BoundQuery, segment: &'a Segment) -> Result<MatchingDocs<'a>> {
        Ok(MatchingDocs { matcher: matcher::matcher(query, segment)? })
    }

    /// Replaces `out` by those of `docs` that match. `docs`: ascending, all of one window of 4,096 (as collectors receive them), windows
    /// ascending from call to call and each asked for once.
    pub fn retain(&mut self, docs: &[DocId], out: &mut Vec<DocId>) -> Result<()> {
        out.clear();
        let Some(first) = docs.first() else { return Ok(()) };
        let start = first / WINDOW * WINDOW;
        let mut bits = Bits::of(docs, start);
        self.matcher.restrict(start, &mut bits)?;
        bits.append_to(start, out);
        Ok(())
    }
}
