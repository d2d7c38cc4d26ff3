//! The terms of a batch of documents.

use limber_mapping::RequestError;
use limber_work as work;

use crate::error::Result;

/// Bytes of terms that stay allocated for the next batch.
const KEPT_BYTES_MAX: usize = 64 << 10;

/// The terms of a batch of documents, each distinct one once.
pub(crate) struct DistinctTerms {
    pub terms: Vec<Box<[u8]>>,
    /// The index in the batch of each value's document, ascending; `None` if each document has exactly one.
    pub positions: Option<Vec<u32>>,
    /// The index of each value's term; the terms of a document are sorted.
    pub indexes: Vec<u32>,
}

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
        let span = self.add(term)?;
        self.firsts.push(self.spans.len() as u32);
        self.spans.push(span);
        self.positions.push(position);
        Ok(())
    }

    /// Replaces the terms by those of a batch.
    ///
    /// # Errors
    /// As for [`RuntimeTerms::push`].
    pub fn set(&mut self, distinct: DistinctTerms) -> Result<()> {
        self.clear();
        let DistinctTerms { terms, positions, indexes } = distinct;
        let mut spans = Vec::with_capacity(terms.len());
        for term in &terms {
            spans.push(self.add(term)?);
        }
        // The first value with each term.
        let mut firsts = vec![u32::MAX; terms.len()];
        self.firsts.extend((0..).zip(&indexes).map(|(at, index)| {
            let first = &mut firsts[*index as usize];
            *first = at.min(*first);
            *first
        }));
        self.spans.extend(indexes.iter().map(|index| spans[*index as usize]));
        self.positions = positions.unwrap_or_else(|| (0..indexes.len() as u32).collect());
        Ok(())
    }

    /// Adds the bytes of a term; returns its start and its end.
    fn add(&mut self, term: &[u8]) -> Result<(u32, u32)> {
        let (start, end) = (self.bytes.len(), self.bytes.len() + term.len());
        if u32::try_from(end).is_err() {
            let reason = "the values of a runtime field have more than [4gb] in a batch of documents";
            return Err(RequestError::illegal_argument(reason).into());
        }
        work::check_growth(start, self.bytes.capacity(), term.len())?;
        self.bytes.extend_from_slice(term);
        Ok((start as u32, end as u32))
    }

    /// Releases the memory of a batch that was large.
    pub fn release(&mut self) {
        if self.bytes.capacity() > KEPT_BYTES_MAX {
            *self = RuntimeTerms::default();
        }
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
