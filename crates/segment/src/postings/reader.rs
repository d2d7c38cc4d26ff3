//! The postings of one field: "open those of this term".

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
    /// `positions`: `None` for a field without them. `doc_count`: of the segment.
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

    /// What is indexed of the field.
    pub fn options(&self) -> IndexOptions {
        self.options
    }

    /// The postings of a term of this field's dictionary. A field gives what it has: frequencies of 1, no
    /// positions where they were not indexed.
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
