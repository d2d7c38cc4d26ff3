//! Writes documents as compressed blocks.

use limber_codec::varint;

use super::StoredCodec;
use super::checksum::{BlockChecksums, BlockPlace, body_checksum};
use super::compress::PartCompressor;
use super::format::{BLOCK_DOCS_MAX, DICTIONARY_BYTES_READ_MAX, TERMINATOR};
use super::heads;
use super::reader::{RawBlock, Stored};
use crate::file::{NO_FIELD, SectionKind, SectionWriter, SegmentWriter};
use crate::{Error, Result, Sink};

/// Compresses documents as they arrive. Compressed blocks are kept in memory; with [`StoredWriter::drain`]
/// a merge writes them out meanwhile.
pub struct StoredWriter {
    codec: StoredCodec,
    compressor: PartCompressor,
    /// Lengths of the open block's documents, encoded.
    lengths: Vec<u8>,
    ids: Vec<u8>,
    routings: Vec<u8>,
    /// Sources of the open block; if the codec has a dictionary, a terminator follows each.
    sources: Vec<u8>,
    open_docs: u32,
    doc_count: u32,
    index: Vec<u8>,
    checksums: Vec<u8>,
    block_count: u32,
    /// Finished blocks that are not drained yet, back to back in chunks that never grow. One long buffer
    /// that doubles would be copied again and again and touch twice as many pages.
    chunks: Vec<Vec<u8>>,
    /// Bytes of all finished blocks.
    block_bytes: u64,
    drained_bytes: u64,
    /// The open block's head, compressed.
    head: Vec<u8>,
    /// The open block's head with columns.
    columns: Vec<u8>,
}

/// Maximum bytes of four varints.
const PREFIX_BYTES_MAX: usize = 4 * 10;
/// Capacity of a chunk, unless a block is longer.
const CHUNK_BYTES: usize = 256 << 10;

impl StoredWriter {
    /// Creates a writer without documents.
    pub fn new(codec: StoredCodec) -> StoredWriter {
        StoredWriter::with_dictionary(codec, Vec::new())
    }

    /// Creates a writer without documents. The dictionary is empty unless the codec has one.
    pub(crate) fn with_dictionary(codec: StoredCodec, dictionary: Vec<u8>) -> StoredWriter {
        debug_assert_ne!(codec.has_dictionary(), dictionary.is_empty());
        debug_assert!(dictionary.len() <= DICTIONARY_BYTES_READ_MAX);
        StoredWriter {
            codec,
            compressor: PartCompressor::new(codec, dictionary),
            lengths: Vec::new(),
            ids: Vec::new(),
            routings: Vec::new(),
            sources: Vec::new(),
            open_docs: 0,
            doc_count: 0,
            index: Vec::new(),
            checksums: Vec::new(),
            block_count: 0,
            chunks: Vec::new(),
            block_bytes: 0,
            drained_bytes: 0,
            head: Vec::new(),
            columns: Vec::new(),
        }
    }

    /// Returns the number of documents so far.
    pub fn doc_count(&self) -> u32 {
        self.doc_count
    }

    /// Returns how blocks are compressed.
    pub fn codec(&self) -> StoredCodec {
        self.codec
    }

    /// Returns the dictionary; empty if the codec has none.
    pub(crate) fn dictionary(&self) -> &[u8] {
        self.compressor.dictionary()
    }

    /// Returns the bytes held in memory.
    pub fn memory_bytes(&self) -> usize {
        let kept = [&self.index, &self.checksums, &self.columns];
        let open = [&self.lengths, &self.ids, &self.routings, &self.sources, &self.head];
        let finished: usize = self.chunks.iter().map(|chunk| chunk.capacity() + size_of::<Vec<u8>>()).sum();
        open.iter().chain(&kept).map(|buffer| buffer.capacity()).sum::<usize>()
            + finished
            + self.compressor.memory_bytes()
    }

    /// Adds a document.
    pub fn push(&mut self, id: &[u8], routing: Option<&[u8]>, source: &[u8]) -> Result<()> {
        self.push_source(source);
        self.end_document(id, routing, source.len())
    }

    /// Adds the source of the next document before it is certain to be kept; [`StoredWriter::end_document`]
    /// or [`StoredWriter::drop_source`] must follow.
    #[inline]
    pub(crate) fn push_source(&mut self, source: &[u8]) {
        self.sources.extend_from_slice(source);
    }

    /// Removes the last `len` bytes, which were pushed for a document that is not kept.
    pub(crate) fn drop_source(&mut self, len: usize) {
        self.sources.truncate(self.sources.len() - len);
    }

    /// Ends the document whose source is the last `source_len` bytes.
    #[inline]
    pub(crate) fn end_document(
        &mut self,
        id: &[u8],
        routing: Option<&[u8]>,
        source_len: usize,
    ) -> Result<()> {
        varint::write_u64(&mut self.lengths, source_len as u64);
        varint::write_u64(&mut self.lengths, (id.len() as u64) << 1 | u64::from(routing.is_some()));
        self.ids.extend_from_slice(id);
        if let Some(routing) = routing {
            varint::write_u64(&mut self.lengths, routing.len() as u64);
            self.routings.extend_from_slice(routing);
        }
        if self.codec.has_dictionary() {
            self.sources.push(TERMINATOR);
        }
        self.open_docs += 1;
        self.doc_count += 1;
        if self.sources.len() >= self.codec.block_bytes() || self.open_docs as usize == BLOCK_DOCS_MAX {
            self.end_block()?;
        }
        Ok(())
    }

    fn end_block(&mut self) -> Result<()> {
        if self.open_docs == 0 {
            return Ok(());
        }
        let has_dictionary = self.codec.has_dictionary();
        if has_dictionary {
            self.columns.clear();
            let texts = (&*self.lengths, &*self.ids, &*self.routings);
            heads::encode(texts, &mut self.sources, &mut self.columns)
                .map_err(Error::in_section("stored blocks", self.block_bytes))?;
            self.ids.clear();
            self.routings.clear();
        } else {
            self.lengths.append(&mut self.ids);
            self.lengths.append(&mut self.routings);
        }
        let head = if has_dictionary { &self.columns } else { &self.lengths };
        self.head.clear();
        self.head.extend_from_slice(self.compressor.compress(head));
        let body = self.compressor.compress_sources(&self.sources);
        let mut prefix = Vec::with_capacity(PREFIX_BYTES_MAX);
        for (len, compressed_len) in [(head.len(), self.head.len()), (self.sources.len(), body.len())] {
            varint::write_u64(&mut prefix, len as u64);
            varint::write_u64(&mut prefix, compressed_len as u64);
        }
        let (first_doc, doc_count) = (self.doc_count - self.open_docs, self.open_docs);
        let place = BlockPlace { codec: self.codec, first_doc, doc_count };
        let checksums = BlockChecksums {
            head: place.head_checksum(&[&prefix, &self.head]),
            body: body_checksum(if has_dictionary { &self.sources } else { body }),
        };
        let block_len = (prefix.len() + self.head.len() + body.len()) as u64;
        append(&mut self.chunks, &[&prefix, &self.head, body]);
        self.index_block(first_doc, checksums);
        self.block_bytes += block_len;
        self.lengths.clear();
        self.sources.clear();
        self.open_docs = 0;
        Ok(())
    }

    /// Adds the block to the index; called before the bytes of the block are counted.
    fn index_block(&mut self, first_doc: u32, checksums: BlockChecksums) {
        self.index.extend_from_slice(&first_doc.to_le_bytes());
        self.index.extend_from_slice(&self.block_bytes.to_le_bytes());
        self.checksums.extend_from_slice(&checksums.to_bytes());
        self.block_count += 1;
    }

    /// Adds a whole block of another segment with the same codec and dictionary, all of whose documents are
    /// live. Does not
    /// compare it with its checksums: a merge does that for the whole section.
    pub(crate) fn push_raw(&mut self, block: &RawBlock<'_>) -> Result<()> {
        self.end_block()?;
        let parts = Stored::parts(block)?;
        let place = BlockPlace { codec: self.codec, first_doc: self.doc_count, doc_count: block.doc_count };
        let checksums = BlockChecksums {
            head: place.head_checksum(&[parts.before_body]),
            body: block.checksums.map_or_else(|| body_checksum(parts.body), |checksums| checksums.body),
        };
        self.index_block(self.doc_count, checksums);
        append(&mut self.chunks, &[block.bytes]);
        self.block_bytes += block.bytes.len() as u64;
        self.doc_count = self
            .doc_count
            .checked_add(block.doc_count)
            .ok_or(Error::LimitExceeded { what: "documents of a segment", limit: u64::from(u32::MAX) })?;
        Ok(())
    }

    /// Returns the bytes of finished blocks that are not drained yet.
    pub(crate) fn finished_bytes(&self) -> usize {
        (self.block_bytes - self.drained_bytes) as usize
    }

    /// Writes finished blocks to the open section and drops them.
    pub(crate) fn drain(&mut self, section: &mut SectionWriter<'_>) -> Result<()> {
        for chunk in self.chunks.drain(..) {
            section.append(&chunk)?;
        }
        self.drained_bytes = self.block_bytes;
        Ok(())
    }

    /// Writes all sections at once.
    pub fn write(self, writer: &mut SegmentWriter<'_>) -> Result<()> {
        let section = writer.begin(SectionKind::StoredBlocks, NO_FIELD);
        self.finish(section, writer)
    }

    /// Ends the section that earlier blocks were drained to and writes the index and the checksums.
    pub(crate) fn finish<'d>(
        mut self,
        mut section: SectionWriter<'d>,
        writer: &mut SegmentWriter<'d>,
    ) -> Result<()> {
        self.end_block()?;
        self.drain(&mut section)?;
        writer.end(section);
        if self.codec.has_dictionary() {
            writer.put(SectionKind::StoredDictionary, NO_FIELD, self.compressor.dictionary())?;
        }
        let mut index = vec![self.codec as u8];
        index.extend_from_slice(&self.doc_count.to_le_bytes());
        index.extend_from_slice(&self.block_count.to_le_bytes());
        index.append(&mut self.index);
        index.extend_from_slice(&self.drained_bytes.to_le_bytes());
        writer.put(SectionKind::StoredIndex, NO_FIELD, &index)?;
        writer.put(SectionKind::StoredChecksums, NO_FIELD, &self.checksums)
    }
}

/// Appends a block given in parts to the last chunk, or to a new one.
fn append(chunks: &mut Vec<Vec<u8>>, parts: &[&[u8]]) {
    let len = parts.iter().map(|part| part.len()).sum();
    if chunks.last().is_none_or(|chunk| chunk.capacity() - chunk.len() < len) {
        chunks.push(Vec::with_capacity(len.max(CHUNK_BYTES)));
    }
    if let Some(chunk) = chunks.last_mut() {
        parts.iter().for_each(|part| chunk.extend_from_slice(part));
    }
}
