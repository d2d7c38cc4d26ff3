//! The terms of a batch of documents.

use limber_mapping::RequestError;
use limber_work as work;

use crate::error::Result;

/// Bytes of terms that stay allocated for the next batch.
const KEPT_BYTES_MAX: usize = 64 << 10;

/// Terms by document: the terms of a document follow one another, sorted.
#[derive(Debug, Default)]
pub(crate) struct RuntimeTerms {
    bytes: Vec<u8>,
    /// Start and end of term `i` in `bytes`.
    spans: Vec<(u32, u32)>,
    /// For each term, the first term that was added with the same bytes, if it is known.
    firsts: Vec<u32>,
    /// Index in the batch of the document that has term `i`; ascending.
    pub positions: Vec<u32>,
}

impl RuntimeTerms {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
        self.firsts.clear();
        self.positions.clear();
    }

    /// Returns how many terms there are.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Returns the bytes of a term by its index.
    pub fn term(&self, at: usize) -> &[u8] {
        let (start, end) = self.spans[at];
        &self.bytes[start as usize..end as usize]
    }

    /// Adds a term of the document at this index of the batch.
    ///
    /// # Errors
    /// There is not enough memory for the terms, or more than 4 GiB of them.
    pub fn push(&mut self, position: u32, term: &[u8]) -> Result<()> {
        let (start, end) = (self.bytes.len(), self.bytes.len() + term.len());
        if u32::try_from(end).is_err() {
            let reason = "the values of a runtime field have more than [4gb] in a batch of documents";
            return Err(RequestError::illegal_argument(reason).into());
        }
        work::check_growth(start, self.bytes.capacity(), term.len())?;
        let start = start as u32;
        self.bytes.extend_from_slice(term);
        self.firsts.push(self.spans.len() as u32);
        self.spans.push((start, self.bytes.len() as u32));
        self.positions.push(position);
        Ok(())
    }

    /// Releases the memory of a batch that was large.
    pub fn release(&mut self) {
        if self.bytes.capacity() > KEPT_BYTES_MAX {
            *self = RuntimeTerms::default();
        }
    }

    /// Adds a term of the document at this index of the batch that is equal to an earlier term.
    pub fn push_again(&mut self, position: u32, earlier: usize) {
        self.firsts.push(self.firsts[earlier]);
        self.spans.push(self.spans[earlier]);
        self.positions.push(position);
    }

    /// Returns the index of an equal term that was added before, or the term's own.
    pub fn first_of(&self, at: usize) -> usize {
        self.firsts[at] as usize
    }

    /// Iterates over (index of the document in the batch, term).
    pub fn iter(&self) -> impl Iterator<Item = (usize, &[u8])> {
        self.positions.iter().enumerate().map(|(at, position)| (*position as usize, self.term(at)))
    }
}
