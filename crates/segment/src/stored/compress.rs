//! One part of a stored block, compressed and back, never beyond its recorded size.

use super::StoredCodec;
use super::format::{PART_BYTES_MAX, ZSTD_LEVEL};
use crate::{Error, Result};

/// Appends `bytes` compressed; as they are when that is not smaller. The number of bytes appended.
pub(super) fn compress(codec: StoredCodec, bytes: &[u8], out: &mut Vec<u8>) -> Result<usize> {
    let start = out.len();
    let compressed_len = match codec {
        StoredCodec::Lz4 => {
            out.resize(start + lz4_flex::block::get_maximum_output_size(bytes.len()), 0);
            lz4_flex::block::compress_into(bytes, &mut out[start..]).ok()
        }
        StoredCodec::Zstd => {
            out.resize(start + zstd::zstd_safe::compress_bound(bytes.len()), 0);
            zstd::bulk::compress_to_buffer(bytes, &mut out[start..], ZSTD_LEVEL).ok()
        }
    };
    match compressed_len {
        Some(len) if len < bytes.len() => out.truncate(start + len),
        _ => {
            out.truncate(start);
            out.extend_from_slice(bytes);
        }
    }
    Ok(out.len() - start)
}

/// Replaces `out` by the `len` bytes that `bytes` were before compression.
pub(super) fn decompress(codec: StoredCodec, bytes: &[u8], len: u64, out: &mut Vec<u8>) -> Result<()> {
    let corrupt = || Error::corrupt("stored blocks", 0, "a compressed part of the recorded size");
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
    let found = match codec {
        StoredCodec::Lz4 => {
            out.resize(len, 0);
            lz4_flex::block::decompress_into(bytes, out).map_err(|_| corrupt())?
        }
        StoredCodec::Zstd => {
            out.resize(len, 0);
            zstd::bulk::decompress_to_buffer(bytes, &mut out[..]).map_err(|_| corrupt())?
        }
    };
    if found == len { Ok(()) } else { Err(corrupt()) }
}
