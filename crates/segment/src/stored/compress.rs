//! One part of a stored block, compressed and back, never beyond its recorded size.

use super::StoredCodec;
use super::format::{PART_BYTES_MAX, ZSTD_LEVEL};
use crate::{Error, Result};

/// Compresses parts; keeps zstd's tables (about 1 MB) from part to part.
pub(super) struct PartCompressor {
    codec: StoredCodec,
    zstd: Option<zstd::bulk::Compressor<'static>>,
}

impl PartCompressor {
    pub fn new(codec: StoredCodec) -> PartCompressor {
        PartCompressor { codec, zstd: None }
    }

    /// Appends `bytes` compressed; as they are when that is not smaller. The number of bytes appended.
    pub fn compress(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        let start = out.len();
        let compressed_len = match self.codec {
            StoredCodec::Lz4 => {
                out.resize(start + lz4_flex::block::get_maximum_output_size(bytes.len()), 0);
                lz4_flex::block::compress_into(bytes, &mut out[start..]).ok()
            }
            StoredCodec::Zstd => {
                out.resize(start + zstd::zstd_safe::compress_bound(bytes.len()), 0);
                if self.zstd.is_none() {
                    self.zstd = zstd::bulk::Compressor::new(ZSTD_LEVEL).ok();
                }
                self.zstd.as_mut().and_then(|zstd| zstd.compress_to_buffer(bytes, &mut out[start..]).ok())
            }
        };
        match compressed_len {
            Some(len) if len < bytes.len() => out.truncate(start + len),
            _ => {
                out.truncate(start);
                out.extend_from_slice(bytes);
            }
        }
        out.len() - start
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
