//! Writes a whole inverted field term by term, postings and dictionary together.

use super::writer::PostingsWriter;
use crate::index_options::IndexOptions;
use crate::terms::{TermDictionaryWriter, TermInfo, TermLocation};
use crate::{DocId, Result, Sink};

/// The four sections that grow while terms arrive. Offsets in the written bytes count from each sink's
/// position at the start.
pub struct FieldSinks<'s> {
    /// Section `Terms`.
    pub terms: &'s mut dyn Sink,
    /// Section `TermIndex`.
    pub index: &'s mut dyn Sink,
    /// Section `Postings`.
    pub postings: &'s mut dyn Sink,
    /// Section `Positions`.
    pub positions: &'s mut dyn Sink,
}

/// Writes one field: for each term in ascending order `begin_term`, `push` any number of times and
/// `end_term`; then `finish`. A term without documents is not written.
pub struct FieldWriter<'s> {
    dictionary: TermDictionaryWriter<'s>,
    postings: PostingsWriter<'s>,
    term: Vec<u8>,
}

impl<'s> FieldWriter<'s> {
    /// Creates a writer. `norms` is by document, `[doc_count]`, 0 where the field is absent; `None` for a
    /// field without norms.
    pub fn new(options: IndexOptions, norms: Option<&'s [u8]>, sinks: FieldSinks<'s>) -> FieldWriter<'s> {
        FieldWriter {
            dictionary: TermDictionaryWriter::new(options, sinks.terms, sinks.index),
            postings: PostingsWriter::new(options, norms, sinks.postings, sinks.positions),
            term: Vec::new(),
        }
    }

    /// Starts a term, which must be greater than all before.
    pub fn begin_term(&mut self, term: &[u8]) {
        self.term.clear();
        self.term.extend_from_slice(term);
    }

    /// Adds documents of the term; see [`PostingsWriter::push`].
    #[inline]
    pub fn push(&mut self, docs: &[DocId], freqs: &[u32], positions: &[u32]) -> Result<()> {
        self.postings.push(docs, freqs, positions)
    }

    /// Ends the term; returns `false` if it had no documents and was left out.
    pub fn end_term(&mut self) -> Result<bool> {
        match self.postings.end_term()? {
            Some(info) => self.dictionary.add(&self.term, &info).map(|()| true),
            None => Ok(false),
        }
    }

    /// Adds a term with all its documents.
    pub fn add(&mut self, term: &[u8], docs: &[DocId], freqs: &[u32], positions: &[u32]) -> Result<bool> {
        self.begin_term(term);
        self.push(docs, freqs, positions)?;
        self.end_term()
    }

    /// Adds a term with all its occurrences; see [`PostingsWriter::push_occurrences`].
    pub fn add_occurrences(&mut self, term: &[u8], occurrences: &[u64]) -> Result<bool> {
        self.postings.push_occurrences(occurrences)?;
        match self.postings.end_term()? {
            Some(info) => self.dictionary.add(term, &info).map(|()| true),
            None => Ok(false),
        }
    }

    /// Adds a term that occurs once, in one document, without positions, like most of `_id`. Writes nothing
    /// to the postings.
    #[inline]
    pub fn add_single(&mut self, term: &[u8], doc: DocId) -> Result<()> {
        let location = TermLocation { single_doc: doc, ..TermLocation::default() };
        self.dictionary.add(term, &TermInfo { ord: 0, doc_freq: 1, total_term_freq: 1, location })
    }

    /// Returns the number of terms written so far, which is the ordinal of the next one.
    pub fn term_count(&self) -> u64 {
        self.dictionary.term_count()
    }

    /// Ends the four sections; returns the bytes of the section `TermDirectory`.
    pub fn finish(self, doc_count_with_field: u32) -> Result<Vec<u8>> {
        self.postings.finish()?;
        self.dictionary.finish(doc_count_with_field)
    }
}
