//! Opens the postings of one field's terms.

use limber_store::FileBytes;

use super::cursor::Postings;
use crate::index_options::{IndexOptions, Want};
use crate::terms::TermInfo;
use crate::{Error, Result};

/// The sections `Postings` and `Positions` of one field.
#[derive(Clone)]
pub struct PostingsReader {
    postings: FileBytes,
    positions: FileBytes,
    options: IndexOptions,
    doc_count: u32,
}

impl PostingsReader {
    /// Opens the postings of a field in a segment of `doc_count` documents; `positions` is `None` for a
    /// field without them.
    pub fn open(
        postings: FileBytes,
        positions: Option<FileBytes>,
        options: IndexOptions,
        doc_count: u32,
    ) -> Result<PostingsReader> {
        if options.positions && positions.is_none() {
            return Err(Error::corrupt("positions", 0, "a section of positions"));
        }
        let positions = positions.unwrap_or_else(|| FileBytes::from_vec(Vec::new()));
        Ok(PostingsReader { postings, positions, options, doc_count })
    }

    /// Returns what is indexed of the field.
    pub fn options(&self) -> IndexOptions {
        self.options
    }

    /// Opens the postings of a term of this field's dictionary. If the field lacks what is wanted,
    /// frequencies are 1 and there are no positions.
    pub fn postings(&self, info: &TermInfo, want: Want) -> Result<Postings> {
        let location = &info.location;
        let slice = |bytes: &FileBytes, section, offset: u64, len: u64| {
            let part = usize::try_from(offset).ok().zip(usize::try_from(len).ok());
            let part = part.and_then(|(offset, len)| bytes.slice(offset, len));
            part.ok_or_else(|| Error::corrupt(section, offset, "postings inside the section"))
        };
        let postings = slice(&self.postings, "postings", location.postings_offset, location.postings_len)?;
        let positions = match want == Want::Positions && self.options.positions {
            true => {
                Some(slice(&self.positions, "positions", location.positions_offset, location.positions_len)?)
            }
            false => None,
        };
        Postings::open(postings, positions, info, self.options, self.doc_count)
    }
}
