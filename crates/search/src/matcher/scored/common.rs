//! Batches of documents that have all of several terms, and where two terms' positions are in them.

use limber_segment::DocId;
use limber_segment::postings::{Found, Postings, Spot, Want};

use super::scored_term::{BLOCK, ScoredTerm};

/// Documents of a batch that have all of the terms that were looked up.
pub(in crate::matcher) struct Common {
    docs: [DocId; BLOCK],
    count: usize,
    found: Found,
    /// The occurrences of the terms that were looked up with their positions.
    occurrences: [Occurrences; 2],
}

/// A term's occurrences in each document of a batch.
#[derive(Default)]
pub(in crate::matcher) struct Occurrences {
    /// The frequency of the term.
    pub freqs: Vec<u32>,
    /// The place of its positions.
    pub spots: Vec<Spot>,
}

impl Occurrences {
    #[inline]
    fn keep(&mut self, numbers: &[u8]) {
        for (to, from) in numbers.iter().enumerate() {
            let from = usize::from(*from);
            (self.freqs[to], self.spots[to]) = (self.freqs[from], self.spots[from]);
        }
        self.freqs.truncate(numbers.len());
        self.spots.truncate(numbers.len());
    }
}

impl Default for Common {
    fn default() -> Common {
        Common { docs: [0; BLOCK], count: 0, found: Found::default(), occurrences: Default::default() }
    }
}

impl Common {
    /// Returns the documents.
    #[inline]
    pub fn docs(&self) -> &[DocId] {
        &self.docs[..self.count]
    }

    /// Starts with the documents of the current block of `lead` up to `end` (excluded). Does not move the
    /// cursor. Returns their number.
    #[inline]
    pub fn start(&mut self, lead: &ScoredTerm<'_>, end: DocId) -> usize {
        self.count = lead.block(end, &mut self.docs);
        self.count
    }

    /// Starts with at most 128 ascending documents.
    #[inline]
    pub fn start_with(&mut self, docs: &[DocId]) {
        self.docs[..docs.len()].copy_from_slice(docs);
        self.count = docs.len();
    }

    /// Keeps the documents that have the term.
    #[inline]
    pub fn keep(&mut self, term: &mut ScoredTerm<'_>) {
        term.postings.find(&self.docs[..self.count], Want::Docs, &mut self.found);
        self.keep_docs();
    }

    /// Drops the documents that have the term.
    #[inline]
    pub fn drop_with(&mut self, term: &mut Postings) {
        let mut numbers = [0; BLOCK];
        term.find(&self.docs[..self.count], Want::Docs, &mut self.found);
        let count = complement(self.found.numbers(), self.count, &mut numbers);
        self.keep_numbers(&numbers[..count]);
    }

    /// Keeps the documents that have the term, and notes its occurrences in one of the two slots. Returns the
    /// indices of these documents.
    pub fn keep_with_positions(&mut self, slot: usize, term: &mut ScoredTerm<'_>) -> &[u8] {
        let before = self.count;
        term.postings.find(&self.docs[..before], Want::Positions, &mut self.found);
        self.keep_docs();
        let numbers = self.found.numbers();
        if numbers.len() < before {
            let other = &mut self.occurrences[1 - slot];
            // It is of other documents if it is not in use.
            if other.freqs.len() == before {
                other.keep(numbers);
            }
        }
        let Occurrences { freqs, spots } = &mut self.occurrences[slot];
        self.found.swap_occurrences(freqs, spots);
        self.found.numbers()
    }

    /// Returns the occurrences in each of [`Common::docs`] that a slot holds.
    #[inline]
    pub fn occurrences(&self, slot: usize) -> &Occurrences {
        &self.occurrences[slot]
    }

    /// Keeps the documents at these ascending indices, with their occurrences.
    pub fn keep_numbers(&mut self, numbers: &[u8]) {
        let before = self.count;
        if numbers.len() < before {
            let noted = self.occurrences.iter_mut().filter(|noted| noted.freqs.len() == before);
            noted.for_each(|noted| noted.keep(numbers));
            keep_numbers(&mut self.docs, numbers);
            self.count = numbers.len();
        }
    }

    #[inline]
    fn keep_docs(&mut self) {
        let numbers = self.found.numbers();
        keep_numbers(&mut self.docs, numbers);
        self.count = numbers.len();
    }
}

/// Writes the indices below `count` that are not in `numbers`, which ascend. Returns how many they are.
#[inline]
pub(in crate::matcher) fn complement(numbers: &[u8], count: usize, out: &mut [u8; BLOCK]) -> usize {
    let (mut written, mut numbers) = (0, numbers.iter().peekable());
    for at in 0..count as u8 {
        out[written % BLOCK] = at;
        written += usize::from(numbers.next_if(|number| **number == at).is_none());
    }
    written
}

#[inline]
fn keep_numbers(docs: &mut [DocId; BLOCK], numbers: &[u8]) {
    for (to, from) in numbers.iter().enumerate() {
        docs[to % BLOCK] = docs[usize::from(*from) % BLOCK];
    }
}
