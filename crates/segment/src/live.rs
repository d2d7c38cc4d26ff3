//! Which documents of a segment are live. This is the only part of a segment that changes; each change
//! writes a new generation.
//!
//! ```text
//! offset  size  field
//!      0     8  MAGIC "LIMBRLIV"
//!      8     4  VERSION u32
//!     12     8  segment id u64
//!     20     8  generation u64
//!     28     4  doc_count u32
//!     32     4  live count u32
//!     36     8 * ceil(doc_count / 64)   words u64, bit doc % 64 of word doc / 64: 1 = live
//!    end-4    4  CRC-32 of all before
//! ```
//! **Versions.** Magic and version keep their offsets forever. A later version is refused with an error
//! that names it. Version 1 has been in use since the first build.
//!
//! The file is written whole and never changed; a torn write fails its length or checksum.

use limber_codec::Reader;
use limber_codec::checksum::crc32;
use limber_store::Directory;

use crate::file::{SegmentId, check_version, corrupt_file};
use crate::{DocId, FileMeta, Result};

const MAGIC: [u8; 8] = *b"LIMBRLIV";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 36;

/// One bit per document, 1 = live.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveDocs {
    words: Vec<u64>,
    doc_count: u32,
    live_count: u32,
}

impl LiveDocs {
    /// Returns a set in which all `doc_count` documents are live.
    pub fn all(doc_count: u32) -> LiveDocs {
        let mut words = vec![u64::MAX; doc_count.div_ceil(64) as usize];
        if let Some(last) = words.last_mut()
            && !doc_count.is_multiple_of(64)
        {
            *last = (1 << (doc_count % 64)) - 1;
        }
        LiveDocs { words, doc_count, live_count: doc_count }
    }

    /// Returns the number of documents of the segment, deleted ones included.
    pub fn doc_count(&self) -> u32 {
        self.doc_count
    }

    /// Returns the number of documents that are not deleted.
    pub fn live_count(&self) -> u32 {
        self.live_count
    }

    /// Returns the number of documents that are deleted.
    pub fn deleted_count(&self) -> u32 {
        self.doc_count - self.live_count
    }

    /// Whether a document is not deleted; `false` past the last document.
    #[inline]
    pub fn is_live(&self, doc: DocId) -> bool {
        self.words.get(doc as usize / 64).is_some_and(|word| word >> (doc % 64) & 1 != 0)
    }

    /// Deletes `doc`; returns whether it was live.
    pub fn delete(&mut self, doc: DocId) -> bool {
        let was_live = self.is_live(doc);
        if was_live {
            self.words[doc as usize / 64] &= !(1 << (doc % 64));
            self.live_count -= 1;
        }
        was_live
    }

    /// Bit `doc % 64` of word `doc / 64`; the bits after the last document are 0.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Clears the bits of deleted documents in the window of 4,096 documents that starts at `4096 * window`.
    pub fn mask_window(&self, window: usize, bits: &mut [u64; 64]) {
        let words = self.words.get(window * 64..).unwrap_or_default();
        for (index, bits) in bits.iter_mut().enumerate() {
            *bits &= words.get(index).copied().unwrap_or(0);
        }
    }

    /// `_<segment id>_<generation in base 36>.live`.
    pub fn file_name(segment: SegmentId, generation: u64) -> String {
        format!("_{segment}_{}.live", SegmentId(generation))
    }

    /// Writes a generation; it is durable only after the caller has synced the file.
    pub fn write(&self, directory: &dyn Directory, segment: SegmentId, generation: u64) -> Result<FileMeta> {
        let bytes = self.encode(segment, generation);
        let name = LiveDocs::file_name(segment, generation);
        let mut file = directory.create(&name)?;
        file.write_all(&bytes)?;
        file.finish()?;
        Ok(FileMeta { name, len: bytes.len() as u64, crc: crc32(&bytes) })
    }

    /// Reads a generation back and verifies every byte.
    pub fn open(
        directory: &dyn Directory,
        segment: SegmentId,
        generation: u64,
        doc_count: u32,
    ) -> Result<LiveDocs> {
        let name = LiveDocs::file_name(segment, generation);
        let bytes = directory.read_whole(&name)?;
        // Checked before the rest, because every later version keeps magic and version at these offsets.
        if let Some((head, _)) = bytes.split_first_chunk::<12>()
            && head[..8] == MAGIC
        {
            check_version(&name, u32::from_le_bytes([head[8], head[9], head[10], head[11]]), VERSION)?;
        }
        let live = LiveDocs::decode(&bytes, segment, generation)
            .map_err(|(offset, expected)| corrupt_file(&name, offset as u64, expected, "something else"))?;
        if live.doc_count != doc_count {
            let found = format!("{} documents", live.doc_count);
            return Err(corrupt_file(&name, 28, &format!("{doc_count} documents"), &found));
        }
        Ok(live)
    }

    fn encode(&self, segment: SegmentId, generation: u64) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES + 8 * self.words.len() + 4);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&segment.0.to_le_bytes());
        bytes.extend_from_slice(&generation.to_le_bytes());
        bytes.extend_from_slice(&self.doc_count.to_le_bytes());
        bytes.extend_from_slice(&self.live_count.to_le_bytes());
        self.words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        bytes.extend_from_slice(&crc32(&bytes).to_le_bytes());
        bytes
    }

    fn decode(
        bytes: &[u8],
        segment: SegmentId,
        generation: u64,
    ) -> std::result::Result<LiveDocs, (usize, &'static str)> {
        let Some((body, crc)) = bytes.split_last_chunk::<4>() else { return Err((0, "a checksum")) };
        if crc32(body) != u32::from_le_bytes(*crc) {
            return Err((body.len(), "the checksum of the bytes before"));
        }
        let mut reader = Reader::new(body);
        let mut parse = || {
            let magic = reader.bytes(8)?;
            reader.expect(magic == MAGIC, "the magic of live docs")?;
            let version = reader.u32()?;
            reader.expect(version == VERSION, "format version 1")?;
            let (id, found_generation) = (reader.u64()?, reader.u64()?);
            reader
                .expect(id == segment.0 && found_generation == generation, "this segment and generation")?;
            let (doc_count, live_count) = (reader.u32()?, reader.u32()?);
            let (words, rest) = reader.rest().as_chunks::<8>();
            let whole = rest.is_empty() && words.len() as u64 == u64::from(doc_count.div_ceil(64));
            reader.expect(whole, "a word for every 64 documents")?;
            let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
            let found: u32 = words.iter().map(|word| word.count_ones()).sum();
            let tail =
                words.last().map_or(0, |last| if doc_count % 64 == 0 { 0 } else { last >> (doc_count % 64) });
            reader.expect(found == live_count && tail == 0, "as many live documents as counted")?;
            Ok(LiveDocs { words, doc_count, live_count })
        };
        parse().map_err(|corrupt: limber_codec::Corrupt| (corrupt.offset, corrupt.expected))
    }
}

impl LiveDocs {
    /// Returns the live documents, ascending.
    pub fn iter(&self) -> impl Iterator<Item = DocId> {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            std::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1)))
                .take_while(|rest| *rest != 0)
                .map(move |rest| index as u32 * 64 + rest.trailing_zeros())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use limber_store::FsDirectory;

    #[test]
    fn deletes_are_written_and_read_back() {
        let temporary = tempfile::tempdir().expect("tempdir");
        let directory = FsDirectory::open(temporary.path()).expect("opens");
        for doc_count in [0, 1, 63, 64, 65, 1000] {
            let mut live = LiveDocs::all(doc_count);
            assert_eq!(live.iter().count() as u32, doc_count);
            for doc in (0..doc_count).step_by(3) {
                assert!(live.delete(doc));
                assert!(!live.delete(doc));
            }
            assert!(!live.delete(doc_count));
            let kept: Vec<u32> = (0..doc_count).filter(|doc| doc % 3 != 0).collect();
            assert_eq!(live.iter().collect::<Vec<_>>(), kept);
            assert_eq!(live.live_count() as usize, kept.len());
            let generation = u64::from(doc_count) + 40;
            live.write(&directory, SegmentId(7), generation).expect("writes");
            let back = LiveDocs::open(&directory, SegmentId(7), generation, doc_count).expect("reads");
            assert_eq!(back, live);
            assert!(LiveDocs::open(&directory, SegmentId(7), generation, doc_count + 1).is_err());
        }
    }

    #[test]
    fn bytes_of_a_tiny_generation_and_every_flipped_bit() {
        let mut live = LiveDocs::all(3);
        live.delete(1);
        let bytes = live.encode(SegmentId(5), 2);
        let mut expected =
            b"LIMBRLIV\x01\0\0\0\x05\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x03\0\0\0\x02\0\0\0".to_vec();
        expected.extend_from_slice(&[0b101, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[..bytes.len() - 4], expected);
        for bit in 0..bytes.len() * 8 {
            let mut torn = bytes.clone();
            torn[bit / 8] ^= 1 << (bit % 8);
            assert!(LiveDocs::decode(&torn, SegmentId(5), 2).is_err(), "bit {bit}");
        }
        for len in 0..bytes.len() {
            assert!(LiveDocs::decode(&bytes[..len], SegmentId(5), 2).is_err(), "{len} bytes");
        }
    }
}
