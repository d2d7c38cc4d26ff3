//! One part of a stored block, compressed and back, never beyond its recorded size.

use super::StoredCodec;
use super::format::{PART_BYTES_MAX, ZSTD_LEVEL};
use crate::{Error, Result};

/// Compresses parts; keeps zstd's tables (about 1 MB) and its room for the result from part to part.
pub(super) struct PartCompressor {
    codec: StoredCodec,
    zstd: Option<zstd::bulk::Compressor<'static>>,
    /// As long as the longest result so far could have been; not cleared between parts.
    room: Vec<u8>,
}

impl PartCompressor {
    pub fn new(codec: StoredCodec) -> PartCompressor {
        PartCompressor { codec, zstd: None, room: Vec::new() }
    }

    pub fn memory_bytes(&self) -> usize {
        self.room.capacity()
    }

    /// `bytes` compressed; as they are when that is not smaller.
    pub fn compress<'a>(&'a mut self, bytes: &'a [u8]) -> &'a [u8] {
        let bound = match self.codec {
            StoredCodec::Lz4 => lz4_flex::block::get_maximum_output_size(bytes.len()),
            StoredCodec::Zstd => zstd::zstd_safe::compress_bound(bytes.len()),
        };
        if self.room.len() < bound {
            self.room.resize(bound, 0);
        }
        let compressed_len = match self.codec {
            StoredCodec::Lz4 => lz4_flex::block::compress_into(bytes, &mut self.room).ok(),
            StoredCodec::Zstd => {
                if self.zstd.is_none() {
                    self.zstd = zstd::bulk::Compressor::new(ZSTD_LEVEL).ok();
                }
                self.zstd.as_mut().and_then(|zstd| zstd.compress_to_buffer(bytes, &mut self.room[..]).ok())
            }
        };
        match compressed_len {
            Some(len) if len < bytes.len() => &self.room[..len],
            _ => bytes,
        }
    }
}

/// Decompresses parts; keeps zstd's context from part to part.
#[derive(Default)]
pub(super) struct PartDecompressor {
    zstd: Option<zstd::bulk::Decompressor<'static>>,
}

impl PartDecompressor {
    /// Replaces `out` by the `len` bytes that `bytes` were before compression.
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
        // No format here expands further than this, so a forged length cannot make us allocate.
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
