//! Short arrays at a fixed bit width, read one by one: "what is value `i`?"
//!
//! Values lie back to back, low bits first, without alignment; `n` values of width `w` take
//! `(n * w).div_ceil(8)` bytes.

use crate::{Corrupt, Reader, varint};

/// Widest value: one unaligned load of eight bytes must hold it at any bit offset.
pub const WIDTH_MAX: u8 = 57;

/// Returns the bits needed for `value`; 0 for 0.
#[inline]
pub fn width(value: u64) -> u8 {
    (64 - value.leading_zeros()) as u8
}

/// Returns the bytes that `count` values of `width` bits take.
#[inline]
pub fn packed_bytes(count: usize, width: u8) -> usize {
    (count * width as usize).div_ceil(8)
}

/// Appends `values`, each below `1 << width`, to `out`.
pub fn pack(values: impl IntoIterator<Item = u64>, width: u8, out: &mut Vec<u8>) {
    debug_assert!(width <= WIDTH_MAX);
    if width == 0 {
        return;
    }
    let (mut pending, mut pending_bits) = (0u64, 0u32);
    for value in values {
        pending |= value << pending_bits;
        pending_bits += width as u32;
        if pending_bits >= 64 {
            out.extend_from_slice(&pending.to_le_bytes());
            pending_bits -= 64;
            pending = value >> (width as u32 - pending_bits);
        }
    }
    out.extend_from_slice(&pending.to_le_bytes()[..pending_bits.div_ceil(8) as usize]);
}

/// Returns value `index` of a packed array; bits past the end of `bytes` read as zero.
#[inline]
pub fn get(bytes: &[u8], index: usize, width: u8) -> u64 {
    let bit = index * width as usize;
    let at = bit >> 3;
    let word = match bytes.get(at..at + 8) {
        Some(chunk) => u64::from_le_bytes([
            chunk[0], chunk[1], chunk[2], chunk[3], chunk[4], chunk[5], chunk[6], chunk[7],
        ]),
        None => tail_word(bytes, at),
    };
    (word >> (bit & 7)) & ((1u64 << width) - 1)
}

#[cold]
fn tail_word(bytes: &[u8], at: usize) -> u64 {
    bytes.iter().skip(at).take(8).rev().fold(0, |word, &byte| word << 8 | byte as u64)
}

/// A packed array whose minimum is stored once and subtracted from each value: one row of a term block.
///
/// Layout: u8 width, varint minimum, packed `value - minimum`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Packed<'a> {
    bytes: &'a [u8],
    width: u8,
    minimum: u64,
}

impl<'a> Packed<'a> {
    /// Appends `values`, whose range must fit [`WIDTH_MAX`] bits.
    pub fn write(values: &[u64], out: &mut Vec<u8>) {
        let first = values.first().copied().unwrap_or(0);
        if values.iter().fold(0, |different, value| different | (value ^ first)) == 0 {
            out.push(0);
            return varint::write_u64(out, first);
        }
        let (minimum, maximum) =
            values.iter().fold((first, first), |(min, max), &value| (min.min(value), max.max(value)));
        let width = width(maximum - minimum);
        assert!(width <= WIDTH_MAX, "spread of a packed array: {width} bits");
        out.push(width);
        varint::write_u64(out, minimum);
        pack(values.iter().map(|value| value - minimum), width, out);
    }

    /// Reads an array of `count` values from `reader`.
    #[inline]
    pub fn read(reader: &mut Reader<'a>, count: usize) -> Result<Packed<'a>, Corrupt> {
        let width = reader.u8()?;
        reader.expect(width <= WIDTH_MAX, "a bit width of at most 57")?;
        let minimum = reader.varint()?;
        // The slice kept here runs to the end of the block, so that the last values, too, can be loaded as
        // eight bytes.
        let bytes = reader.rest();
        reader.bytes(packed_bytes(count, width))?;
        Ok(Packed { bytes, width, minimum })
    }

    /// Returns value `index`, which must be below the count given to [`Packed::read`]; beyond it the result
    /// is unspecified.
    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        if self.width == 0 {
            self.minimum
        } else {
            self.minimum.wrapping_add(get(self.bytes, index, self.width))
        }
    }

    /// Returns the common value when all values are equal.
    #[inline]
    pub fn constant(&self) -> Option<u64> {
        (self.width == 0).then_some(self.minimum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_reads_back() {
        for w in 0..=WIDTH_MAX {
            let mask = (1u64 << w) - 1;
            let values: Vec<u64> = (0..37u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) & mask).collect();
            let mut bytes = Vec::new();
            pack(values.iter().copied(), w, &mut bytes);
            assert_eq!(bytes.len(), packed_bytes(values.len(), w));
            for (i, &value) in values.iter().enumerate() {
                assert_eq!(get(&bytes, i, w), value, "width {w} index {i}");
            }
        }
    }

    #[test]
    fn packed_arrays_are_these_bytes() {
        let mut bytes = Vec::new();
        Packed::write(&[300, 301, 303, 300], &mut bytes);
        assert_eq!(bytes, [2, 0xac, 2, 0b00_11_01_00]);
        let mut reader = Reader::new(&bytes);
        let packed = Packed::read(&mut reader, 4).expect("sound");
        assert_eq!([0, 1, 2, 3].map(|i| packed.get(i)), [300, 301, 303, 300]);
        assert_eq!(packed.constant(), None);
        assert_eq!(reader.remaining(), 0);
        assert!(Packed::read(&mut Reader::new(&bytes[..3]), 4).is_err());
        assert!(Packed::read(&mut Reader::new(&[58, 0, 0]), 1).is_err());
    }
}
