//! Blocks of 128 column values: "unpack this block as `base + factor * r`; give me the value at this index
//! of it".
//!
//! A block holds 128 residuals of 0 to 64 bits. Up to 32 bits they are one `BitPacker4x` block (`16 * bits`
//! bytes: four interleaved lanes, residual `i` in lane `i % 4`). Above 32 bits, the low 32 bits of all
//! residuals come first as plain `u32`s (512 bytes), then the high bits as a `BitPacker4x` block; so every
//! width takes `16 * bits` bytes.

use bitpacking::{BitPacker, BitPacker4x};

/// Values in a block.
pub const COLUMN_BLOCK: usize = 128;

/// Returns the bits that hold `max`.
#[inline]
pub fn bits_for(max: u64) -> u8 {
    (64 - max.leading_zeros()) as u8
}

/// Returns the bytes of a packed block.
#[inline]
pub fn packed_bytes(bits: u8) -> usize {
    16 * usize::from(bits)
}

/// Returns the least and the greatest of `values`; `(i64::MAX, i64::MIN)` if there are none.
pub fn bounds(values: &[i64]) -> (i64, i64) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, the only requirement; the body is safe code.
        return unsafe { bounds_avx2(values) };
    }
    bounds_any(values)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn bounds_avx2(values: &[i64]) -> (i64, i64) {
    bounds_any(values)
}

#[inline(always)]
fn bounds_any(values: &[i64]) -> (i64, i64) {
    let least = values.iter().fold(i64::MAX, |least, &value| least.min(value));
    let greatest = values.iter().fold(i64::MIN, |greatest, &value| greatest.max(value));
    (least, greatest)
}

/// Appends `residuals`, none of which needs more than `bits` bits.
pub fn pack(residuals: &[u64; COLUMN_BLOCK], bits: u8, out: &mut Vec<u8>) {
    if bits == 0 {
        return;
    }
    let start = out.len();
    let packer = BitPacker4x::new();
    if bits <= 32 {
        out.resize(start + packed_bytes(bits), 0);
        packer.compress(
            &std::array::from_fn::<u32, COLUMN_BLOCK, _>(|i| residuals[i] as u32),
            &mut out[start..],
            bits,
        );
        return;
    }
    for residual in residuals {
        out.extend_from_slice(&(*residual as u32).to_le_bytes());
    }
    let high_at = out.len();
    out.resize(start + packed_bytes(bits), 0);
    let high = std::array::from_fn::<u32, COLUMN_BLOCK, _>(|i| (residuals[i] >> 32) as u32);
    packer.compress(&high, &mut out[high_at..], bits - 32);
}

/// Unpacks residuals of at most 32 bits. `packed` has [`packed_bytes`]`(bits)` bytes.
#[inline]
fn unpack_narrow(packed: &[u8], bits: u8, out: &mut [u32; COLUMN_BLOCK]) {
    if bits == 0 {
        out.fill(0);
    } else {
        BitPacker4x::new().decompress(packed, out, bits);
    }
}

/// Sets `out[i]` to `base + factor * residual[i]`, wrapping. Returns `None` when `packed` is not
/// [`packed_bytes`]`(bits)` long or `bits` > 64.
#[inline]
pub fn unpack_i64(
    packed: &[u8],
    bits: u8,
    base: i64,
    factor: u64,
    out: &mut [i64; COLUMN_BLOCK],
) -> Option<()> {
    if packed.len() != packed_bytes(bits) || bits > 64 {
        return None;
    }
    if bits == 0 {
        out.fill(base);
    } else if bits <= 32 {
        let mut low = [0; COLUMN_BLOCK];
        unpack_narrow(packed, bits, &mut low);
        widen(&low, base, factor, out);
    } else {
        let (low, high) = packed.split_at(4 * COLUMN_BLOCK);
        let mut high_bits = [0; COLUMN_BLOCK];
        unpack_narrow(high, bits - 32, &mut high_bits);
        for ((value, low), high) in out.iter_mut().zip(low.as_chunks::<4>().0).zip(high_bits) {
            let residual = u64::from(u32::from_le_bytes(*low)) | u64::from(high) << 32;
            *value = base.wrapping_add(residual.wrapping_mul(factor) as i64);
        }
    }
    Some(())
}

/// Sets `out[i]` to `base + factor * residual[i]`, wrapping; only for blocks of at most 32 bits.
#[inline]
pub fn unpack_u32(
    packed: &[u8],
    bits: u8,
    base: u32,
    factor: u32,
    out: &mut [u32; COLUMN_BLOCK],
) -> Option<()> {
    if packed.len() != packed_bytes(bits) || bits > 32 {
        return None;
    }
    unpack_narrow(packed, bits, out);
    if factor == 1 {
        out.iter_mut().for_each(|value| *value = value.wrapping_add(base));
    } else {
        out.iter_mut().for_each(|value| *value = base.wrapping_add(value.wrapping_mul(factor)));
    }
    Some(())
}

/// A line below the values of a block: value `i` is at least `first + (slope * i) >> `[`SLOPE_SHIFT`], modulo
/// 2^32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockLine {
    /// The line's height at the first value.
    pub first: u32,
    /// What it rises from value to value, in fractions of [`SLOPE_SHIFT`] bits.
    pub slope: u32,
}

/// Bits of the fraction of a slope: at the last value of a block, the line is at most 2^-9 beside the place
/// meant.
pub const SLOPE_SHIFT: u32 = 16;

impl BlockLine {
    /// Returns the line at value `index`.
    #[inline(always)]
    pub fn at(self, index: usize) -> u32 {
        self.first.wrapping_add(((u64::from(self.slope) * index as u64) >> SLOPE_SHIFT) as u32)
    }
}

/// Sets `out[i]` to `base + factor * (line at i + residual[i])`, where the sum in brackets is modulo 2^32.
/// `None` as for [`unpack_u32`].
#[inline]
pub fn unpack_line_i64(
    packed: &[u8],
    bits: u8,
    line: BlockLine,
    (base, factor): (i64, u64),
    out: &mut [i64; COLUMN_BLOCK],
) -> Option<()> {
    let mut low = [0; COLUMN_BLOCK];
    unpack_line(packed, bits, line, &mut low)?;
    widen(&low, base, factor, out);
    Some(())
}

/// Sets `out[i]` to `line at i + residual[i]`, modulo 2^32. `None` as for [`unpack_u32`].
#[inline]
pub fn unpack_line(packed: &[u8], bits: u8, line: BlockLine, out: &mut [u32; COLUMN_BLOCK]) -> Option<()> {
    if packed.len() != packed_bytes(bits) || bits > 32 {
        return None;
    }
    unpack_narrow(packed, bits, out);
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, the only requirement; the body is safe code.
        unsafe { add_line_avx2(line, out) };
        return Some(());
    }
    add_line_any(line, out);
    Some(())
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_line_avx2(line: BlockLine, out: &mut [u32; COLUMN_BLOCK]) {
    add_line_any(line, out);
}

#[inline(always)]
fn add_line_any(line: BlockLine, out: &mut [u32; COLUMN_BLOCK]) {
    if line.slope < 1 << 25 {
        // Products of 32 bits, of which an instruction computes twice as many.
        for (index, value) in (0u32..).zip(out) {
            *value = value.wrapping_add(line.first).wrapping_add((line.slope * index) >> SLOPE_SHIFT);
        }
        return;
    }
    for (index, value) in out.iter_mut().enumerate() {
        *value = value.wrapping_add(line.at(index));
    }
}

/// Returns residual `index` (below 128) of a block, without unpacking it. `None` as for [`unpack_i64`].
#[inline(always)]
pub fn get(packed: &[u8], bits: u8, index: usize) -> Option<u64> {
    if packed.len() != packed_bytes(bits) || bits > 64 {
        return None;
    }
    if bits <= 32 {
        return Some(u64::from(get_narrow(packed, bits, index)));
    }
    let (low, high) = packed.split_at(4 * COLUMN_BLOCK);
    let low = u32::from_le_bytes(low[4 * index..][..4].try_into().ok()?);
    Some(u64::from(low) | u64::from(get_narrow(high, bits - 32, index)) << 32)
}

#[inline(always)]
fn get_narrow(packed: &[u8], bits: u8, index: usize) -> u32 {
    if bits == 0 {
        return 0;
    }
    let bit = (index / 4) * usize::from(bits);
    let at = (bit / 32) * 16 + (index % 4) * 4;
    let word = |at: usize| packed.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    // A residual may straddle two words of its lane, 16 bytes apart.
    let pair = u64::from(word(at)) | u64::from(word(at + 16)) << 32;
    ((pair >> (bit % 32)) & ((1u64 << bits) - 1)) as u32
}

/// Bits up to which [`residual_sums`] works: 128 squares of such residuals add up to less than 2^64.
pub const SUMMED_BITS_MAX: u8 = 28;

/// Returns the sum of a block's residuals and, if `wants_squares`, of their squares (0 otherwise), without
/// unpacking the values. `None` when `packed` is not [`packed_bytes`]`(bits)` long or `bits` is above
/// [`SUMMED_BITS_MAX`].
#[inline]
pub fn residual_sums(packed: &[u8], bits: u8, wants_squares: bool) -> Option<(u64, u64)> {
    if packed.len() != packed_bytes(bits) || bits > SUMMED_BITS_MAX {
        return None;
    }
    if bits == 0 {
        return Some((0, 0));
    }
    let mut residuals = [0; COLUMN_BLOCK];
    BitPacker4x::new().decompress(packed, &mut residuals, bits);
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, the only requirement; the body is safe code.
        return Some(unsafe { sums_avx2(&residuals, wants_squares) });
    }
    Some(sums_any(&residuals, wants_squares))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sums_avx2(residuals: &[u32; COLUMN_BLOCK], wants_squares: bool) -> (u64, u64) {
    sums_any(residuals, wants_squares)
}

#[inline(always)]
fn sums_any(residuals: &[u32; COLUMN_BLOCK], wants_squares: bool) -> (u64, u64) {
    let sum = residuals.iter().fold(0u64, |sum, residual| sum + u64::from(*residual));
    let squares = match wants_squares {
        true => {
            residuals.iter().fold(0u64, |sum, residual| sum + u64::from(*residual) * u64::from(*residual))
        }
        false => 0,
    };
    (sum, squares)
}

/// Returns the bits of the largest difference between neighbours of `ascending`, which may be equal;
/// `initial` precedes the first.
pub fn ascending_bits(initial: u32, ascending: &[u32; COLUMN_BLOCK]) -> u8 {
    BitPacker4x::new().num_bits_sorted(initial, ascending)
}

/// Appends the differences between neighbours of `ascending`, [`ascending_bits`] each.
pub fn pack_ascending(initial: u32, ascending: &[u32; COLUMN_BLOCK], bits: u8, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + packed_bytes(bits), 0);
    BitPacker4x::new().compress_sorted(initial, ascending, &mut out[start..], bits);
}

/// Reverses [`pack_ascending`]. Returns `None` when `packed` is not [`packed_bytes`]`(bits)` long or `bits`
/// > 32.
#[inline]
pub fn unpack_ascending(packed: &[u8], bits: u8, initial: u32, out: &mut [u32; COLUMN_BLOCK]) -> Option<()> {
    if packed.len() != packed_bytes(bits) || bits > 32 {
        return None;
    }
    BitPacker4x::new().decompress_sorted(initial, packed, out, bits);
    Some(())
}

#[inline]
fn widen(low: &[u32; COLUMN_BLOCK], base: i64, factor: u64, out: &mut [i64; COLUMN_BLOCK]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, the only requirement; the body is safe code.
        unsafe { widen_avx2(low, base, factor, out) };
        return;
    }
    widen_any(low, base, factor, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn widen_avx2(low: &[u32; COLUMN_BLOCK], base: i64, factor: u64, out: &mut [i64; COLUMN_BLOCK]) {
    widen_any(low, base, factor, out);
}

#[inline(always)]
fn widen_any(low: &[u32; COLUMN_BLOCK], base: i64, factor: u64, out: &mut [i64; COLUMN_BLOCK]) {
    if factor == 1 {
        for (value, low) in out.iter_mut().zip(low) {
            *value = base.wrapping_add(i64::from(*low));
        }
    } else if let Ok(factor) = u32::try_from(factor) {
        // 32 x 32 to 64 bits is one instruction for several values; 64 x 64 is not.
        for (value, low) in out.iter_mut().zip(low) {
            *value = base.wrapping_add((u64::from(*low) * u64::from(factor)) as i64);
        }
    } else {
        for (value, low) in out.iter_mut().zip(low) {
            *value = base.wrapping_add(u64::from(*low).wrapping_mul(factor) as i64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_unpacks_whole_and_one_by_one() {
        for bits in 0..=64u8 {
            let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
            let residuals = std::array::from_fn(|i| {
                (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(i as u32) & mask
            });
            let mut packed = Vec::new();
            pack(&residuals, bits, &mut packed);
            assert_eq!(packed.len(), packed_bytes(bits));
            let mut out = [0; COLUMN_BLOCK];
            for factor in [1, 1000, 1 << 40] {
                unpack_i64(&packed, bits, -7, factor, &mut out).expect("fits");
                for (i, residual) in residuals.iter().enumerate() {
                    assert_eq!(
                        out[i],
                        (-7i64).wrapping_add(residual.wrapping_mul(factor) as i64),
                        "{bits} bits, {i}"
                    );
                    assert_eq!(get(&packed, bits, i), Some(*residual), "{bits} bits, {i}");
                }
            }
            let mut narrow = [0; COLUMN_BLOCK];
            let fits = unpack_u32(&packed, bits, 5, 1, &mut narrow).is_some();
            assert_eq!(fits, bits <= 32);
            assert!(!fits || (0..COLUMN_BLOCK).all(|i| narrow[i] == 5u32.wrapping_add(residuals[i] as u32)));
            assert!(
                unpack_i64(&packed[..packed.len().saturating_sub(1)], bits, 0, 1, &mut out).is_none()
                    || bits == 0
            );
        }
    }

    #[test]
    fn lines_are_added() {
        for bits in 0..=33u8 {
            let residuals = std::array::from_fn(|i| (i as u64 * 0x9e37_79b9) & ((1 << bits) - 1));
            let mut packed = Vec::new();
            pack(&residuals, bits, &mut packed);
            for line in [(0, 0), (7, 1 << SLOPE_SHIFT), (u32::MAX, u32::MAX), (3, 12_345_678)] {
                let line = BlockLine { first: line.0, slope: line.1 };
                let (mut wide, mut narrow) = ([0; COLUMN_BLOCK], [0; COLUMN_BLOCK]);
                let fits = unpack_line_i64(&packed, bits, line, (-5, 1000), &mut wide).is_some();
                assert_eq!(
                    (fits, unpack_line(&packed, bits, line, &mut narrow).is_some()),
                    (bits <= 32, bits <= 32)
                );
                for (i, residual) in residuals.iter().enumerate().filter(|_| fits) {
                    let rise = u64::from(line.slope) * i as u64 / 65_536;
                    let expected = (u64::from(line.first) + rise + residual) as u32;
                    assert_eq!(
                        (narrow[i], wide[i]),
                        (expected, i64::from(expected) * 1000 - 5),
                        "{bits} bits, {i}"
                    );
                }
                let mut scalar = residuals.map(|residual| residual as u32);
                add_line_any(line, &mut scalar);
                assert!(!fits || scalar == narrow);
            }
        }
        assert!(unpack_line(&[0; 3], 1, BlockLine { first: 0, slope: 0 }, &mut [0; COLUMN_BLOCK]).is_none());
    }

    #[test]
    fn sums_are_those_of_the_residuals() {
        for bits in 0..=SUMMED_BITS_MAX {
            let most = (1u64 << bits) - 1;
            let residuals = std::array::from_fn(|i| most.wrapping_sub(i as u64 * 3) & most);
            let mut packed = Vec::new();
            pack(&residuals, bits, &mut packed);
            let sum = residuals.iter().sum();
            let squares = residuals.iter().map(|residual| residual * residual).sum();
            assert_eq!(residual_sums(&packed, bits, true), Some((sum, squares)), "{bits} bits");
            assert_eq!(residual_sums(&packed, bits, false), Some((sum, 0)), "{bits} bits");
            let scalar = sums_any(&residuals.map(|residual| residual as u32), true);
            assert_eq!(scalar, (sum, squares));
        }
        assert_eq!(residual_sums(&[0; 16 * 29], 29, false), None);
        assert_eq!(residual_sums(&[0; 3], 1, false), None);
    }

    #[test]
    fn ascending_numbers_come_back() {
        for step in [0, 1, 5, 1 << 20] {
            let ascending = std::array::from_fn(|i| 7 + (i / 2) as u32 * step);
            for initial in [0, 7] {
                let (bits, mut packed) = (ascending_bits(initial, &ascending), Vec::new());
                pack_ascending(initial, &ascending, bits, &mut packed);
                let mut out = [0; COLUMN_BLOCK];
                unpack_ascending(&packed, bits, initial, &mut out).expect("fits");
                assert_eq!(out, ascending);
            }
        }
    }

    #[test]
    fn bytes_of_a_small_block() {
        let mut packed = Vec::new();
        pack(&std::array::from_fn(|i| (i % 4) as u64), 2, &mut packed);
        // Lane k holds the number k at all its 32 positions, two bits each.
        let lanes = [0x0000_0000u32, 0x5555_5555, 0xaaaa_aaaa, 0xffff_ffff];
        let expected: Vec<u8> = lanes.iter().chain(&lanes).flat_map(|lane| lane.to_le_bytes()).collect();
        assert_eq!(packed, expected);
    }
}
