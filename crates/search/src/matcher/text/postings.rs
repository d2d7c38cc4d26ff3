//! Matches documents with a term.

use limber_segment::DocId;
use limber_segment::postings::Postings;

use crate::error::Result;
use crate::matcher::{Bits, Matcher, WINDOW};

pub(in crate::matcher) struct TermDocs {
    postings: Postings,
    doc_count: u32,
}

impl TermDocs {
    pub(crate) fn new(postings: Postings, doc_count: u32) -> TermDocs {
        TermDocs { postings, doc_count }
    }
}

impl Matcher for TermDocs {
    fn cost(&self) -> u64 {
        u64::from(self.postings.doc_freq())
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        let doc = self.postings.advance(target);
        self.postings.status()?;
        Ok(doc)
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        self.postings.advance(start);
        self.postings.fill_bitset(start, &mut bits.0);
        Ok(self.postings.status()?)
    }

    fn restrict(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        // Advancing to a candidate costs about as much as decoding eight documents.
        let in_window =
            u64::from(self.postings.doc_freq()) * u64::from(WINDOW) / u64::from(self.doc_count.max(1));
        if u64::from(bits.count()) * 8 >= in_window {
            let mut matches = Bits::default();
            self.fill(start, &mut matches)?;
            bits.and(&matches);
            return Ok(());
        }
        bits.retain(|index| Ok(self.postings.advance(start + index) == start + index))?;
        Ok(self.postings.status()?)
    }
}
