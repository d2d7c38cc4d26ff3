//! Look-ups in one field's terms.

use std::ops::Bound;
use std::sync::Arc;

use limber_codec::checksum::crc32;
use limber_store::term_index::{PageKey, PageSlot, TermIndexCache};
use limber_store::{Directory, FileBytes};

use super::block::BlockView;
use super::cursor::TermCursor;
use super::directory::{TermIndexDirectory, TermStatistics};
use super::format::{BLOCK_OFFSET_BYTES, BLOCK_SHIFT, BLOCK_TERMS};
use super::info::TermInfo;
use super::page;
use crate::postings::IndexOptions;
use crate::{Error, Result};

const SECTION: &str = "terms";

/// Where the pages of a field's term index are read from when the cache does not hold them.
pub struct IndexPages {
    pub directory: Arc<dyn Directory>,
    pub file: Arc<str>,
    /// Start and length of the section `TermIndex` in `file`.
    pub offset: u64,
    pub len: u64,
    pub cache: Arc<dyn TermIndexCache>,
    /// From [`limber_store::term_index::next_segment_core_id`], one a segment.
    pub segment_core: u64,
    /// The field's number in the segment.
    pub field: u32,
}

/// The sorted terms of one field in one segment. Look-ups allocate nothing.
pub struct TermDictionary {
    directory: TermIndexDirectory,
    terms: FileBytes,
    /// Where the block table starts in `terms`.
    blocks_end: usize,
    pages: IndexPages,
    slots: Box<[PageSlot]>,
}

impl TermDictionary {
    /// `directory` and `terms` are the sections `TermDirectory` and `Terms`. Loads every page when the cache keeps them
    /// all ([`TermIndexCache::loads_at_open`]).
    pub fn open(directory: &[u8], terms: FileBytes, pages: IndexPages) -> Result<TermDictionary> {
        let directory =
            TermIndexDirectory::decode(directory).map_err(Error::in_section("term directory", 0))?;
        let table_bytes = directory.block_count.saturating_mul(BLOCK_OFFSET_BYTES as u64);
        let blocks_end = (terms.len() as u64).checked_sub(table_bytes);
        let blocks_end = blocks_end.ok_or_else(|| Error::corrupt(SECTION, 0, "a table of all blocks"))?;
        let index_len = directory.pages.last().map_or(0, |page| page.offset + page.len);
        if index_len != pages.len {
            return Err(Error::corrupt("term index", pages.len, "the pages the directory lists"));
        }
        let slots = directory.pages.iter().map(|_| PageSlot::default()).collect();
        let this = TermDictionary { directory, terms, blocks_end: blocks_end as usize, pages, slots };
        if this.pages.cache.loads_at_open() {
            for number in 0..this.directory.pages.len() {
                this.page(number, |_| Ok(()))?;
            }
        }
        Ok(this)
    }

    /// Number of terms.
    pub fn len(&self) -> u64 {
        self.directory.statistics.term_count
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn statistics(&self) -> TermStatistics {
        self.directory.statistics
    }

    pub fn sum_doc_freq(&self) -> u64 {
        self.directory.statistics.sum_doc_freq
    }

    pub fn sum_total_term_freq(&self) -> u64 {
        self.directory.statistics.sum_total_term_freq
    }

    /// Documents with at least one term, deleted ones included.
    pub fn doc_count_with_field(&self) -> u32 {
        self.directory.statistics.doc_count_with_field
    }

    pub fn options(&self) -> IndexOptions {
        self.directory.options
    }

    /// Bytes and number of the pages that the cache may hold for this field; for `TermIndexCache::forget_segment`.
    pub fn index_pages(&self) -> (u64, u64) {
        let pages = self.directory.pages.iter().filter(|page| page.len > 0);
        pages.fold((0, 0), |(bytes, count), page| (bytes + page.len, count + 1))
    }

    /// Heap bytes of the resident directory.
    pub fn resident_bytes(&self) -> u64 {
        let keys: usize = self.directory.pages.iter().map(|page| page.first_key.len()).sum();
        let entry = size_of::<super::directory::PageEntry>() + size_of::<PageSlot>();
        (size_of::<TermDictionary>() + keys + self.directory.pages.len() * entry) as u64
    }

    /// The term, when it is there.
    pub fn get(&self, term: &[u8]) -> Result<Option<TermInfo>> {
        let Some(block) = self.block_for(term)? else { return Ok(None) };
        let view = self.block(block)?;
        match view.find(term)? {
            Ok(index) => Ok(Some(view.info(index, block << BLOCK_SHIFT)?)),
            Err(_) => Ok(None),
        }
    }

    /// `Ok(ordinal)`, or `Err(ordinal)` of the first greater term (the number of terms when there is none).
    pub fn ordinal(&self, term: &[u8]) -> Result<std::result::Result<u64, u64>> {
        let Some(block) = self.block_for(term)? else { return Ok(Err(0)) };
        let first = block << BLOCK_SHIFT;
        Ok(match self.block(block)?.find(term)? {
            Ok(index) => Ok(first + index as u64),
            Err(index) => Err(first + index as u64),
        })
    }

    /// Puts the term with ordinal `ord` into `term`.
    pub fn term(&self, ord: u64, term: &mut Vec<u8>) -> Result<()> {
        self.check_ord(ord)?;
        self.block(ord >> BLOCK_SHIFT)?.term((ord % BLOCK_TERMS as u64) as usize, term)
    }

    /// What is known about the term with ordinal `ord`.
    pub fn info(&self, ord: u64) -> Result<TermInfo> {
        self.check_ord(ord)?;
        let block = ord >> BLOCK_SHIFT;
        self.block(block)?.info((ord % BLOCK_TERMS as u64) as usize, block << BLOCK_SHIFT)
    }

    /// Ordinals can come from a column on disk, so a wrong one is corruption, not a broken promise.
    fn check_ord(&self, ord: u64) -> Result<()> {
        if ord < self.len() {
            Ok(())
        } else {
            Err(Error::corrupt(SECTION, ord, "an ordinal below the term count"))
        }
    }

    /// The terms between two bounds, ascending.
    pub fn range(&self, lower: Bound<&[u8]>, upper: Bound<&[u8]>) -> Result<TermCursor<'_>> {
        let start = match lower {
            Bound::Unbounded => 0,
            Bound::Included(term) => self.ordinal(term)?.unwrap_or_else(|ord| ord),
            Bound::Excluded(term) => self.ordinal(term)?.map_or_else(|ord| ord, |ord| ord + 1),
        };
        let end = match upper {
            Bound::Unbounded => self.len(),
            Bound::Included(term) => self.ordinal(term)?.map_or_else(|ord| ord, |ord| ord + 1),
            Bound::Excluded(term) => self.ordinal(term)?.unwrap_or_else(|ord| ord),
        };
        Ok(TermCursor::new(self, start, end.max(start)))
    }

    /// The terms with ordinals `start..end`.
    pub fn range_of_ordinals(&self, start: u64, end: u64) -> TermCursor<'_> {
        let end = end.min(self.len());
        TermCursor::new(self, start.min(end), end)
    }

    /// All terms.
    pub fn cursor(&self) -> TermCursor<'_> {
        TermCursor::new(self, 0, self.len())
    }

    /// The block that holds `term` if any does; `None` without terms.
    fn block_for(&self, term: &[u8]) -> Result<Option<u64>> {
        let pages = &self.directory.pages;
        if pages.is_empty() {
            return Ok(None);
        }
        // The first page's key is empty, so at least one key is at most `term`.
        let number = pages.partition_point(|page| *page.first_key <= *term) - 1;
        let entry = &pages[number];
        let last = pages.get(number + 1).map_or(self.directory.block_count, |next| next.first_block) - 1;
        if entry.len == 0 {
            return Ok(Some(entry.first_block));
        }
        let block = self.page(number, |page| page::find_block(page, term))?;
        Ok(Some((entry.first_block + block).min(last)))
    }

    /// Calls `look` with the bytes of page `number`.
    fn page<T>(&self, number: usize, look: impl FnOnce(&[u8]) -> Result<T>) -> Result<T>
    where
        T: Default,
    {
        let entry = &self.directory.pages[number];
        if entry.len == 0 {
            return Ok(T::default());
        }
        let key =
            PageKey { segment_core: self.pages.segment_core, field: self.pages.field, page: number as u32 };
        let page = self.pages.cache.page(key, &self.slots[number], &mut || {
            let offset = self.pages.offset + entry.offset;
            let bytes = self.pages.directory.read(&self.pages.file, offset, entry.len as usize)?;
            let found = crc32(&bytes);
            if found != entry.crc {
                return Err(limber_store::Error::Corrupt {
                    file: self.pages.file.to_string(),
                    offset,
                    expected: format!("a term-index page with checksum {:08x}", entry.crc),
                    found: format!("{found:08x}"),
                });
            }
            Ok(bytes)
        })?;
        look(&page)
    }

    fn block_offset(&self, block: u64) -> usize {
        let at = self.blocks_end + block as usize * BLOCK_OFFSET_BYTES;
        let mut offset = [0; 8];
        // In bounds: `open` checked that the table has an entry for every block.
        offset[..BLOCK_OFFSET_BYTES].copy_from_slice(&self.terms[at..at + BLOCK_OFFSET_BYTES]);
        u64::from_le_bytes(offset) as usize
    }

    /// Block number `block`, below the block count.
    #[inline]
    pub(super) fn block(&self, block: u64) -> Result<BlockView<'_>> {
        let start = self.block_offset(block);
        let end = if block + 1 < self.directory.block_count {
            self.block_offset(block + 1)
        } else {
            self.blocks_end
        };
        if start > end || end > self.blocks_end {
            return Err(Error::corrupt(SECTION, start as u64, "blocks in order"));
        }
        let count = (self.len() - (block << BLOCK_SHIFT)).min(BLOCK_TERMS as u64) as usize;
        BlockView::parse(&self.terms[start..end], start as u64, count, self.directory.options)
    }
}
