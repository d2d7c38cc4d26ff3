//! The resident part of a field's terms: statistics, and the first key of every page of the index.

use limber_codec::{Corrupt, Reader, varint};

use super::format::{BLOCK_TERMS, FLAG_FREQUENCIES, FLAG_POSITIONS};
use crate::index_options::IndexOptions;

/// Sums over a field's terms, deleted documents included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TermStatistics {
    /// Distinct terms.
    pub term_count: u64,
    /// (term, document) pairs.
    pub sum_doc_freq: u64,
    /// Occurrences of all terms.
    pub sum_total_term_freq: u64,
    /// Documents with at least one term.
    pub doc_count_with_field: u32,
}

/// One page of the term index, as the directory lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageEntry {
    /// Separator of the first block; empty for the first page.
    pub first_key: Box<[u8]>,
    pub first_block: u64,
    /// Offset in the section `TermIndex`.
    pub offset: u64,
    /// 0 if `first_block` is the page's only block.
    pub len: u32,
    pub crc: u32,
}

/// The section `TermDirectory`.
#[derive(Debug, PartialEq, Eq)]
pub struct TermIndexDirectory {
    pub options: IndexOptions,
    pub statistics: TermStatistics,
    pub block_count: u64,
    /// Ascending; at least one if there are blocks.
    pub pages: Vec<PageEntry>,
}

impl TermIndexDirectory {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let frequencies = if self.options.frequencies { FLAG_FREQUENCIES } else { 0 };
        out.push(frequencies | if self.options.positions { FLAG_POSITIONS } else { 0 });
        varint::write_u64(&mut out, self.statistics.term_count);
        varint::write_u64(&mut out, self.block_count);
        varint::write_u64(&mut out, self.statistics.sum_doc_freq);
        varint::write_u64(&mut out, self.statistics.sum_total_term_freq);
        varint::write_u32(&mut out, self.statistics.doc_count_with_field);
        varint::write_u64(&mut out, self.pages.len() as u64);
        for page in &self.pages {
            varint::write_bytes(&mut out, &page.first_key);
            varint::write_u64(&mut out, page.first_block);
            varint::write_u32(&mut out, page.len);
            out.extend_from_slice(&page.crc.to_le_bytes());
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<TermIndexDirectory, Corrupt> {
        let mut reader = Reader::new(bytes);
        let flags = reader.u8()?;
        reader.expect(flags <= FLAG_FREQUENCIES | FLAG_POSITIONS, "flags of a term directory")?;
        let options = IndexOptions {
            frequencies: flags & FLAG_FREQUENCIES != 0,
            positions: flags & FLAG_POSITIONS != 0,
        };
        let term_count = reader.varint()?;
        let block_count = reader.varint()?;
        reader.expect(block_count == term_count.div_ceil(BLOCK_TERMS as u64), "blocks for all terms")?;
        let statistics = TermStatistics {
            term_count,
            sum_doc_freq: reader.varint()?,
            sum_total_term_freq: reader.varint()?,
            doc_count_with_field: reader.varint_u32()?,
        };
        let page_count = reader.varint()?;
        // A page takes at least seven bytes here, so the remaining bytes bound the allocation.
        reader.expect(
            page_count <= block_count && page_count <= reader.remaining() as u64,
            "pages for blocks",
        )?;
        reader.expect((page_count == 0) == (block_count == 0), "pages for blocks")?;
        let mut pages: Vec<PageEntry> = Vec::with_capacity(page_count as usize);
        let mut offset = 0u64;
        for number in 0..page_count {
            let first_key: Box<[u8]> = reader.prefixed_bytes()?.into();
            let first_block = reader.varint()?;
            let follows = match pages.last() {
                None => first_key.is_empty() && first_block == 0,
                Some(last) => last.first_key < first_key && last.first_block < first_block,
            };
            reader.expect(follows && first_block < block_count, "pages in order")?;
            let (len, crc) = (reader.varint_u32()?, reader.u32()?);
            reader.expect(
                number > 0 || len > 0 || page_count > 1 || block_count == 1,
                "a page for the blocks",
            )?;
            pages.push(PageEntry { first_key, first_block, offset, len, crc });
            offset = offset.checked_add(len as u64).ok_or_else(|| reader.corrupt("lengths that add up"))?;
        }
        reader.expect(reader.remaining() == 0, "the end of the directory")?;
        Ok(TermIndexDirectory { options, statistics, block_count, pages })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_these_bytes() {
        let directory = TermIndexDirectory {
            options: IndexOptions { frequencies: true, positions: false },
            statistics: TermStatistics {
                term_count: 70,
                sum_doc_freq: 300,
                sum_total_term_freq: 301,
                doc_count_with_field: 9,
            },
            block_count: 3,
            pages: vec![
                PageEntry { first_key: (*b"").into(), first_block: 0, offset: 0, len: 5, crc: 0x01020304 },
                PageEntry { first_key: (*b"k").into(), first_block: 2, offset: 5, len: 0, crc: 0 },
            ],
        };
        let bytes = directory.encode();
        let expected: &[u8] =
            &[1, 70, 3, 0xac, 2, 0xad, 2, 9, 2, 0, 0, 5, 4, 3, 2, 1, 1, b'k', 2, 0, 0, 0, 0, 0];
        assert_eq!(bytes, expected);
        assert_eq!(TermIndexDirectory::decode(&bytes), Ok(directory));
        for len in 0..bytes.len() {
            assert!(TermIndexDirectory::decode(&bytes[..len]).is_err(), "cut at {len}");
        }
    }
}
