//! Reads documents from compressed blocks: "what are the id, the routing and the source of this document?"

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use limber_codec::Reader;

use super::StoredCodec;
use super::checksum::{BlockChecksums, BlockPlace, body_checksum};
use super::compress::{ZSTD_DICTIONARY_MAGIC, decompress};
use super::format::{CHECKSUMS_BYTES, DICTIONARY_BYTES_READ_MAX, INDEX_ENTRY_BYTES, INDEX_HEADER_BYTES};
use super::heads;
use super::recent::{Block, BlockKey, RecentBlocks};
use super::terminators::{self, Place};
use crate::{DocId, Error, Result};

/// The stored documents of one segment; a view, free to copy.
#[derive(Debug, Clone, Copy)]
pub struct Stored<'a> {
    codec: StoredCodec,
    blocks: &'a [u8],
    index: &'a [[u8; INDEX_ENTRY_BYTES]],
    /// `None` for a segment of format version 1.
    checksums: Option<&'a [[u8; CHECKSUMS_BYTES]]>,
    /// Empty unless the codec has one.
    dictionary: &'a [u8],
    doc_count: u32,
}

/// Keeps the block that was decompressed last, so that neighbouring documents cost one decompression. Reuse
/// one for all documents, also of different segments.
#[derive(Default)]
pub struct StoredReader {
    /// (segment core, block number) in the buffers' `head` / `body`.
    head_of: Option<(u64, usize)>,
    body_of: Option<(u64, usize)>,
    buffers: Buffers,
    first_doc: DocId,
    /// The source after the one that was read last, if the sources of the block are terminated.
    place: Place,
    /// The block, if it is one of the recent ones; `buffers` and `first_doc` are not used then.
    shared: Option<Arc<Block>>,
    recent: Option<Arc<RecentBlocks>>,
    /// Whether blocks with wrong checksums are read.
    is_trusting: bool,
}

/// What a reader has decompressed.
#[derive(Default)]
pub(super) struct Buffers {
    /// The block's ids and routings, and with them, unless the codec has columns, the lengths.
    head: Vec<u8>,
    /// The head with columns, decompressed.
    columns: Vec<u8>,
    pub body: Vec<u8>,
    docs: Vec<DocSpan>,
    /// Whether sources are found by their terminators in `body`, and not by `docs`.
    are_terminated: bool,
}

impl Buffers {
    /// Returns the bytes held in memory.
    pub fn bytes(&self) -> usize {
        [&self.head, &self.columns, &self.body].iter().map(|buffer| buffer.capacity()).sum::<usize>()
            + self.docs.capacity() * size_of::<DocSpan>()
    }
}

/// Larger buffers are freed with their reader.
const SPARE_BYTES_MAX: usize = 96 << 10;

thread_local! {
    /// The buffers of the thread's last reader, for its next one: allocating and clearing them takes as long
    /// as reading a few documents.
    static SPARE: RefCell<Buffers> = RefCell::default();
}

impl Drop for StoredReader {
    fn drop(&mut self) {
        if !self.buffers.body.is_empty() && self.memory_bytes() <= SPARE_BYTES_MAX {
            // While the thread ends, nobody will use them.
            let _ = SPARE.try_with(|spare| spare.replace(std::mem::take(&mut self.buffers)));
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct DocSpan {
    pub id: Range<usize>,
    pub routing: Option<Range<usize>>,
    pub source: Range<usize>,
}

/// One block as stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawBlock<'a> {
    pub bytes: &'a [u8],
    pub first_doc: DocId,
    pub doc_count: u32,
    /// The offset of the block from the start of the section.
    pub start: u64,
    pub checksums: Option<BlockChecksums>,
    codec: StoredCodec,
    dictionary: &'a [u8],
}

/// One stored document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredDocument<'a> {
    /// `_id`.
    pub id: &'a [u8],
    /// `_routing`.
    pub routing: Option<&'a [u8]>,
    /// `_source` as it was sent, or what the index keeps of it.
    pub source: &'a [u8],
}

pub(super) struct Parts<'a> {
    /// All bytes of the block before its body: lengths and head.
    pub before_body: &'a [u8],
    head: &'a [u8],
    head_len: u64,
    pub body: &'a [u8],
    body_len: u64,
}

#[cold]
fn corrupt(offset: u64, expected: &'static str) -> Error {
    Error::corrupt("stored blocks", offset, expected)
}

impl<'a> Stored<'a> {
    /// Opens the sections `StoredBlocks`, `StoredIndex` and, if the segment has them, `StoredChecksums` and
    /// `StoredDictionary`.
    ///
    /// # Errors
    /// Fails for an index or a dictionary that no writer here produces.
    pub fn open(
        blocks: &'a [u8],
        index: &'a [u8],
        checksums: Option<&'a [u8]>,
        dictionary: Option<&'a [u8]>,
    ) -> Result<Stored<'a>> {
        let at = Error::in_section("stored index", 0);
        let mut reader = Reader::new(index);
        let codec = StoredCodec::from_byte(reader.u8().map_err(&at)?)
            .ok_or_else(|| Error::corrupt("stored index", 0, "a codec"))?;
        let (doc_count, block_count) = (reader.u32().map_err(&at)?, reader.u32().map_err(&at)?);
        let fits = index.len() as u64
            == (INDEX_HEADER_BYTES + 8) as u64 + u64::from(block_count) * INDEX_ENTRY_BYTES as u64;
        reader.expect(fits, "an entry for every block").map_err(&at)?;
        let entries = reader.bytes(block_count as usize * INDEX_ENTRY_BYTES).map_err(&at)?;
        let len = reader.u64().map_err(&at)?;
        reader.expect(len == blocks.len() as u64, "the length of all blocks").map_err(&at)?;
        let checksums = checksums.map(|checksums| checksums.as_chunks().0);
        if checksums.is_some_and(|checksums| checksums.len() != block_count as usize) {
            return Err(Error::corrupt("stored checksums", 0, "checksums of every block"));
        }
        let dictionary = dictionary.unwrap_or_default();
        let is_usable = match codec.has_dictionary() {
            true => (1..=DICTIONARY_BYTES_READ_MAX).contains(&dictionary.len()) && checksums.is_some(),
            false => dictionary.is_empty(),
        };
        if !is_usable || dictionary.starts_with(&ZSTD_DICTIONARY_MAGIC) {
            return Err(Error::corrupt("stored dictionary", 0, "the dictionary of the blocks"));
        }
        Ok(Stored { codec, blocks, index: entries.as_chunks().0, checksums, dictionary, doc_count })
    }

    /// Returns what the sources of its blocks were compressed with; empty unless the codec has a dictionary.
    pub(crate) fn dictionary(&self) -> &'a [u8] {
        self.dictionary
    }

    /// Returns how blocks are compressed.
    pub fn codec(&self) -> StoredCodec {
        self.codec
    }

    /// Returns the number of documents of the segment.
    pub fn doc_count(&self) -> u32 {
        self.doc_count
    }

    pub(crate) fn block_count(&self) -> usize {
        self.index.len()
    }

    fn entry(&self, block: usize) -> Option<(u32, u64)> {
        let [a, b, c, d, offset @ ..] = *self.index.get(block)?;
        Some((u32::from_le_bytes([a, b, c, d]), u64::from_le_bytes(offset)))
    }

    pub(crate) fn raw_block(&self, block: usize) -> Result<RawBlock<'a>> {
        let unfit = || Error::corrupt("stored index", block as u64, "blocks that ascend");
        let (first_doc, start) = self.entry(block).ok_or_else(unfit)?;
        let (next_doc, end) = self.entry(block + 1).unwrap_or((self.doc_count, self.blocks.len() as u64));
        let bytes = self.blocks.get(start as usize..end as usize).ok_or_else(unfit)?;
        let doc_count = next_doc.checked_sub(first_doc).filter(|count| *count > 0).ok_or_else(unfit)?;
        let checksums =
            self.checksums.and_then(|all| all.get(block)).copied().map(BlockChecksums::from_bytes);
        let Stored { codec, dictionary, .. } = *self;
        Ok(RawBlock { bytes, first_doc, doc_count, start, checksums, codec, dictionary })
    }

    /// Returns where the block ends in the section.
    pub(crate) fn block_end(&self, block: usize) -> usize {
        self.entry(block + 1).map_or(self.blocks.len(), |(_, start)| start as usize)
    }

    fn block_of(&self, doc: DocId) -> Result<usize> {
        let after =
            self.index.partition_point(|[a, b, c, d, ..]| u32::from_le_bytes([*a, *b, *c, *d]) <= doc);
        match after {
            block @ 1.. if doc < self.doc_count => Ok(block - 1),
            _ => Err(Error::corrupt("stored index", u64::from(doc), "a document inside the segment")),
        }
    }

    pub(super) fn parts<'b>(block: &RawBlock<'b>) -> Result<Parts<'b>> {
        let at = Error::in_section("stored blocks", block.start);
        let mut reader = Reader::new(block.bytes);
        let mut next = || reader.varint().map_err(&at);
        let (head_len, head_compressed, body_len, body_compressed) = (next()?, next()?, next()?, next()?);
        let rest = reader.rest();
        if head_compressed.checked_add(body_compressed) != Some(rest.len() as u64) {
            return Err(corrupt(block.start, "two parts that fill the block"));
        }
        let (head, body) = rest.split_at(head_compressed as usize);
        let (before_body, _) = block.bytes.split_at(block.bytes.len() - body.len());
        Ok(Parts { before_body, head, head_len, body, body_len })
    }

    /// Returns how many bytes [`Stored::document`] will decompress for the document: the sources of its
    /// block, unless `reader` has them.
    pub fn missing_bytes(&self, core: u64, doc: DocId, reader: &mut StoredReader) -> Result<u64> {
        let block = self.block_of(doc)?;
        match reader.recall((core, block)) {
            true => Ok(0),
            false => Ok(Self::parts(&self.raw_block(block)?)?.body_len),
        }
    }

    /// Returns the document's id, routing and source. Call [`Stored::missing_bytes`] first: it takes the
    /// block from those that other readers left. `core` identifies the segment to `reader`
    /// ([`limber_store::term_index::next_segment_core_id`]).
    pub fn document<'r>(
        &self,
        core: u64,
        doc: DocId,
        reader: &'r mut StoredReader,
    ) -> Result<StoredDocument<'r>> {
        let block = self.block_of(doc)?;
        if reader.body_of != Some((core, block)) {
            let raw = self.raw_block(block)?;
            reader.load_head((core, block), &raw)?;
            reader.load_body((core, block), &raw)?;
            reader.keep((core, block));
        }
        reader.document(doc)
    }

    /// Returns the document's id and routing, without decompressing sources; the source is empty unless it
    /// is decompressed already.
    pub fn id<'r>(
        &self,
        core: u64,
        doc: DocId,
        reader: &'r mut StoredReader,
    ) -> Result<(&'r [u8], Option<&'r [u8]>)> {
        let block = self.block_of(doc)?;
        let raw = self.raw_block(block)?;
        reader.load_head((core, block), &raw)?;
        let (buffers, span) = reader.span(doc)?;
        Ok((&buffers.head[span.id.clone()], span.routing.clone().map(|range| &buffers.head[range])))
    }

    /// Whether copying the block unchanged keeps the merged segment's blocks near their target size. Small
    /// blocks (the last of a segment, all of a tiny one) are packed together instead.
    pub(crate) fn is_well_filled(&self, raw: &RawBlock<'a>) -> Result<bool> {
        Ok(Self::parts(raw)?.body_len * 2 >= self.codec.block_bytes() as u64)
    }

    /// Decompresses and parses every block.
    pub fn check(&self) -> Result<()> {
        let mut reader = StoredReader::new();
        let mut next_doc = 0;
        let mut next_offset = 0u64;
        for block in 0..self.block_count() {
            let raw = self.raw_block(block)?;
            let offset = self.entry(block).map_or(0, |(_, offset)| offset);
            if raw.first_doc != next_doc || offset != next_offset {
                return Err(Error::corrupt("stored index", block as u64, "blocks without gaps"));
            }
            reader.load_head((0, block), &raw)?;
            reader.load_body((0, block), &raw)?;
            let Buffers { are_terminated, body, .. } = &reader.buffers;
            if *are_terminated && !terminators::are_unique(body, raw.doc_count as usize) {
                return Err(corrupt(offset, "a terminator after each source"));
            }
            next_doc += raw.doc_count;
            next_offset += raw.bytes.len() as u64;
        }
        if next_doc != self.doc_count || next_offset != self.blocks.len() as u64 {
            return Err(Error::corrupt("stored index", u64::from(next_doc), "blocks of all documents"));
        }
        Ok(())
    }
}

impl std::fmt::Debug for StoredReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StoredReader({:?})", self.body_of)
    }
}

impl StoredReader {
    /// Creates a reader that holds no block yet.
    pub fn new() -> StoredReader {
        let mut reader = StoredReader::default();
        reader.buffers = SPARE.try_with(RefCell::take).unwrap_or_default();
        reader
    }

    /// Creates a reader that also reads blocks with wrong checksums, to rescue documents of a damaged
    /// segment.
    pub fn trusting() -> StoredReader {
        let mut reader = StoredReader::new();
        reader.is_trusting = true;
        reader
    }

    /// Creates a reader that takes blocks from `recent`, and leaves there what it reads repeatedly.
    pub fn with_recent(recent: Option<Arc<RecentBlocks>>) -> StoredReader {
        let mut reader = StoredReader::new();
        reader.recent = recent;
        reader
    }

    /// Whether the block is decompressed already.
    fn recall(&mut self, key: BlockKey) -> bool {
        if self.body_of != Some(key)
            && let Some(block) = self.recent.as_ref().and_then(|recent| recent.get(key))
        {
            self.shared = Some(block);
            (self.head_of, self.body_of, self.place) = (Some(key), Some(key), Place::default());
        }
        self.body_of == Some(key)
    }

    /// Leaves the block to others if it is read repeatedly.
    fn keep(&mut self, key: BlockKey) {
        if let Some(recent) = &self.recent
            && recent.note_read(key)
        {
            match recent.keep(key, self.first_doc, std::mem::take(&mut self.buffers)) {
                Ok(block) => self.shared = Some(block),
                Err(buffers) => self.buffers = buffers,
            }
        }
    }

    /// Returns the buffers of the block, and its first document.
    fn current(&self) -> (&Buffers, DocId) {
        match &self.shared {
            Some(block) => (&block.buffers, block.first_doc),
            None => (&self.buffers, self.first_doc),
        }
    }

    /// Returns the bytes held in memory, without those of recent blocks.
    pub fn memory_bytes(&self) -> usize {
        self.buffers.bytes()
    }

    fn load_head(&mut self, key: (u64, usize), raw: &RawBlock<'_>) -> Result<()> {
        if self.head_of == Some(key) {
            return Ok(());
        }
        (self.head_of, self.body_of, self.shared) = (None, None, None);
        let parts = Stored::parts(raw)?;
        if let Some(checksums) = self.checksums(raw) {
            let RawBlock { codec, first_doc, doc_count, .. } = *raw;
            let place = BlockPlace { codec, first_doc, doc_count };
            if place.head_checksum(&[parts.before_body]) != checksums.head {
                return Err(corrupt(raw.start, "the checksum of the ids of a block"));
            }
        }
        self.first_doc = raw.first_doc;
        let parsed = if raw.codec.has_dictionary() {
            decompress(raw.codec, &[], parts.head, parts.head_len, &mut self.buffers.columns)?;
            let Buffers { columns, docs, head, .. } = &mut self.buffers;
            heads::decode(columns, raw.doc_count, parts.body_len, docs, head)
        } else {
            decompress(raw.codec, &[], parts.head, parts.head_len, &mut self.buffers.head)?;
            self.parse_head(raw.doc_count, parts.body_len).map(|()| false)
        };
        self.buffers.are_terminated = parsed.map_err(Error::in_section("stored blocks", raw.start))?;
        self.head_of = Some(key);
        Ok(())
    }

    fn parse_head(
        &mut self,
        doc_count: u32,
        body_len: u64,
    ) -> std::result::Result<(), limber_codec::Corrupt> {
        let mut reader = Reader::new(&self.buffers.head);
        reader.expect(u64::from(doc_count) * 2 <= self.buffers.head.len() as u64, "two bytes a document")?;
        self.buffers.docs.clear();
        self.buffers.docs.reserve(doc_count as usize);
        // Until the place of the first id is known, ids start at 0, and a routing has only its length.
        let (mut ids_len, mut source_at) = (0u64, 0u64);
        for _ in 0..doc_count {
            let source_len = reader.varint()?;
            let tagged = reader.varint()?;
            let routing = if tagged & 1 != 0 { Some(0..reader.varint()? as usize) } else { None };
            let source_end = source_at.checked_add(source_len).filter(|end| *end <= body_len);
            let source_end = source_end.ok_or_else(|| reader.corrupt("sources inside the block"))?;
            let id_end = ids_len.saturating_add(tagged >> 1);
            let id = ids_len as usize..id_end as usize;
            self.buffers.docs.push(DocSpan { id, routing, source: source_at as usize..source_end as usize });
            (ids_len, source_at) = (id_end, source_end);
        }
        reader.expect(source_at == body_len, "sources that fill the block")?;
        reader.expect(ids_len <= reader.remaining() as u64, "ids inside the block")?;
        let first_id = reader.position();
        let mut routing_at = first_id + ids_len as usize;
        for span in &mut self.buffers.docs {
            span.id = first_id + span.id.start..first_id + span.id.end;
            if let Some(routing) = &mut span.routing {
                let len = routing.end;
                let left = self.buffers.head.len() - routing_at;
                reader.expect(len <= left, "routings inside the block")?;
                *routing = routing_at..routing_at + len;
                routing_at += len;
            }
        }
        reader.expect(routing_at == self.buffers.head.len(), "routings that fill the block")
    }

    fn load_body(&mut self, key: (u64, usize), raw: &RawBlock<'_>) -> Result<()> {
        if self.body_of != Some(key) {
            self.body_of = None;
            let parts = Stored::parts(raw)?;
            let checksum = self.checksums(raw).map(|checksums| checksums.body);
            let verify = |bytes: &[u8]| match checksum {
                Some(checksum) if body_checksum(bytes) != checksum => {
                    Err(corrupt(raw.start, "the checksum of the sources of a block"))
                }
                _ => Ok(()),
            };
            let is_of_sources = raw.codec.has_dictionary();
            if !is_of_sources {
                verify(parts.body)?;
            }
            decompress(raw.codec, raw.dictionary, parts.body, parts.body_len, &mut self.buffers.body)?;
            if is_of_sources {
                verify(&self.buffers.body)?;
            }
            (self.body_of, self.place) = (Some(key), Place::default());
        }
        Ok(())
    }

    /// Returns the checksums to compare the block with.
    fn checksums(&self, raw: &RawBlock<'_>) -> Option<BlockChecksums> {
        raw.checksums.filter(|_| !self.is_trusting)
    }

    fn span(&self, doc: DocId) -> Result<(&Buffers, &DocSpan)> {
        let (buffers, first_doc) = self.current();
        let span = buffers.docs.get(doc.wrapping_sub(first_doc) as usize);
        Ok((buffers, span.ok_or_else(|| corrupt(u64::from(doc), "a document inside its block"))?))
    }

    fn document(&mut self, doc: DocId) -> Result<StoredDocument<'_>> {
        let mut place = self.place;
        let (buffers, first_doc) = self.current();
        let terminated = match buffers.are_terminated {
            true => {
                let source = place.find(&buffers.body, doc.wrapping_sub(first_doc) as usize);
                Some(source.ok_or_else(|| corrupt(u64::from(doc), "the end of a source"))?)
            }
            false => None,
        };
        self.place = place;
        let (buffers, span) = self.span(doc)?;
        Ok(StoredDocument {
            id: &buffers.head[span.id.clone()],
            routing: span.routing.clone().map(|range| &buffers.head[range]),
            source: &buffers.body[terminated.unwrap_or(span.source.clone())],
        })
    }
}
