//! Documents to compressed blocks.

use limber_codec::varint;

use super::StoredCodec;
use super::compress::PartCompressor;
use super::format::BLOCK_DOCS_MAX;
use super::reader::RawBlock;
use crate::file::{NO_FIELD, SectionKind, SectionWriter, SegmentWriter};
use crate::{Error, Result, Sink};

/// Compresses documents as they come. Compressed blocks are kept in memory; [`StoredWriter::drain`] lets a merge write them out
/// as it goes.
pub struct StoredWriter {
    codec: StoredCodec,
    compressor: PartCompressor,
    /// Lengths of the open block's documents, encoded.
    lengths: Vec<u8>,
    ids: Vec<u8>,
    routings: Vec<u8>,
    sources: Vec<u8>,
    open_docs: u32,
    doc_count: u32,
    index: Vec<u8>,
    block_count: u32,
    /// Finished blocks not drained yet, and where they start in the section.
    blocks: Vec<u8>,
    drained_bytes: u64,
    scratch: Vec<u8>,
}

impl StoredWriter {
    pub fn new(codec: StoredCodec) -> StoredWriter {
        StoredWriter {
            codec,
            compressor: PartCompressor::new(codec),
            lengths: Vec::new(),
            ids: Vec::new(),
            routings: Vec::new(),
            sources: Vec::new(),
            open_docs: 0,
            doc_count: 0,
            index: Vec::new(),
            block_count: 0,
            blocks: Vec::new(),
            drained_bytes: 0,
            scratch: Vec::new(),
        }
    }

    pub fn doc_count(&self) -> u32 {
        self.doc_count
    }

    pub fn codec(&self) -> StoredCodec {
        self.codec
    }

    /// Bytes held in memory.
    pub fn memory_bytes(&self) -> usize {
        [&self.lengths, &self.ids, &self.routings, &self.sources, &self.index, &self.blocks, &self.scratch]
            .iter()
            .map(|buffer| buffer.capacity())
            .sum()
    }

    /// The next document.
    pub fn push(&mut self, id: &[u8], routing: Option<&[u8]>, source: &[u8]) -> Result<()> {
        varint::write_u64(&mut self.lengths, source.len() as u64);
        varint::write_u64(&mut self.lengths, (id.len() as u64) << 1 | u64::from(routing.is_some()));
        self.ids.extend_from_slice(id);
        if let Some(routing) = routing {
            varint::write_u64(&mut self.lengths, routing.len() as u64);
            self.routings.extend_from_slice(routing);
        }
        self.sources.extend_from_slice(source);
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
        self.lengths.append(&mut self.ids);
        self.lengths.append(&mut self.routings);
        self.scratch.clear();
        let head_len = self.compressor.compress(&self.lengths, &mut self.scratch);
        let body_len = self.compressor.compress(&self.sources, &mut self.scratch);
        self.index_block(self.doc_count - self.open_docs);
        for (len, compressed_len) in [(self.lengths.len(), head_len), (self.sources.len(), body_len)] {
            varint::write_u64(&mut self.blocks, len as u64);
            varint::write_u64(&mut self.blocks, compressed_len as u64);
        }
        self.blocks.extend_from_slice(&self.scratch);
        self.lengths.clear();
        self.sources.clear();
        self.open_docs = 0;
        Ok(())
    }

    fn index_block(&mut self, first_doc: u32) {
        self.index.extend_from_slice(&first_doc.to_le_bytes());
        self.index.extend_from_slice(&(self.drained_bytes + self.blocks.len() as u64).to_le_bytes());
        self.block_count += 1;
    }

    /// A whole block of another segment with the same codec, all of whose documents go on living.
    pub(crate) fn push_raw(&mut self, block: &RawBlock<'_>) -> Result<()> {
        self.end_block()?;
        self.index_block(self.doc_count);
        self.blocks.extend_from_slice(block.bytes);
        self.doc_count = self
            .doc_count
            .checked_add(block.doc_count)
            .ok_or(Error::LimitExceeded { what: "documents of a segment", limit: u64::from(u32::MAX) })?;
        Ok(())
    }

    /// Bytes of finished blocks not drained yet.
    pub(crate) fn finished_bytes(&self) -> usize {
        self.blocks.len()
    }

    /// Writes finished blocks to the open section and forgets them.
    pub(crate) fn drain(&mut self, section: &mut SectionWriter<'_>) -> Result<()> {
        section.append(&self.blocks)?;
        self.drained_bytes += self.blocks.len() as u64;
        self.blocks.clear();
        Ok(())
    }

    /// Writes both sections at once.
    pub fn write(self, writer: &mut SegmentWriter<'_>) -> Result<()> {
        let section = writer.begin(SectionKind::StoredBlocks, NO_FIELD);
        self.finish(section, writer)
    }

    /// Ends the section that earlier blocks were drained to and writes the index.
    pub(crate) fn finish<'d>(
        mut self,
        mut section: SectionWriter<'d>,
        writer: &mut SegmentWriter<'d>,
    ) -> Result<()> {
        self.end_block()?;
        self.drain(&mut section)?;
        writer.end(section);
        let mut index = vec![self.codec as u8];
        index.extend_from_slice(&self.doc_count.to_le_bytes());
        index.extend_from_slice(&self.block_count.to_le_bytes());
        index.append(&mut self.index);
        index.extend_from_slice(&self.drained_bytes.to_le_bytes());
        writer.put(SectionKind::StoredIndex, NO_FIELD, &index)
    }
}
