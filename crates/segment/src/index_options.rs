//! What is indexed about a field's terms.

/// What is indexed in addition to the documents of each term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexOptions {
    /// How often the term occurs in each document.
    pub frequencies: bool,
    /// Positions of the term in each document; implies `frequencies`.
    pub positions: bool,
}

/// What a reader of postings will ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Want {
    /// The documents only.
    Docs,
    /// Documents and frequencies. Costs no more than `Docs` until a frequency is requested: frequencies are
    /// unpacked on demand, one block at a time.
    Freqs,
    /// Positions as well.
    Positions,
}
