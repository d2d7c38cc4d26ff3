//! The sources of a buffer's documents, kept until the segment is written in an order that may only be
//! known then.

use super::chunk_log::ChunkLog;
use super::reorder::Reordering;
use crate::file::SegmentWriter;
use crate::stored::{StoredCodec, StoredWriter};
use crate::{DocId, Result};

/// Documents that are written in the order they were added are compressed as they arrive. Those of a sorted
/// index are kept uncompressed until their order is known.
pub enum Sources {
    Compressed(Box<StoredWriter>),
    Plain(PlainSources),
}

impl Sources {
    pub(crate) fn new(codec: StoredCodec, is_sorted: bool) -> Sources {
        match is_sorted {
            false => Sources::Compressed(Box::new(StoredWriter::new(codec))),
            true => Sources::Plain(PlainSources::new(codec)),
        }
    }

    /// Adds the source of the next document; [`Sources::end_document`] or [`Sources::drop_source`] must
    /// follow.
    #[inline]
    pub fn push_source(&mut self, source: &[u8]) {
        match self {
            Sources::Compressed(stored) => stored.push_source(source),
            Sources::Plain(plain) => plain.bytes.extend_from_slice(source),
        }
    }

    /// Removes the last `len` bytes, which were pushed for a document that is not kept.
    pub fn drop_source(&mut self, len: usize) {
        match self {
            Sources::Compressed(stored) => stored.drop_source(len),
            Sources::Plain(plain) => plain.bytes.truncate(plain.bytes.len() - len),
        }
    }

    /// Ends the document whose source is the last `source_len` bytes.
    #[inline]
    pub fn end_document(&mut self, id: &[u8], routing: Option<&[u8]>, source_len: usize) -> Result<()> {
        match self {
            Sources::Compressed(stored) => stored.end_document(id, routing, source_len),
            Sources::Plain(plain) => {
                plain.end_document(routing);
                Ok(())
            }
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            Sources::Compressed(stored) => stored.memory_bytes(),
            Sources::Plain(plain) => plain.bytes.memory_bytes() + plain.ends.memory_bytes(),
        }
    }

    /// Writes all documents in their order. `id` returns the id of a document by its number in the buffer.
    pub fn write<'a>(
        self,
        order: Option<&Reordering>,
        id: impl Fn(DocId) -> &'a [u8],
        writer: &mut SegmentWriter<'_>,
    ) -> Result<()> {
        match self {
            Sources::Compressed(stored) => stored.write(writer),
            Sources::Plain(plain) => plain.write(order, id, writer),
        }
    }
}

/// Uncompressed sources and routings.
pub struct PlainSources {
    codec: StoredCodec,
    bytes: ChunkLog<u8>,
    /// Two entries per document: the end of its source, and the end of its routing with the flag
    /// [`HAS_ROUTING`].
    ends: ChunkLog<u32>,
}

/// A free bit, because a buffer has at most 2^30 bytes.
const HAS_ROUTING: u32 = 1 << 31;

impl PlainSources {
    fn new(codec: StoredCodec) -> PlainSources {
        PlainSources { codec, bytes: ChunkLog::default(), ends: ChunkLog::default() }
    }

    fn end_document(&mut self, routing: Option<&[u8]>) {
        self.ends.push(self.bytes.len() as u32);
        self.bytes.extend_from_slice(routing.unwrap_or_default());
        let flag = if routing.is_some() { HAS_ROUTING } else { 0 };
        self.ends.push(self.bytes.len() as u32 | flag);
    }

    fn write<'a>(
        self,
        order: Option<&Reordering>,
        id: impl Fn(DocId) -> &'a [u8],
        writer: &mut SegmentWriter<'_>,
    ) -> Result<()> {
        let mut stored = StoredWriter::new(self.codec);
        let (mut source, mut routing) = (Vec::new(), Vec::new());
        for new in 0..(self.ends.len() / 2) as DocId {
            let doc = order.map_or(new, |order| order.old(new));
            let at = doc as usize * 2;
            let start = if doc == 0 { 0 } else { self.ends.get(at - 1) & !HAS_ROUTING };
            let (source_end, routing_end) = (self.ends.get(at), self.ends.get(at + 1));
            self.copy(start, source_end, &mut source);
            self.copy(source_end, routing_end & !HAS_ROUTING, &mut routing);
            let routing = (routing_end & HAS_ROUTING != 0).then_some(&*routing);
            stored.push(id(doc), routing, &source)?;
        }
        stored.write(writer)
    }

    fn copy(&self, start: u32, end: u32, out: &mut Vec<u8>) {
        out.clear();
        self.bytes.slices(start as usize, end as usize).for_each(|piece| out.extend_from_slice(piece));
    }
}
