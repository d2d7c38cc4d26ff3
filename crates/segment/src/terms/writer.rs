//! Writes ascending terms to the three sections of a field's dictionary.

use limber_codec::checksum::crc32;

use super::block::{BlockBuilder, common_prefix};
use super::directory::{PageEntry, TermIndexDirectory, TermStatistics};
use super::format::BLOCK_OFFSET_BYTES;
use super::info::TermInfo;
use super::page::PageBuilder;
use crate::index_options::IndexOptions;
use crate::{Error, Result, Sink, TERM_BYTES_MAX};

/// Bytes of blocks collected before they go to the sink.
const PENDING_BYTES: usize = 64 << 10;

/// Writes the sections `Terms` and `TermIndex` while terms arrive, and returns `TermDirectory` at the end.
pub struct TermDictionaryWriter<'s> {
    options: IndexOptions,
    terms: &'s mut dyn Sink,
    index: &'s mut dyn Sink,
    block: BlockBuilder,
    page: PageBuilder,
    pages: Vec<PageEntry>,
    index_bytes: u64,
    pending: Vec<u8>,
    written_bytes: u64,
    block_table: Vec<u8>,
    block_count: u64,
    previous: Vec<u8>,
    statistics: TermStatistics,
}

impl<'s> TermDictionaryWriter<'s> {
    /// Creates a writer of a field's terms into the sections `Terms` and `TermIndex`.
    pub fn new(options: IndexOptions, terms: &'s mut dyn Sink, index: &'s mut dyn Sink) -> Self {
        TermDictionaryWriter {
            options,
            terms,
            index,
            block: BlockBuilder::default(),
            page: PageBuilder::default(),
            pages: Vec::new(),
            index_bytes: 0,
            pending: Vec::new(),
            written_bytes: 0,
            block_table: Vec::new(),
            block_count: 0,
            previous: Vec::new(),
            statistics: TermStatistics::default(),
        }
    }

    /// Adds a term, which must be greater than all before it. Ignores `info.ord`: terms are numbered in the
    /// order of calls.
    pub fn add(&mut self, term: &[u8], info: &TermInfo) -> Result<()> {
        let shared = common_prefix(&self.previous, term);
        let ascends = self.statistics.term_count == 0 || self.previous.get(shared) < term.get(shared);
        assert!(ascends, "terms are written in ascending order, each once");
        assert!(term.len() <= TERM_BYTES_MAX && info.doc_freq > 0, "a term of sound length with documents");
        if self.block.is_full() {
            self.end_block()?;
        }
        if self.block.is_empty() {
            self.begin_block(&term[..term.len().min(shared + 1)])?;
            self.block.add(term, 0, info);
        } else {
            self.block.add(term, shared, info);
        }
        self.previous.truncate(shared);
        self.previous.extend_from_slice(&term[shared..]);
        self.statistics.term_count += 1;
        self.statistics.sum_doc_freq += info.doc_freq as u64;
        self.statistics.sum_total_term_freq += info.total_term_freq;
        Ok(())
    }

    fn begin_block(&mut self, separator: &[u8]) -> Result<()> {
        if self.page.is_full() {
            self.end_page()?;
            self.begin_page(separator);
        } else if self.block_count == 0 {
            self.begin_page(b"");
        } else {
            self.page.add(separator)?;
        }
        Ok(())
    }

    fn begin_page(&mut self, first_key: &[u8]) {
        let (first_block, offset) = (self.block_count, self.index_bytes);
        self.pages.push(PageEntry { first_key: first_key.into(), first_block, offset, len: 0, crc: 0 });
    }

    fn end_page(&mut self) -> Result<()> {
        let bytes = self.page.finish()?;
        if let Some(page) = self.pages.last_mut() {
            page.len = u32::try_from(bytes.len()).expect("a page ends after 256 KiB and one separator");
            page.crc = crc32(&bytes);
        }
        self.index_bytes += bytes.len() as u64;
        self.index.append(&bytes)
    }

    fn end_block(&mut self) -> Result<()> {
        let offset = self.written_bytes + self.pending.len() as u64;
        if offset >> (8 * BLOCK_OFFSET_BYTES) != 0 {
            return Err(Error::LimitExceeded {
                what: "bytes of term blocks",
                limit: 1 << (8 * BLOCK_OFFSET_BYTES),
            });
        }
        self.block_table.extend_from_slice(&offset.to_le_bytes()[..BLOCK_OFFSET_BYTES]);
        self.block_count += 1;
        self.block.write(self.options, offset, &mut self.pending);
        if self.pending.len() >= PENDING_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.terms.append(&self.pending)?;
        self.written_bytes += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }

    /// Returns the number of terms added so far.
    pub fn term_count(&self) -> u64 {
        self.statistics.term_count
    }

    /// Ends the sections; returns the bytes of `TermDirectory`.
    pub fn finish(mut self, doc_count_with_field: u32) -> Result<Vec<u8>> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        self.end_page()?;
        self.flush()?;
        self.terms.append(&self.block_table)?;
        let statistics = TermStatistics { doc_count_with_field, ..self.statistics };
        let (block_count, pages) = (self.block_count, self.pages);
        Ok(TermIndexDirectory { options: self.options, statistics, block_count, pages }.encode())
    }
}
