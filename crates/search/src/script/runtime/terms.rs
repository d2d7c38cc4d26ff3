//! The terms of a batch of documents.

/// Terms by document: the terms of a document follow one another, sorted.
#[derive(Debug, Default)]
pub(crate) struct RuntimeTerms {
    bytes: Vec<u8>,
    /// End of term `i` in `bytes`.
    ends: Vec<u32>,
    /// Index in the batch of the document that has term `i`; ascending.
    pub positions: Vec<u32>,
}

impl RuntimeTerms {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.positions.clear();
    }

    /// Returns how many terms there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the bytes of a term by its index.
    pub fn term(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.bytes[start..self.ends[at] as usize]
    }

    /// Adds a term of the document at this index of the batch.
    pub fn push(&mut self, position: u32, term: &[u8]) {
        self.bytes.extend_from_slice(term);
        self.ends.push(self.bytes.len() as u32);
        self.positions.push(position);
    }

    /// Iterates over (index of the document in the batch, term).
    pub fn iter(&self) -> impl Iterator<Item = (usize, &[u8])> {
        self.positions.iter().enumerate().map(|(at, position)| (*position as usize, self.term(at)))
    }
}
