//! Documents that no index can find: those of a window are tested together.

use limber_segment::{DocId, NO_MORE_DOCS};

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
    docs: Vec<DocId>,
}

impl<A: ValueTest> AskedDocs<A> {
    pub(crate) fn new(matches: A, doc_count: u32) -> AskedDocs<A> {
        AskedDocs { matches, doc_count, docs: Vec::new() }
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
        self.matches.matches(&self.docs, start, bits)
    }

    fn restrict(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        self.docs.clear();
        bits.append_to(start, &mut self.docs);
        bits.clear();
        self.matches.matches(&self.docs, start, bits)
    }
}
