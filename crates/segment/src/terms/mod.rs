//! The sorted terms of one field: "does this term exist, what comes next, what is its ordinal, where are
//! its postings?"
//!
//! [`TermDictionaryWriter`] writes blocks of 32 terms and an index over them. [`TermDictionary`] looks
//! terms up through pages that the term-index cache holds, and [`TermCursor`] walks ranges.

mod block;
mod cursor;
mod dictionary;
mod directory;
pub mod format;
mod info;
mod lookup;
mod number_block;
mod page;
mod recent;
mod suffix_maxima;
#[cfg(test)]
mod tests;
mod writer;

pub use cursor::TermCursor;
pub use dictionary::{IndexPages, TermDictionary};
pub use directory::TermStatistics;
pub use info::{TermInfo, TermLocation};
pub use lookup::AscendingLookup;
pub use suffix_maxima::SuffixMaxima;
pub use writer::TermDictionaryWriter;
