//! Compresses and decompresses one part of a stored block, never beyond its recorded size.

use super::StoredCodec;
use super::format::{PART_BYTES_MAX, ZSTD_LEVEL};
use super::long_matches::{self, LongMatcher};
use crate::{Error, Result};

/// Compresses parts; reuses zstd's tables (about 1 MB) and the output buffer for all parts.
pub(super) struct PartCompressor {
    codec: StoredCodec,
    zstd: Option<zstd::bulk::Compressor<'static>>,
    /// As long as the longest possible result so far; not cleared between parts.
    room: Vec<u8>,
    long_matcher: LongMatcher,
    /// Whether the last sources shrank to less than [`REPEATING_PERCENT`] of their length.
    sources_repeat: bool,
}

/// Sources that shrink to less than this contain long matches: logs shrink to a fifth, records of named
/// fields to 40 %, but prose and bare coordinates only to a half.
const REPEATING_PERCENT: usize = 42;

impl PartCompressor {
    pub(crate) fn new(codec: StoredCodec) -> PartCompressor {
        let long_matcher = LongMatcher::default();
        PartCompressor { codec, zstd: None, room: Vec::new(), long_matcher, sources_repeat: false }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.room.capacity() + self.long_matcher.memory_bytes()
    }

    /// Compresses the sources of a block, with a method chosen by how the preceding ones compressed;
    /// returns them unchanged if that is not smaller.
    pub fn compress_sources<'a>(&'a mut self, bytes: &'a [u8]) -> &'a [u8] {
        let for_long_matches = self.sources_repeat && bytes.len() <= long_matches::INPUT_BYTES_MAX;
        let compressed_len = match self.codec {
            StoredCodec::Lz4 if for_long_matches => {
                self.make_room(lz4_flex::block::get_maximum_output_size(bytes.len()));
                self.long_matcher.compress(bytes, &mut self.room)
            }
            _ => self.compress_whole(bytes).unwrap_or(bytes.len()),
        };
        self.sources_repeat = compressed_len * 100 < bytes.len() * REPEATING_PERCENT;
        if compressed_len < bytes.len() { &self.room[..compressed_len] } else { bytes }
    }

    /// Compresses `bytes`; returns them unchanged if that is not smaller.
    pub fn compress<'a>(&'a mut self, bytes: &'a [u8]) -> &'a [u8] {
        match self.compress_whole(bytes) {
            Some(len) if len < bytes.len() => &self.room[..len],
            _ => bytes,
        }
    }

    /// Compresses `bytes` into `room`; returns the length of the result.
    fn compress_whole(&mut self, bytes: &[u8]) -> Option<usize> {
        self.make_room(match self.codec {
            StoredCodec::Lz4 => lz4_flex::block::get_maximum_output_size(bytes.len()),
            StoredCodec::Zstd => zstd::zstd_safe::compress_bound(bytes.len()),
        });
        match self.codec {
            StoredCodec::Lz4 => lz4_flex::block::compress_into(bytes, &mut self.room).ok(),
            StoredCodec::Zstd => {
                if self.zstd.is_none() {
                    self.zstd = zstd_compressor().ok();
                }
                self.zstd.as_mut().and_then(|zstd| zstd.compress_to_buffer(bytes, &mut self.room[..]).ok())
            }
        }
    }

    fn make_room(&mut self, bound: usize) {
        if self.room.len() < bound {
            self.room.resize(bound, 0);
        }
    }
}

/// Minimum match of seven bytes, because matches in sources are keys and whole values. This is 1 to 50 %
/// faster than the level's own six, at 0.96 to 1.03 times the size (fifteen sets of documents).
fn zstd_compressor() -> std::io::Result<zstd::bulk::Compressor<'static>> {
    let mut compressor = zstd::bulk::Compressor::new(ZSTD_LEVEL)?;
    compressor.set_parameter(zstd::zstd_safe::CParameter::MinMatch(7))?;
    Ok(compressor)
}

/// Decompresses parts; reuses zstd's context for all parts.
#[derive(Default)]
pub(super) struct PartDecompressor {
    zstd: Option<zstd::bulk::Decompressor<'static>>,
}

impl PartDecompressor {
    /// Replaces `out` by the `len` bytes from which `bytes` was compressed.
    pub fn decompress(
        &mut self,
        codec: StoredCodec,
        bytes: &[u8],
        len: u64,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        out.clear();
        if len == bytes.len() as u64 {
            out.extend_from_slice(bytes);
            return Ok(());
        }
        // Neither format expands further than this, so a forged length cannot cause a large allocation.
        let plausible = match codec {
            StoredCodec::Lz4 => len <= 256 * bytes.len() as u64,
            StoredCodec::Zstd => len <= (1 << 17) * bytes.len() as u64,
        };
        if !plausible || len > PART_BYTES_MAX || len < bytes.len() as u64 {
            return Err(corrupt());
        }
        let len = len as usize;
        out.try_reserve_exact(len).map_err(|_| corrupt())?;
        out.resize(len, 0);
        let found = match codec {
            StoredCodec::Lz4 => lz4_flex::block::decompress_into(bytes, out).map_err(|_| corrupt())?,
            StoredCodec::Zstd => {
                let zstd = match &mut self.zstd {
                    Some(zstd) => zstd,
                    none => none.insert(zstd::bulk::Decompressor::new().map_err(|_| corrupt())?),
                };
                zstd.decompress_to_buffer(bytes, &mut out[..]).map_err(|_| corrupt())?
            }
        };
        if found == len { Ok(()) } else { Err(corrupt()) }
    }
}

#[cold]
fn corrupt() -> Error {
    Error::corrupt("stored blocks", 0, "a compressed part of the recorded size")
}
