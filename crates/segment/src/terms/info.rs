//! What the dictionary knows about one term.

use crate::DocId;

/// Statistics of one term of one field in one segment, and where its postings are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermInfo {
    /// Ordinal: the position of the term in the field's sorted terms, from 0.
    pub ord: u64,
    /// Documents with the term, deleted ones included.
    pub doc_freq: u32,
    /// Occurrences in all documents; equals `doc_freq` when frequencies are not indexed.
    pub total_term_freq: u64,
    /// Location of its postings.
    pub location: TermLocation,
}

/// The location of a term's postings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TermLocation {
    /// The only document of a term with `doc_freq == 1`; nothing is in the postings section then.
    pub single_doc: DocId,
    /// Start in the field's postings section, for `doc_freq > 1`.
    pub postings_offset: u64,
    /// Length in bytes there.
    pub postings_len: u64,
    /// Start in the field's positions section.
    pub positions_offset: u64,
    /// Length in bytes there; 0 without positions.
    pub positions_len: u64,
}
