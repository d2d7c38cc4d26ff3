//! Which documents of a batch match filters.

use std::fmt;

use limber_segment::{DocId, SegmentView};

use crate::error::Result;
use crate::query::{BoundQuery, MatchingDocs};

/// A matcher that can be shown in debug output.
pub struct Docs<'s>(pub Option<MatchingDocs<'s>>);

impl fmt::Debug for Docs<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("MatchingDocs")
    }
}

/// Whether each of `docs` is in `matching`; both ascending.
pub fn mark(docs: &[DocId], matching: &[DocId], marks: &mut Vec<bool>) {
    marks.clear();
    let mut next = 0;
    for doc in docs {
        let is_match = matching.get(next) == Some(doc);
        next += usize::from(is_match);
        marks.push(is_match);
    }
}

/// Which of several filters each document of a batch matches.
#[derive(Debug)]
pub struct FilterMarks<'s> {
    queries: &'s [BoundQuery],
    docs: Vec<Docs<'s>>,
    matching: Vec<DocId>,
    /// By filter: whether each document matches.
    marks: Vec<Vec<bool>>,
}

impl<'s> FilterMarks<'s> {
    pub fn new(queries: &'s [BoundQuery]) -> FilterMarks<'s> {
        FilterMarks {
            queries,
            docs: Vec::new(),
            matching: Vec::new(),
            marks: queries.iter().map(|_| Vec::new()).collect(),
        }
    }

    pub fn filter_count(&self) -> usize {
        self.queries.len()
    }

    pub fn open(&mut self, view: &'s SegmentView) -> Result<()> {
        self.docs.clear();
        for query in self.queries {
            self.docs.push(Docs(Some(MatchingDocs::open(query, &view.segment)?)));
        }
        Ok(())
    }

    /// Looks at a batch; [`FilterMarks::of`] then speaks of it.
    pub fn mark(&mut self, batch: &[DocId]) -> Result<()> {
        for (docs, marks) in self.docs.iter_mut().zip(&mut self.marks) {
            if let Docs(Some(docs)) = docs {
                docs.retain(batch, &mut self.matching)?;
                mark(batch, &self.matching, marks);
            }
        }
        Ok(())
    }

    /// The filters that the document at a place of the batch matches, ascending.
    pub fn of(&self, position: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.marks.len()).filter(move |&filter| self.marks[filter][position])
    }
}
