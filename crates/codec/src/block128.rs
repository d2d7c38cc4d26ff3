//! Blocks of 128 numbers of 32 bits, packed and unpacked by SIMD: plain, ascending (delta), and patched.
//!
//! Width `w` takes `16 * w` bytes. The code uses SSE3 where the processor has it and scalar instructions
//! elsewhere; the bytes are the same either way (`bitpacking::BitPacker4x`).

use bitpacking::{BitPacker, BitPacker4x};

use crate::{Corrupt, varint};

/// Numbers in a block.
pub const LEN: usize = 128;

fn packer() -> BitPacker4x {
    // Detects the processor's features; the standard library caches the answer (one load).
    BitPacker4x::new()
}

fn append_packed(out: &mut Vec<u8>, width: u8, pack: impl FnOnce(&mut [u8]) -> usize) {
    let start = out.len();
    out.resize(start + packed_bytes(width), 0);
    let written = pack(&mut out[start..]);
    debug_assert_eq!(written, packed_bytes(width));
}

/// Returns the bytes of a block at `width` bits.
#[inline]
pub fn packed_bytes(width: u8) -> usize {
    LEN / 8 * width as usize
}

/// Appends a block whose values all fit `width` bits.
pub fn pack(values: &[u32; LEN], width: u8, out: &mut Vec<u8>) {
    append_packed(out, width, |bytes| packer().compress(values, bytes, width));
}

/// Unpacks the block at the start of `bytes`; returns its length in bytes.
#[inline]
pub fn unpack(bytes: &[u8], width: u8, values: &mut [u32; LEN]) -> Result<usize, Corrupt> {
    let len = checked_len(bytes, width)?;
    packer().decompress(&bytes[..len], values, width);
    Ok(len)
}

/// Returns the bits needed for the gaps of strictly ascending `values` that follow `previous`.
pub fn ascending_width(previous: Option<u32>, values: &[u32; LEN]) -> u8 {
    packer().num_bits_strictly_sorted(previous, values)
}

/// Appends a block of strictly ascending values as gaps.
pub fn pack_ascending(previous: Option<u32>, values: &[u32; LEN], width: u8, out: &mut Vec<u8>) {
    append_packed(out, width, |bytes| packer().compress_strictly_sorted(previous, values, bytes, width));
}

/// Unpacks a block of strictly ascending values; returns its length in bytes. Corrupt bytes can wrap around
/// 2^32: callers check what they rely on.
#[inline]
pub fn unpack_ascending(
    bytes: &[u8],
    previous: Option<u32>,
    width: u8,
    values: &mut [u32; LEN],
) -> Result<usize, Corrupt> {
    let len = checked_len(bytes, width)?;
    packer().decompress_strictly_sorted(previous, &bytes[..len], values, width);
    Ok(len)
}

#[inline]
fn checked_len(bytes: &[u8], width: u8) -> Result<usize, Corrupt> {
    let len = packed_bytes(width);
    if width > 32 || len > bytes.len() {
        return Err(Corrupt { offset: 0, expected: "a packed block of 128 numbers" });
    }
    Ok(len)
}

/// Largest length in bytes of a patched block's exceptions: the length is stored in one byte.
const EXCEPTION_BYTES_MAX: usize = 255;

/// Appends a block at the width that suits most of its values; the few larger values become exceptions
/// (patched frame of reference, PFOR).
///
/// Layout: u8 width, u8 length of the exceptions in bytes, packed low bits, then per exception: u8 index,
/// varint high bits.
pub fn pack_patched(values: &[u32; LEN], out: &mut Vec<u8>) {
    let all = values.iter().fold(0, |all, value| all | value);
    if all == 0 {
        // Most blocks of frequencies are like this: every term occurs once.
        return out.extend_from_slice(&[0, 0]);
    }
    let widest = (32 - all.leading_zeros()) as usize;
    let width = patched_width(values, widest);
    if width as usize == widest {
        out.extend_from_slice(&[width, 0]);
        return pack(values, width, out);
    }
    let mask = (1u32 << width) - 1;
    out.push(width);
    let len_at = out.len();
    out.push(0);
    let mut low = *values;
    for value in &mut low {
        *value &= mask;
    }
    pack(&low, width, out);
    let exceptions_at = out.len();
    for (chunk, eight) in values.as_chunks::<8>().0.iter().enumerate() {
        if eight.iter().fold(0, |all, value| all | value) <= mask {
            continue;
        }
        for (i, &value) in eight.iter().enumerate().filter(|(_, value)| **value > mask) {
            out.push((8 * chunk + i) as u8);
            varint::write_u64(out, (value >> width) as u64);
        }
    }
    out[len_at] = (out.len() - exceptions_at) as u8;
}

/// In the first byte of a patched block: its last byte is added to each value.
const BASE_FLAG: u8 = 0x80;

/// Does the same as [`pack_patched`] for values that may have little in common with 0 (since version 4 of the
/// format of segments): if the least is not 0, it is subtracted from all and written once, up to 255, after
/// the block.
pub fn pack_patched_above(values: &[u32; LEN], out: &mut Vec<u8>) {
    let base = values.iter().fold(u32::from(u8::MAX), |least, value| least.min(*value));
    if base == 0 {
        return pack_patched(values, out);
    }
    let start = out.len();
    pack_patched(&values.map(|value| value - base), out);
    out[start] |= BASE_FLAG;
    out.push(base as u8);
}

/// Returns the width that needs the fewest bytes in total. `widest` bits hold all values, and at least one
/// value is not 0.
fn patched_width(values: &[u32; LEN], widest: usize) -> u8 {
    let (mut best, mut best_bytes) = (widest, packed_bytes(widest as u8));
    if widest <= 7 {
        // Every exception takes two bytes. Comparing all values once per width with SIMD is less work than
        // a histogram.
        for width in (0..widest).rev() {
            let exception_bytes = 2 * values.iter().map(|value| u32::from(value >> width != 0)).sum::<u32>();
            if exception_bytes as usize > EXCEPTION_BYTES_MAX {
                break;
            }
            let bytes = packed_bytes(width as u8) + exception_bytes as usize;
            if bytes < best_bytes {
                (best, best_bytes) = (width, bytes);
            }
        }
        return best as u8;
    }
    // Entries above 32, so that the sums below need no bounds checks.
    let mut count_by_width = [0usize; 33 + 29];
    for value in values {
        count_by_width[(32 - value.leading_zeros()) as usize] += 1;
    }
    let mut exception_bytes = 0;
    for width in (0..widest).rev() {
        // With one bit less, values of `width + 1` bits become exceptions of two bytes, and exceptions that
        // are 8, 15, ... bits wider grow by one byte.
        let grown: usize = [8, 15, 22, 29].iter().map(|&above| count_by_width[width + above]).sum();
        exception_bytes += 2 * count_by_width[width + 1] + grown;
        if exception_bytes > EXCEPTION_BYTES_MAX {
            break;
        }
        let bytes = packed_bytes(width as u8) + exception_bytes;
        if bytes < best_bytes {
            (best, best_bytes) = (width, bytes);
        }
    }
    best as u8
}

/// Returns the length in bytes of the patched block at the start of `bytes`, without unpacking it.
#[inline]
pub fn patched_len(bytes: &[u8]) -> Result<usize, Corrupt> {
    match bytes {
        [tag, exceptions, ..] if *tag & !BASE_FLAG <= 32 => {
            let base_len = usize::from(tag & BASE_FLAG != 0);
            let len = 2 + packed_bytes(tag & !BASE_FLAG) + *exceptions as usize + base_len;
            if len <= bytes.len() { Ok(len) } else { Err(CORRUPT_PATCHED) }
        }
        _ => Err(CORRUPT_PATCHED),
    }
}

const CORRUPT_PATCHED: Corrupt = Corrupt { offset: 0, expected: "a patched block of 128 numbers" };

/// Unpacks the patched block at the start of `bytes`; returns its length in bytes.
#[inline]
pub fn unpack_patched(bytes: &[u8], values: &mut [u32; LEN]) -> Result<usize, Corrupt> {
    let block = Patched::of(bytes)?;
    unpack(&bytes[2..block.packed_end], block.width, values)?;
    if block.packed_end < block.exceptions_end {
        patch(&bytes[block.packed_end..block.exceptions_end], block.width, values)?;
    }
    if block.base != 0 {
        values.iter_mut().for_each(|value| *value = value.wrapping_add(block.base));
    }
    Ok(block.len)
}

fn patch(exceptions: &[u8], width: u8, values: &mut [u32; LEN]) -> Result<(), Corrupt> {
    each_exception(exceptions, width, |index, high| {
        values[index % LEN] |= high;
        true
    })
}

/// Calls `found` with the index and the high bits, in place, of each exception, until it returns `false`.
#[inline]
fn each_exception(
    mut exceptions: &[u8],
    width: u8,
    mut found: impl FnMut(usize, u32) -> bool,
) -> Result<(), Corrupt> {
    if width >= 32 && !exceptions.is_empty() {
        return Err(CORRUPT_PATCHED);
    }
    while let [index, high, rest @ ..] = exceptions {
        let (index, mut high) = (usize::from(*index), u32::from(*high));
        exceptions = rest;
        if high >= 0x80 {
            // A varint of several bytes.
            let mut shift = 7;
            high &= 0x7F;
            loop {
                let [byte, rest @ ..] = exceptions else { return Err(CORRUPT_PATCHED) };
                high |= u32::from(byte & 0x7F).checked_shl(shift).ok_or(CORRUPT_PATCHED)?;
                shift += 7;
                exceptions = rest;
                if *byte < 0x80 {
                    break;
                }
            }
        }
        if index >= LEN {
            return Err(CORRUPT_PATCHED);
        }
        if !found(index, high << width) {
            return Ok(());
        }
    }
    if exceptions.is_empty() { Ok(()) } else { Err(CORRUPT_PATCHED) }
}

/// A patched block whose values are read one by one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Patched {
    width: u8,
    /// Added to each value.
    base: u32,
    /// Offset after the packed values.
    packed_end: usize,
    /// Offset after the exceptions.
    exceptions_end: usize,
    /// Length of the block in bytes.
    len: usize,
}

impl Patched {
    /// Describes the block at the start of `bytes`.
    #[inline]
    pub fn of(bytes: &[u8]) -> Result<Patched, Corrupt> {
        let len = patched_len(bytes)?;
        let width = bytes[0] & !BASE_FLAG;
        let has_base = bytes[0] & BASE_FLAG != 0;
        let base = if has_base { u32::from(bytes[len - 1]) } else { 0 };
        let exceptions_end = len - usize::from(has_base);
        Ok(Patched { width, base, packed_end: 2 + packed_bytes(width), exceptions_end, len })
    }

    /// Returns its length in bytes.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Reads the values from index `from` on. `bytes` are those that the block was described from. Together,
    /// `from` and the number of `values` must not exceed 128.
    #[inline]
    pub fn get(&self, bytes: &[u8], from: usize, values: &mut [u32]) -> Result<(), Corrupt> {
        let Patched { width, base, packed_end, exceptions_end, .. } = *self;
        let packed = &bytes[2..packed_end];
        let end = from + values.len();
        for (value, index) in values.iter_mut().zip(from..) {
            *value = get(packed, width, index).wrapping_add(base);
        }
        if packed_end == exceptions_end {
            return Ok(());
        }
        // The high bits are above those of the packed value, so adding them is the same before and after the
        // base.
        each_exception(&bytes[packed_end..exceptions_end], width, |index, high| {
            if let Some(value) = index.checked_sub(from).and_then(|at| values.get_mut(at)) {
                *value = value.wrapping_add(high);
            }
            index < end
        })
    }
}

/// Returns value `index` of a packed block of `width` bits. Four values lie side by side: value `i` is the
/// `i / 4`-th of those in column `i % 4` of rows of four numbers of 32 bits.
#[inline]
fn get(packed: &[u8], width: u8, index: usize) -> u32 {
    if width == 0 {
        return 0;
    }
    let bit = index / 4 * usize::from(width);
    let at = bit / 32 * 16 + index % 4 * 4;
    let word = |at: usize| match packed.get(at..at + 4) {
        Some(&[a, b, c, d]) => u64::from(u32::from_le_bytes([a, b, c, d])),
        _ => 0,
    };
    let both = word(at) | word(at + 16) << 32;
    (both >> (bit % 32)) as u32 & (u32::MAX >> (32 - width.min(32)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(value: impl Fn(u32) -> u32) -> [u32; LEN] {
        std::array::from_fn(|i| value(i as u32))
    }

    #[track_caller]
    fn check_patched(values: [u32; LEN], len: usize) {
        let mut bytes = Vec::new();
        pack_patched(&values, &mut bytes);
        assert_eq!(bytes.len(), len);
        assert_eq!(patched_len(&bytes), Ok(len));
        let mut back = [0; LEN];
        assert_eq!(unpack_patched(&bytes, &mut back), Ok(len));
        assert_eq!(back, values);
        for from in 0..LEN {
            for count in [0, 1, 3, LEN - from] {
                let mut some = vec![0; count.min(LEN - from)];
                let block = Patched::of(&bytes).expect("sound");
                assert_eq!((block.len(), block.get(&bytes, from, &mut some)), (len, Ok(())));
                assert_eq!(some, &values[from..][..some.len()], "{from}");
            }
        }
        assert!(unpack_patched(&bytes[..len - 1], &mut back).is_err());
    }

    #[test]
    fn patched_blocks_pay_for_what_most_values_need() {
        check_patched(block(|_| 0), 2);
        check_patched(block(|i| i % 2), 18);
        check_patched(block(|i| if i == 7 { 1000 } else { i % 2 }), 18 + 3);
        check_patched(block(|i| i * 30_000_000), 2 + 32 * 16);
        check_patched(block(|i| if i % 50 == 0 { u32::MAX } else { 0 }), 2 + 3 * 6);
        for width in 1..=32usize {
            check_patched(
                block(|i| i.wrapping_mul(0x9E37_79B9) >> (32 - width) | 1 << (width - 1)),
                2 + 16 * width,
            );
        }
    }

    #[test]
    fn values_above_a_base_come_back() {
        let check = |values: [u32; LEN], len: usize| {
            let mut bytes = Vec::new();
            pack_patched_above(&values, &mut bytes);
            assert_eq!(bytes.len(), len);
            let mut back = [0; LEN];
            assert_eq!(unpack_patched(&bytes, &mut back), Ok(len));
            assert_eq!(back, values);
            let block = Patched::of(&bytes).expect("sound");
            for from in 0..LEN {
                let mut some = vec![0; 5.min(LEN - from)];
                assert_eq!((block.len(), block.get(&bytes, from, &mut some)), (len, Ok(())));
                assert_eq!(some, &values[from..][..some.len()], "{from}");
            }
            for cut in 0..len {
                assert!(unpack_patched(&bytes[..cut], &mut back).is_err());
            }
        };
        check(block(|_| 7), 3);
        check(block(|i| i % 2), 18);
        check(block(|i| 7 + i % 2), 19);
        check(block(|i| if i % 50 == 0 { 1000 } else { 250 + i % 4 }), 2 + 32 + 3 * 3 + 1);
        check(block(|i| 1_000_000 + i % 2), 2 + 20 * 16 + 1);
        check(block(|i| u32::MAX - i), 2 + 32 * 16 + 1);
    }

    #[test]
    fn ascending_blocks_store_gaps() {
        let values = block(|i| 1000 + i * 3);
        let width = ascending_width(Some(990), &values);
        assert_eq!(width, 4);
        let mut bytes = Vec::new();
        pack_ascending(Some(990), &values, width, &mut bytes);
        let mut back = [0; LEN];
        assert_eq!(unpack_ascending(&bytes, Some(990), width, &mut back), Ok(64));
        assert_eq!(back, values);
        let dense = block(|i| i);
        assert_eq!(ascending_width(None, &dense), 0);
        assert_eq!(unpack_ascending(&[], None, 0, &mut back), Ok(0));
        assert_eq!(back, dense);
    }
}
