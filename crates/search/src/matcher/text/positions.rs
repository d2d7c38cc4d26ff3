//! The positions of a term in a document.
//!
//! Intervals and spans are built from leaves. A leaf reads the positions of one document at a time from the
//! postings of a segment, or has those of a text that is highlighted. The nodes above a leaf only see its
//! current position.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use limber_mapping::Field;
use limber_segment::postings::{Postings, Want};
use limber_segment::{DocId, Segment};

use crate::error::Result;
use crate::matcher::open::{each_term, open_postings};
use crate::primitives::{PatternTerms, too_many_terms};

/// There is no further interval or span in the document.
pub(crate) const NO_MORE: i64 = i64::MAX;

/// Makes the leaves of a tree of intervals or spans. `None` means that the term does not occur.
pub(crate) trait Leaves {
    fn term(&mut self, field: &Field, term: &[u8]) -> Result<Option<Leaf>>;

    /// Makes a leaf with the positions of any of these terms.
    fn terms(&mut self, terms: &PatternTerms) -> Result<Option<Leaf>>;
}

/// One term, or several that are treated as one.
pub(crate) struct Leaf {
    occurrences: Occurrences,
    /// The positions in the current document, ascending and distinct.
    positions: Vec<u32>,
    /// How many of them were passed, including the current one.
    passed: usize,
    /// Positions that were passed since the last question whether the request is over.
    steps: u32,
    scratch: Vec<u32>,
}

/// Positions that a leaf passes between two such questions.
const STEPS_PER_QUESTION: u32 = 1 << 12;

enum Occurrences {
    Term(Box<Postings>),
    Terms(AnyTerm),
    /// Indexes of the tokens of a single text, in the order of `Leaf::positions`.
    Text(Vec<u32>),
}

/// The postings of several terms. Only those that are behind the requested document are moved.
struct AnyTerm {
    postings: Vec<Postings>,
    /// The next document of each term.
    queue: BinaryHeap<Reverse<(DocId, usize)>>,
}

impl AnyTerm {
    fn new(postings: Vec<Postings>) -> AnyTerm {
        let queue = postings.iter().enumerate().map(|(at, postings)| Reverse((postings.doc(), at))).collect();
        AnyTerm { postings, queue }
    }

    /// Appends the positions of all terms in `doc`, unsorted.
    fn read(&mut self, doc: DocId, scratch: &mut Vec<u32>, positions: &mut Vec<u32>) -> Result<()> {
        let mut here = Vec::new();
        while let Some(Reverse((next, at))) =
            self.queue.peek().copied().filter(|Reverse((next, _))| *next <= doc)
        {
            self.queue.pop();
            let postings = &mut self.postings[at];
            let found = if next < doc { postings.advance(doc) } else { next };
            if found == doc {
                postings.positions(scratch);
                positions.extend_from_slice(scratch);
                here.push(Reverse((doc, at)));
            } else {
                self.queue.push(Reverse((found, at)));
            }
            postings.status()?;
        }
        // The same document may be requested again.
        self.queue.extend(here);
        Ok(())
    }
}

impl Leaf {
    fn new(occurrences: Occurrences) -> Leaf {
        Leaf { occurrences, positions: Vec::new(), passed: 0, steps: 0, scratch: Vec::new() }
    }

    /// Makes a leaf of a text: the tokens with the indexes `places` have these ascending positions. `None` if
    /// there are none.
    pub fn of_text(mut positions: Vec<u32>, mut places: Vec<u32>) -> Option<Leaf> {
        // If there are several tokens at a position, the first one is highlighted.
        let mut kept = 0;
        for at in 0..positions.len() {
            if kept == 0 || positions[kept - 1] != positions[at] {
                (positions[kept], places[kept]) = (positions[at], places[at]);
                kept += 1;
            }
        }
        positions.truncate(kept);
        places.truncate(kept);
        let leaf = Leaf { positions, ..Leaf::new(Occurrences::Text(places)) };
        (kept > 0).then_some(leaf)
    }

    /// Moves to a document, before its first position. Returns false if the document does not have the term.
    /// Documents must ascend.
    ///
    /// # Errors
    /// The positions cannot be read, or the request must end: a tree has many leaves, and each holds the
    /// positions of its term.
    pub fn reset(&mut self, doc: DocId) -> Result<bool> {
        self.passed = 0;
        match &mut self.occurrences {
            Occurrences::Text(_) => {}
            Occurrences::Term(postings) => {
                self.positions.clear();
                if postings.advance(doc) == doc {
                    postings.positions(&mut self.positions);
                }
                postings.status()?;
            }
            Occurrences::Terms(any) => {
                self.positions.clear();
                any.read(doc, &mut self.scratch, &mut self.positions)?;
                self.positions.sort_unstable();
                self.positions.dedup();
            }
        }
        if !matches!(self.occurrences, Occurrences::Text(_)) {
            limber_work::check()?;
        }
        Ok(!self.positions.is_empty())
    }

    /// Moves to the next position and returns it, or [`NO_MORE`]. It also ends when the request is over,
    /// which the caller must check when it is done with the document.
    pub fn next(&mut self) -> i64 {
        self.passed = (self.passed + 1).min(self.positions.len() + 1);
        self.steps += 1;
        if self.steps >= STEPS_PER_QUESTION {
            self.steps = 0;
            if limber_work::is_over() {
                self.passed = self.positions.len() + 1;
            }
        }
        self.position()
    }

    /// Returns the current position; -1 before the first one.
    pub fn position(&self) -> i64 {
        match self.passed.checked_sub(1) {
            None => -1,
            Some(at) => self.positions.get(at).map_or(NO_MORE, |position| i64::from(*position)),
        }
    }

    /// Returns the index of the current token, if the leaf is one of a text.
    pub fn token(&self) -> Option<u32> {
        match &self.occurrences {
            Occurrences::Text(places) => places.get(self.passed.checked_sub(1)?).copied(),
            _ => None,
        }
    }
}

/// Makes leaves from the postings of a segment.
pub(crate) struct SegmentLeaves<'s>(pub &'s Segment);

impl Leaves for SegmentLeaves<'_> {
    fn term(&mut self, field: &Field, term: &[u8]) -> Result<Option<Leaf>> {
        let postings = open_postings(self.0, field, term, Want::Positions)?;
        Ok(postings.map(|postings| Leaf::new(Occurrences::Term(Box::new(postings)))))
    }

    fn terms(&mut self, terms: &PatternTerms) -> Result<Option<Leaf>> {
        let mut found = Vec::new();
        let Some(reader) = self.0.postings_reader(&terms.field.path)? else { return Ok(None) };
        each_term(&terms.docs, self.0, |cursor| {
            if found.len() >= terms.count_max {
                return Err(too_many_terms(terms).into());
            }
            found.push(reader.postings(&cursor.info()?, Want::Positions)?);
            Ok(())
        })?;
        Ok((!found.is_empty()).then(|| Leaf::new(Occurrences::Terms(AnyTerm::new(found)))))
    }
}
