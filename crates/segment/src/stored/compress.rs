//! Compresses and decompresses one part of a stored block, never beyond its recorded size.

use std::cell::RefCell;

use zstd::zstd_safe::{CParameter, DCtx};

use super::StoredCodec;
use super::format::PART_BYTES_MAX;
use super::long_matches::{self, LongMatcher};
use crate::{Error, Result};

/// Compresses parts; reuses zstd's tables (about 1 MB) and the output buffer for all parts.
pub(super) struct PartCompressor {
    codec: StoredCodec,
    /// Empty unless the codec has one.
    dictionary: Vec<u8>,
    zstd: Option<zstd::bulk::Compressor<'static>>,
    /// Compresses sources with the dictionary.
    with_dictionary: Option<zstd::bulk::Compressor<'static>>,
    /// As long as the longest possible result so far; not cleared between parts.
    scratch: Vec<u8>,
    long_matcher: LongMatcher,
    /// Whether the last sources shrank to less than [`REPEATING_PERCENT`] of their length.
    sources_repeat: bool,
}

/// Sources that shrink to less than this contain long matches: logs shrink to a fifth, records of named
/// fields to 40 %, but prose and bare coordinates only to a half.
const REPEATING_PERCENT: usize = 42;

impl PartCompressor {
    pub(crate) fn new(codec: StoredCodec, dictionary: Vec<u8>) -> PartCompressor {
        PartCompressor {
            codec,
            dictionary,
            zstd: None,
            with_dictionary: None,
            scratch: Vec::new(),
            long_matcher: LongMatcher::default(),
            sources_repeat: false,
        }
    }

    pub(crate) fn dictionary(&self) -> &[u8] {
        &self.dictionary
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.scratch.capacity() + self.dictionary.capacity() + self.long_matcher.memory_bytes()
    }

    /// Compresses the sources of a block, with a method chosen by how the preceding ones compressed;
    /// returns them unchanged if that is not smaller.
    pub fn compress_sources<'a>(&'a mut self, bytes: &'a [u8]) -> &'a [u8] {
        if self.codec.has_dictionary() {
            return match self.compress_with_dictionary(bytes) {
                Some(len) if len < bytes.len() => &self.scratch[..len],
                _ => bytes,
            };
        }
        let for_long_matches = self.sources_repeat && bytes.len() <= long_matches::INPUT_BYTES_MAX;
        let compressed_len = match self.codec {
            StoredCodec::Lz4 if for_long_matches => {
                self.make_room(lz4_flex::block::get_maximum_output_size(bytes.len()));
                self.long_matcher.compress(bytes, &mut self.scratch)
            }
            _ => self.compress_whole(bytes).unwrap_or(bytes.len()),
        };
        self.sources_repeat = compressed_len * 100 < bytes.len() * REPEATING_PERCENT;
        if compressed_len < bytes.len() { &self.scratch[..compressed_len] } else { bytes }
    }

    /// Compresses `bytes`; returns them unchanged if that is not smaller.
    pub fn compress<'a>(&'a mut self, bytes: &'a [u8]) -> &'a [u8] {
        match self.compress_whole(bytes) {
            Some(len) if len < bytes.len() => &self.scratch[..len],
            _ => bytes,
        }
    }

    /// Compresses `bytes` into `scratch`; returns the length of the result.
    fn compress_whole(&mut self, bytes: &[u8]) -> Option<usize> {
        if self.codec == StoredCodec::Lz4 {
            self.make_room(lz4_flex::block::get_maximum_output_size(bytes.len()));
            return lz4_flex::block::compress_into(bytes, &mut self.scratch).ok();
        }
        self.make_room(zstd::zstd_safe::compress_bound(bytes.len()));
        if self.zstd.is_none() {
            self.zstd = zstd_compressor(StoredCodec::Zstd, &[]).ok();
        }
        self.zstd.as_mut().and_then(|zstd| zstd.compress_to_buffer(bytes, &mut self.scratch[..]).ok())
    }

    fn compress_with_dictionary(&mut self, bytes: &[u8]) -> Option<usize> {
        self.make_room(zstd::zstd_safe::compress_bound(bytes.len()));
        if self.with_dictionary.is_none() {
            self.with_dictionary = zstd_compressor(self.codec, &self.dictionary).ok();
        }
        let zstd = self.with_dictionary.as_mut()?;
        zstd.compress_to_buffer(bytes, &mut self.scratch[..]).ok()
    }

    fn make_room(&mut self, bound: usize) {
        if self.scratch.len() < bound {
            self.scratch.resize(bound, 0);
        }
    }
}

/// Minimum match of seven bytes, because matches in sources are keys and whole values. This is 1 to 50 %
/// faster than the level's own six, at 0.96 to 1.03 times the size (fifteen sets of documents). Level 3 keeps
/// its own minimum.
fn zstd_compressor(
    codec: StoredCodec,
    dictionary: &[u8],
) -> std::io::Result<zstd::bulk::Compressor<'static>> {
    let level = codec.zstd_level();
    let mut compressor = zstd::bulk::Compressor::with_dictionary(level, dictionary)?;
    if codec != StoredCodec::BestDictionary {
        compressor.set_parameter(CParameter::MinMatch(7))?;
    }
    Ok(compressor)
}

/// First bytes of a dictionary in zstd's own format, which holds more than contents. What begins with them
/// is not used as a dictionary.
pub(super) const ZSTD_DICTIONARY_MAGIC: [u8; 4] = 0xec30_a437_u32.to_le_bytes();

/// Returns the dictionary without what would make zstd take it for one of its own format.
pub(crate) fn usable_dictionary(mut dictionary: Vec<u8>) -> Vec<u8> {
    while dictionary.starts_with(&ZSTD_DICTIONARY_MAGIC) {
        dictionary.drain(..ZSTD_DICTIONARY_MAGIC.len());
    }
    dictionary
}

/// Measures what a dictionary is worth.
pub(crate) struct DictionaryTrial(PartCompressor);

impl DictionaryTrial {
    pub(crate) fn of(codec: StoredCodec, dictionary: &[u8]) -> DictionaryTrial {
        DictionaryTrial(PartCompressor::new(codec, dictionary.to_vec()))
    }

    /// Returns the sum of the compressed lengths of `blocks`.
    pub(crate) fn compressed_bytes(mut self, blocks: &[Vec<u8>]) -> usize {
        blocks.iter().map(|block| self.0.compress_sources(block).len()).sum()
    }
}

thread_local! {
    /// zstd's tables for decompression: 160 KB for each thread that reads documents.
    static DECOMPRESSOR: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

/// Replaces `out` by the `len` bytes from which `bytes` was compressed, after `dictionary` if that is not
/// empty.
pub(super) fn decompress(
    codec: StoredCodec,
    dictionary: &[u8],
    bytes: &[u8],
    len: u64,
    out: &mut Vec<u8>,
) -> Result<()> {
    if len == bytes.len() as u64 {
        out.clear();
        out.extend_from_slice(bytes);
        return Ok(());
    }
    // Neither format expands further than this, so a forged length cannot cause a large allocation.
    let plausible = match codec {
        StoredCodec::Lz4 => len <= 256 * bytes.len() as u64,
        _ => len <= (1 << 17) * bytes.len() as u64,
    };
    if !plausible || len > PART_BYTES_MAX || len < bytes.len() as u64 {
        return Err(corrupt());
    }
    let len = len as usize;
    if out.capacity() < len {
        // The old bytes are not needed, so growing must not copy them.
        out.clear();
        out.try_reserve_exact(len).map_err(|_| corrupt())?;
    }
    // All of it is overwritten, so only what is new is cleared.
    out.resize(len, 0);
    let found = match codec {
        StoredCodec::Lz4 => lz4_flex::block::decompress_into(bytes, out).map_err(|_| corrupt())?,
        _ => DECOMPRESSOR.with_borrow_mut(|zstd| {
            let zstd = match zstd {
                Some(zstd) => zstd,
                none => none.insert(DCtx::try_create().ok_or_else(corrupt)?),
            };
            zstd.decompress_using_dict(&mut out[..], bytes, dictionary).map_err(|_| corrupt())
        })?,
    };
    if found == len { Ok(()) } else { Err(corrupt()) }
}

#[cold]
fn corrupt() -> Error {
    Error::corrupt("stored blocks", 0, "a compressed part of the recorded size")
}
