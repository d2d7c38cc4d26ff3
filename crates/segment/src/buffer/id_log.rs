//! The `_id`s of a buffer's documents: "which id does document 17 have?"

use super::chunk_log::ChunkLog;
use crate::{DocId, TERM_BYTES_MAX};

/// Bytes per chunk, so that an end within it fits 16 bits. No id spans two chunks; all chunks but the last
/// are at least half full.
const CHUNK_BYTES: usize = u16::MAX as usize;

/// `_id`s by document, back to back in chunks that never move; only the first chunk grows, by doubling
/// until it is full. Ids are only sorted, never looked up, so they are not hashed.
#[derive(Default)]
pub struct IdLog {
    chunks: Vec<Vec<u8>>,
    /// For each document: `number of the chunk << 16 | end in the chunk`.
    ends: ChunkLog<u32>,
}

impl IdLog {
    /// Returns the number of ids.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    pub(crate) fn get(&self, doc: DocId) -> &[u8] {
        let at = doc as usize;
        let end = self.ends.get(at);
        let before = if at == 0 { 0 } else { self.ends.get(at - 1) };
        let start = if before >> 16 == end >> 16 { before & 0xffff } else { 0 };
        &self.chunks[end as usize >> 16][start as usize..end as usize & 0xffff]
    }

    /// Returns the id that was pushed last, which has `len` bytes.
    #[inline]
    pub fn newest(&self, len: usize) -> &[u8] {
        self.chunks.last().map_or(&[], |chunk| &chunk[chunk.len() - len..])
    }

    /// Converts the log for many lookups.
    pub fn finish(self) -> Ids {
        Ids { chunks: self.chunks, ends: self.ends.into_vec() }
    }

    /// Adds the next document's id. If an id is so long that the document will be refused, only its start is
    /// stored.
    #[inline]
    pub fn push(&mut self, id: &[u8]) {
        let id = &id[..id.len().min(TERM_BYTES_MAX)];
        let has_room = |chunk: &Vec<u8>| chunk.capacity().min(CHUNK_BYTES) - chunk.len() >= id.len();
        if !self.chunks.last().is_some_and(has_room) {
            self.make_room(id.len());
        }
        let number = self.chunks.len() - 1;
        let chunk = &mut self.chunks[number];
        chunk.extend_from_slice(id);
        self.ends.push((number << 16 | chunk.len()) as u32);
    }

    #[cold]
    fn make_room(&mut self, len: usize) {
        match &mut self.chunks[..] {
            [] => self.chunks.push(Vec::with_capacity(len)),
            [first] if first.len() + len <= CHUNK_BYTES => {
                let capacity = (first.capacity() * 2).clamp(first.len() + len, CHUNK_BYTES);
                first.reserve_exact(capacity - first.len());
            }
            _ => self.chunks.push(Vec::with_capacity(CHUNK_BYTES)),
        }
    }

    /// Drops the last document's id.
    pub fn pop(&mut self) {
        let Some(last) = self.len().checked_sub(1) else { return };
        let len = self.get(last as DocId).len();
        self.ends.truncate(last);
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.truncate(chunk.len() - len);
        }
    }

    /// Returns the allocated bytes.
    pub fn memory_bytes(&self) -> usize {
        let chunks: usize = self.chunks.iter().map(Vec::capacity).sum();
        chunks + self.chunks.capacity() * size_of::<Vec<u8>>() + self.ends.memory_bytes()
    }
}

/// A complete list of ids; finding one takes fewer instructions than in a log.
pub struct Ids {
    chunks: Vec<Vec<u8>>,
    ends: Vec<u32>,
}

impl Ids {
    #[inline]
    pub(crate) fn get(&self, doc: DocId) -> &[u8] {
        let at = doc as usize;
        let end = self.ends[at];
        let before = if at == 0 { 0 } else { self.ends[at - 1] };
        let start = if before >> 16 == end >> 16 { before & 0xffff } else { 0 };
        &self.chunks[end as usize >> 16][start as usize..end as usize & 0xffff]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pushes ids of these lengths, and after each one the id of a document that is rolled back.
    #[track_caller]
    fn check(lens: &[usize]) {
        let mut log = IdLog::default();
        let ids: Vec<Vec<u8>> = (0u8..).zip(lens).map(|(byte, &len)| vec![byte; len]).collect();
        for id in &ids {
            log.push(id);
            assert_eq!(log.newest(id.len()), id);
            log.push(&vec![b'x'; id.len() * 2]);
            log.pop();
        }
        assert_eq!(log.len(), ids.len());
        for (doc, id) in (0..).zip(&ids) {
            assert_eq!(log.get(doc), id, "document {doc} of {lens:?}");
        }
        let finished = log.finish();
        assert!((0..).zip(&ids).all(|(doc, id)| finished.get(doc) == id), "{lens:?}");
    }

    #[test]
    fn gives_ids_back() {
        check(&[]);
        check(&[0, 1, 0, 5, 20, 20, 20]);
        check(&[TERM_BYTES_MAX; 7]);
        check(&[CHUNK_BYTES - 2 * TERM_BYTES_MAX, TERM_BYTES_MAX, TERM_BYTES_MAX, 0, 1, 0]);
        check(&[1000; 200]);
    }

    #[test]
    fn few_ids_take_little() {
        let mut log = IdLog::default();
        (0..100).for_each(|_| log.push(&[b'a'; 20]));
        assert!((2400..6000).contains(&log.memory_bytes()), "{} bytes", log.memory_bytes());
    }
}
