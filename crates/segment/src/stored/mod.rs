//! Stored documents: "what was stored as document 17, with which id and routing?"
//!
//! Layout: [`format`].

mod checksum;
mod codec;
mod compress;
pub mod format;
mod heads;
mod long_matches;
mod reader;
mod recent;
mod terminators;
#[cfg(test)]
mod tests;
mod writer;

pub use codec::StoredCodec;
pub(crate) use compress::{DictionaryTrial, usable_dictionary};
pub(crate) use reader::RawBlock;
pub use reader::{Stored, StoredDocument, StoredReader};
pub use recent::RecentBlocks;
pub use writer::StoredWriter;
