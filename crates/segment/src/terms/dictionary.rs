//! Lookups in one field's terms.

use std::borrow::Cow;
use std::ops::Bound;
use std::sync::{Arc, OnceLock};

use limber_codec::checksum::crc32;
use limber_store::term_index::{FieldPages, PageRef, TermIndexCache};
use limber_store::{Directory, FileBytes};

use super::block::BlockView;
use super::cursor::TermCursor;
use super::directory::{TermIndexDirectory, TermStatistics};
use super::format::{BLOCK_OFFSET_BYTES, BLOCK_SHIFT, BLOCK_TERMS};
use super::info::TermInfo;
use super::lookup::AscendingLookup;
use super::page;
use super::recent::recent_or;
use super::suffix_maxima::SuffixMaxima;
use crate::index_options::IndexOptions;
use crate::{Error, Result};

const SECTION: &str = "terms";

/// The source of the pages of a field's term index if the cache does not hold them.
pub struct IndexPages {
    /// Directory that holds the file.
    pub directory: Arc<dyn Directory>,
    /// Name of the file.
    pub file: Arc<str>,
    /// Start and length of the section `TermIndex` in `file`.
    pub offset: u64,
    /// See [`IndexPages::offset`].
    pub len: u64,
    /// The mapped section, as a fallback. Pages are read from the file, which costs less than faulting in
    /// their mapped memory; but the file of a segment that was merged away is deleted while a scroll still
    /// uses the segment.
    pub mapped: Option<FileBytes>,
    /// Cache of loaded pages.
    pub cache: Arc<TermIndexCache>,
    /// From [`limber_store::term_index::next_segment_core_id`], one per segment.
    pub segment_core: u64,
    /// The field's number in the segment.
    pub field: u32,
}

/// The sorted terms of one field in one segment, or a part of them. Lookups in all terms allocate nothing.
pub struct TermDictionary {
    opened: Arc<Opened>,
    /// `None` for all terms.
    part: Option<Part>,
}

/// The terms that begin with a prefix; they are shown without it.
struct Part {
    prefix: Box<[u8]>,
    /// Ordinal of the first of them in the whole dictionary.
    first: u64,
    count: u64,
}

struct Opened {
    directory: TermIndexDirectory,
    terms: FileBytes,
    /// The offset of the block table in `terms`.
    blocks_end: usize,
    source: IndexPages,
    pages: FieldPages,
    /// Result of [`TermDictionary::suffix_maxima`].
    suffix_maxima: OnceLock<Option<SuffixMaxima>>,
}

impl TermDictionary {
    /// Opens a dictionary from the sections `TermDirectory` and `Terms`. Loads every page if the cache
    /// keeps them all ([`TermIndexCache::loads_at_open`]).
    pub fn open(directory: &[u8], terms: FileBytes, source: IndexPages) -> Result<TermDictionary> {
        let directory =
            TermIndexDirectory::decode(directory).map_err(Error::in_section("term directory", 0))?;
        let table_bytes = directory.block_count.saturating_mul(BLOCK_OFFSET_BYTES as u64);
        let blocks_end = (terms.len() as u64).checked_sub(table_bytes);
        let blocks_end = blocks_end.ok_or_else(|| Error::corrupt(SECTION, 0, "a table of all blocks"))?;
        let index_len = directory.pages.last().map_or(0, |page| page.offset + page.len as u64);
        if index_len != source.len {
            return Err(Error::corrupt("term index", source.len, "the pages the directory lists"));
        }
        let pages = source.cache.open_field(
            source.segment_core,
            source.field,
            directory.pages.iter().map(|page| page.len),
        );
        let blocks_end = blocks_end as usize;
        let opened = Opened { directory, terms, blocks_end, source, pages, suffix_maxima: OnceLock::new() };
        let this = TermDictionary { opened: Arc::new(opened), part: None };
        if this.opened.source.cache.loads_at_open() {
            this.load_pages()?;
        }
        Ok(this)
    }

    /// Loads every page that is not in memory, as far as the cache's budget allows; for the native scheme.
    pub fn load_pages(&self) -> Result<()> {
        let mut pages = (0..).zip(&self.opened.directory.pages).filter(|(_, page)| page.len > 0);
        pages.try_for_each(|(number, _)| self.page(number).map(drop))
    }

    /// Returns the terms that begin with `prefix`, without it, as a dictionary of their own. Its ordinals
    /// begin at 0; its postings and statistics are those of the whole dictionary. The last byte of `prefix`
    /// must be below 255.
    pub fn part(&self, prefix: &[u8]) -> Result<TermDictionary> {
        debug_assert!(self.part.is_none(), "parts are of whole dictionaries");
        let mut behind = prefix.to_vec();
        if let Some(last) = behind.last_mut() {
            *last = last.saturating_add(1);
        }
        let first = self.ordinal(prefix)?.unwrap_or_else(|ord| ord);
        let end = self.ordinal(&behind)?.unwrap_or_else(|ord| ord);
        let part = Part { prefix: prefix.into(), first, count: end.saturating_sub(first) };
        Ok(TermDictionary { opened: self.opened.clone(), part: Some(part) })
    }

    /// Returns the range of ordinals in the whole dictionary that this part covers.
    pub fn ordinals_of_whole(&self) -> std::ops::Range<u64> {
        self.first()..self.first() + self.len()
    }

    /// Returns the ordinal of its first term in the whole dictionary.
    pub(super) fn first(&self) -> u64 {
        self.part.as_ref().map_or(0, |part| part.first)
    }

    /// Returns the number of bytes at the start of stored terms that it does not show.
    pub(super) fn hidden_bytes(&self) -> usize {
        self.part.as_ref().map_or(0, |part| part.prefix.len())
    }

    /// Returns the term as it is stored.
    pub(super) fn whole_term<'t>(&self, term: &'t [u8]) -> Cow<'t, [u8]> {
        match &self.part {
            None => Cow::Borrowed(term),
            Some(part) => Cow::Owned([&*part.prefix, term].concat()),
        }
    }

    /// Returns the number of terms.
    pub fn len(&self) -> u64 {
        self.part.as_ref().map_or(self.opened.directory.statistics.term_count, |part| part.count)
    }

    /// Whether there is no term.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns sums over the whole field's terms.
    pub fn statistics(&self) -> TermStatistics {
        self.opened.directory.statistics
    }

    /// (term, document) pairs of the whole field.
    pub fn sum_doc_freq(&self) -> u64 {
        self.opened.directory.statistics.sum_doc_freq
    }

    /// Occurrences of all terms of the whole field.
    pub fn sum_total_term_freq(&self) -> u64 {
        self.opened.directory.statistics.sum_total_term_freq
    }

    /// Returns the number of documents with at least one term, deleted ones included.
    pub fn doc_count_with_field(&self) -> u32 {
        self.opened.directory.statistics.doc_count_with_field
    }

    /// Returns what is indexed of the field.
    pub fn options(&self) -> IndexOptions {
        self.opened.directory.options
    }

    /// Returns the heap bytes of the resident directory.
    pub fn resident_bytes(&self) -> u64 {
        let keys: usize = self.opened.directory.pages.iter().map(|page| page.first_key.len()).sum();
        let entry = size_of::<super::directory::PageEntry>() + FieldPages::SLOT_BYTES;
        (size_of::<TermDictionary>() + keys + self.opened.directory.pages.len() * entry) as u64
    }

    /// Does the same as [`TermDictionary::get`], for terms that are likely to be looked up again soon.
    pub fn get_recent(&self, term: &[u8]) -> Result<Option<TermInfo>> {
        let source = &self.opened.source;
        match &self.part {
            None => recent_or(source.segment_core, source.field, term, || self.get(term)),
            Some(_) => self.get(term),
        }
    }

    /// Returns the information about a term if it exists.
    pub fn get(&self, term: &[u8]) -> Result<Option<TermInfo>> {
        let term = &*self.whole_term(term);
        let Some(block) = self.block_for(term)? else { return Ok(None) };
        let view = self.block(block)?;
        match view.find(term)? {
            Ok(index) => Ok(Some(view.info(index, block << BLOCK_SHIFT)?)),
            Err(_) => Ok(None),
        }
    }

    /// Returns a lookup for many terms in ascending order.
    pub fn ascending(&self) -> AscendingLookup<'_> {
        AscendingLookup::new(self)
    }

    pub(super) fn block_count(&self) -> u64 {
        self.opened.directory.block_count
    }

    /// Returns `Ok(ordinal)`, or `Err(ordinal)` of the first greater term (the number of terms if there is
    /// none).
    pub fn ordinal(&self, term: &[u8]) -> Result<std::result::Result<u64, u64>> {
        let term = &*self.whole_term(term);
        let Some(block) = self.block_for(term)? else { return Ok(Err(0)) };
        // A stored term that begins with a part's prefix belongs to the part or directly follows it.
        let place = |index: usize| (block << BLOCK_SHIFT) + index as u64 - self.first();
        Ok(self.block(block)?.find(term)?.map(place).map_err(place))
    }

    /// Writes the term with ordinal `ord` into `term`.
    pub fn term(&self, ord: u64, term: &mut Vec<u8>) -> Result<()> {
        self.check_ord(ord)?;
        let ord = ord + self.first();
        self.block(ord >> BLOCK_SHIFT)?.term((ord % BLOCK_TERMS as u64) as usize, term)?;
        term.drain(..self.hidden_bytes().min(term.len()));
        Ok(())
    }

    /// Returns the information about the term with ordinal `ord`.
    pub fn info(&self, ord: u64) -> Result<TermInfo> {
        self.check_ord(ord)?;
        let ord = ord + self.first();
        let block = ord >> BLOCK_SHIFT;
        self.block(block)?.info((ord % BLOCK_TERMS as u64) as usize, block << BLOCK_SHIFT)
    }

    /// Ordinals can come from a column on disk, so a wrong one means corruption, not a bug of the caller.
    fn check_ord(&self, ord: u64) -> Result<()> {
        if ord < self.len() {
            Ok(())
        } else {
            Err(Error::corrupt(SECTION, ord, "an ordinal below the term count"))
        }
    }

    /// Returns the terms between two bounds, ascending.
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

    /// Returns the terms with ordinals `start..end`.
    pub fn range_of_ordinals(&self, start: u64, end: u64) -> TermCursor<'_> {
        let end = end.min(self.len());
        TermCursor::new(self, start.min(end), end)
    }

    /// Returns an index for skipping terms by their last `width` bytes; `width` must be the same in every
    /// call. Returns `None` if such an index would gain nothing.
    ///
    /// # Errors
    /// Fails for corrupt terms.
    pub fn suffix_maxima(&self, width: usize) -> Result<Option<&SuffixMaxima>> {
        if self.part.is_some() {
            return Ok(None);
        }
        if self.opened.suffix_maxima.get().is_none() {
            let made = SuffixMaxima::of(self, width)?;
            let _ = self.opened.suffix_maxima.set(made);
        }
        Ok(self.opened.suffix_maxima.get().and_then(Option::as_ref))
    }

    /// Returns a cursor over all terms.
    pub fn cursor(&self) -> TermCursor<'_> {
        TermCursor::new(self, 0, self.len())
    }

    /// Returns the block that holds `term` if any does; `None` if there are no terms.
    pub(super) fn block_for(&self, term: &[u8]) -> Result<Option<u64>> {
        let pages = &self.opened.directory.pages;
        if pages.is_empty() {
            return Ok(None);
        }
        // The first page's key is empty, so at least one key is at most `term`.
        let number = pages.partition_point(|page| *page.first_key <= *term) - 1;
        let entry = &pages[number];
        let last =
            pages.get(number + 1).map_or(self.opened.directory.block_count, |next| next.first_block) - 1;
        if entry.len == 0 {
            return Ok(Some(entry.first_block));
        }
        match self.page(number)? {
            Some(page) => Ok(Some((entry.first_block + page::find_block(&page, term)?).min(last))),
            None => self.search_blocks(entry.first_block, last, term).map(Some),
        }
    }

    /// Returns the last of the blocks `first..=last` whose first term is at most `term`, or `first`. This
    /// yields the same as the page, but from the blocks alone, for when the cache's budget does not allow
    /// the page. It reads about 14 blocks.
    fn search_blocks(&self, first: u64, last: u64, term: &[u8]) -> Result<u64> {
        let (mut low, mut high) = (first, last);
        while low < high {
            let middle = high - (high - low) / 2;
            // `Err(0)` means that the block's first term is greater.
            if self.block(middle)?.find(term)? == Err(0) {
                high = middle - 1;
            } else {
                low = middle;
            }
        }
        Ok(low)
    }

    /// Returns page `number`, which must not be empty; `None` if the cache's budget does not allow it.
    #[inline]
    fn page(&self, number: usize) -> Result<Option<PageRef<'_>>> {
        Ok(self.opened.pages.page(number, |into| self.load(number, into))?)
    }

    fn load(&self, number: usize, into: &mut [u8]) -> limber_store::Result<()> {
        let (source, entry) = (&self.opened.source, &self.opened.directory.pages[number]);
        let offset = source.offset + entry.offset;
        match (source.directory.read_into(&source.file, offset, into), &source.mapped) {
            (Ok(()), _) => {}
            // The segment's file was deleted after a merge; its map lives as long as a search needs it.
            (Err(error), Some(mapped)) if error.is_not_found() => {
                // In bounds: `open` checked that the pages fill the section.
                into.copy_from_slice(&mapped[entry.offset as usize..][..into.len()]);
            }
            (Err(error), _) => return Err(error),
        }
        let found = crc32(into);
        if found == entry.crc {
            return Ok(());
        }
        Err(limber_store::Error::Corrupt {
            file: source.file.to_string(),
            offset,
            expected: format!("a term-index page with checksum {:08x}", entry.crc),
            found: format!("{found:08x}"),
        })
    }

    fn block_offset(&self, block: u64) -> usize {
        let at = self.opened.blocks_end + block as usize * BLOCK_OFFSET_BYTES;
        let mut offset = [0; 8];
        // In bounds: `open` checked that the table has an entry for every block.
        offset[..BLOCK_OFFSET_BYTES].copy_from_slice(&self.opened.terms[at..at + BLOCK_OFFSET_BYTES]);
        u64::from_le_bytes(offset) as usize
    }

    /// Returns a block; `block` must be below the block count.
    #[inline]
    pub(super) fn block(&self, block: u64) -> Result<BlockView<'_>> {
        let start = self.block_offset(block);
        let end = if block + 1 < self.opened.directory.block_count {
            self.block_offset(block + 1)
        } else {
            self.opened.blocks_end
        };
        if start > end || end > self.opened.blocks_end {
            return Err(Error::corrupt(SECTION, start as u64, "blocks in order"));
        }
        let term_count = self.opened.directory.statistics.term_count;
        let count = (term_count - (block << BLOCK_SHIFT)).min(BLOCK_TERMS as u64) as usize;
        let blocks = &self.opened.terms[..self.opened.blocks_end];
        BlockView::parse(blocks, (start, end), count, self.opened.directory.options)
    }
}
