//! What is indexed about a field's terms.

/// Beyond the documents of each term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexOptions {
    /// How often the term occurs in each document.
    pub frequencies: bool,
    /// Where; implies `frequencies`.
    pub positions: bool,
}

/// What a reader of postings is going to ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Want {
    /// The documents alone.
    Docs,
    /// Costs as little as `Docs` until a frequency is asked for: they are unpacked by the block on demand.
    Freqs,
    /// Opens the positions as well.
    Positions,
}
