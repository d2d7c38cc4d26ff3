//! The shapes of one field until they are written.

use limber_codec::varint;

use super::chunk_log::ChunkLog;
use super::doc_log::DocLog;
use super::fields::{Mark, NumbersBuffer};
use crate::DocId;

/// Shapes in the order they were added: their bytes, each with its length in front, and their cells.
#[derive(Default)]
pub(crate) struct ShapesBuffer {
    pub cells: NumbersBuffer,
    pub bytes: ChunkLog<u8>,
    /// The offset of each shape in `bytes`.
    pub starts: ChunkLog<u32>,
    pub docs: DocLog,
    mark: Mark,
    head: Vec<u8>,
}

impl ShapesBuffer {
    pub(crate) fn push(&mut self, doc: DocId, cells: &[i64], bytes: &[u8]) {
        self.mark.touch(doc, self.docs.len(), self.bytes.len());
        cells.iter().for_each(|cell| self.cells.push(doc, *cell));
        self.starts.push(self.bytes.len() as u32);
        self.head.clear();
        varint::write_u64(&mut self.head, bytes.len() as u64);
        self.bytes.extend_from_slice(&self.head);
        self.bytes.extend_from_slice(bytes);
        self.docs.push(doc);
    }

    /// Drops what `doc`, the current document, added.
    pub fn roll_back(&mut self, doc: DocId) {
        if self.mark.doc != doc {
            return;
        }
        self.cells.roll_back_document(doc);
        self.bytes.truncate(self.mark.values);
        self.starts.truncate(self.mark.entries);
        self.docs.truncate(self.mark.entries);
        self.mark = Mark::default();
    }

    /// Drops what the documents from `doc` on added.
    pub fn roll_back_from(&mut self, doc: DocId) {
        self.cells.roll_back_from(doc);
        let entries = self.docs.first_from(doc);
        if entries < self.starts.len() {
            self.bytes.truncate(self.starts.get(entries) as usize);
        }
        self.starts.truncate(entries);
        self.docs.truncate(entries);
        self.mark = Mark::default();
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.cells.memory_bytes()
            + self.bytes.memory_bytes()
            + self.starts.memory_bytes()
            + self.docs.memory_bytes()
            + self.head.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_document_leaves_nothing() {
        let mut shapes = ShapesBuffer::default();
        shapes.push(0, &[1, 2], b"ab");
        shapes.push(2, &[3], b"cd");
        shapes.push(2, &[4], b"ef");
        shapes.roll_back(2);
        assert_eq!((shapes.bytes.len(), shapes.docs.len(), shapes.cells.docs.len()), (3, 1, 2));
        shapes.push(2, &[], b"g");
        shapes.push(3, &[5], b"h");
        shapes.roll_back_from(3);
        let bytes: Vec<u8> = shapes.bytes.iter().collect();
        assert_eq!(bytes, b"\x02ab\x01g");
        assert_eq!((shapes.starts.len(), shapes.cells.docs.len()), (2, 2));
    }
}
