//! Documents that no index can find: those of a window are tested together.

use limber_segment::{DocId, NO_MORE_DOCS};

use crate::context::seen::Seen;
use crate::error::Result;
use crate::matcher::{Bits, Matcher, WINDOW};

/// Tests which documents match. They may be deleted, because deletions are not known here.
pub(crate) trait ValueTest {
    /// Sets the bits of those of `docs` that match. The documents are ascending, and all in the window that
    /// begins at `start`.
    fn matches(&mut self, docs: &[DocId], start: DocId, bits: &mut Bits) -> Result<()>;
}

pub(crate) struct AskedDocs<A> {
    matches: A,
    doc_count: u32,
    seen: Seen,
    docs: Vec<DocId>,
}

impl<A: ValueTest> AskedDocs<A> {
    /// Only documents that are `seen` are tested.
    pub(crate) fn new(matches: A, doc_count: u32, seen: Seen) -> AskedDocs<A> {
        AskedDocs { matches, doc_count, seen, docs: Vec::new() }
    }

    /// Tests the documents in `docs`.
    fn test(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        self.seen.retain(&mut self.docs);
        match self.docs.is_empty() {
            true => Ok(()),
            false => self.matches.matches(&self.docs, start, bits),
        }
    }
}

impl<A: ValueTest> Matcher for AskedDocs<A> {
    fn cost(&self) -> u64 {
        // Evaluated last, on the documents that all other clauses have left.
        u64::from(self.doc_count) * 1000
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        Ok(if target < self.doc_count { target } else { NO_MORE_DOCS })
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        self.docs.clear();
        self.docs.extend(start..self.doc_count.min(start.saturating_add(WINDOW)));
        self.test(start, bits)
    }

    fn restrict(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        self.docs.clear();
        bits.append_to(start, &mut self.docs);
        bits.clear();
        self.test(start, bits)
    }
}
