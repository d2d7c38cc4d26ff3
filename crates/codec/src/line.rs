//! Short rows of numbers near a straight line, read one by one: "what is value `i`?"
//!
//! Layout: u8 width, zigzag varint slope, zigzag varint base, packed residuals ([`crate::bits`]); value `i`
//! is `base + i * slope + residual[i]`, modulo 2^64. Numbers that count up by the same step take three to ten
//! bytes, however many there are.

use crate::{Corrupt, Reader, bits, varint};

/// Values below `1 << VALUE_BITS_MAX` can be written.
pub const VALUE_BITS_MAX: u8 = bits::WIDTH_MAX;

/// A row as it is stored.
#[derive(Debug, Clone, Copy, Default)]
pub struct Line<'a> {
    packed: &'a [u8],
    width: u8,
    slope: i64,
    base: i64,
}

/// A line below values: each is at least the line and less than `1 << width` above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fit {
    /// Bits of the greatest residual.
    pub width: u8,
    slope: i64,
    base: i64,
}

impl Fit {
    /// Returns the best of three lines: a flat one, one with the first step, one with the average step.
    /// Values are below `1 <<` [`VALUE_BITS_MAX`].
    pub fn of(values: &[u64]) -> Fit {
        let (first, last) = (values.first().copied().unwrap_or(0), values.last().copied().unwrap_or(0));
        let flat = Fit::with_slope(values, 0);
        let steps = values.len().saturating_sub(1).max(1) as i64;
        let average = last.wrapping_sub(first) as i64 / steps;
        let step = values.get(1).map_or(0, |second| second.wrapping_sub(first) as i64);
        let mut best = flat;
        for slope in [step, average] {
            if best.width == 0 {
                break;
            }
            let fit = Fit::with_slope(values, slope);
            if fit.width < best.width {
                best = fit;
            }
        }
        best
    }

    fn with_slope(values: &[u64], slope: i64) -> Fit {
        let (mut least, mut most, mut line) = (i64::MAX, i64::MIN, 0i64);
        for value in values {
            let above = (*value as i64).wrapping_sub(line);
            (least, most) = (least.min(above), most.max(above));
            line = line.wrapping_add(slope);
        }
        if values.is_empty() {
            return Fit { width: 0, slope: 0, base: 0 };
        }
        Fit { width: bits::width(most.wrapping_sub(least) as u64), slope, base: least }
    }

    /// Appends `values`, those that the line was fitted to.
    pub fn write(&self, values: &[u64], out: &mut Vec<u8>) {
        assert!(self.width <= bits::WIDTH_MAX, "values below 2^57 need no wider residuals");
        out.push(self.width);
        varint::write_u64(out, varint::zigzag(self.slope));
        varint::write_u64(out, varint::zigzag(self.base));
        let mut line = self.base;
        let residuals = values.iter().map(|value| {
            let residual = value.wrapping_sub(line as u64);
            line = line.wrapping_add(self.slope);
            residual
        });
        bits::pack(residuals, self.width, out);
    }

    /// Returns the bytes that [`Fit::write`] appends for `count` values.
    pub fn bytes(&self, count: usize) -> usize {
        let varint_bytes = |value: i64| (bits::width(varint::zigzag(value)).max(1) as usize).div_ceil(7);
        1 + varint_bytes(self.slope) + varint_bytes(self.base) + bits::packed_bytes(count, self.width)
    }
}

impl<'a> Line<'a> {
    /// Appends `values`, each below `1 <<` [`VALUE_BITS_MAX`].
    pub fn write(values: &[u64], out: &mut Vec<u8>) {
        Fit::of(values).write(values, out);
    }

    /// Reads a row of `count` values from `reader`.
    #[inline]
    pub fn read(reader: &mut Reader<'a>, count: usize) -> Result<Line<'a>, Corrupt> {
        let width = reader.u8()?;
        reader.expect(width <= bits::WIDTH_MAX, "a bit width of at most 57")?;
        let (slope, base) = (varint::unzigzag(reader.varint()?), varint::unzigzag(reader.varint()?));
        // Runs to the end of what is read, so that the last values, too, can be loaded as eight bytes.
        let packed = reader.rest();
        reader.bytes(bits::packed_bytes(count, width))?;
        Ok(Line { packed, width, slope, base })
    }

    /// Returns value `index`, which must be below the count given to [`Line::read`]; beyond it the result is
    /// unspecified.
    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        let line = self.base.wrapping_add(self.slope.wrapping_mul(index as i64)) as u64;
        match self.width {
            0 => line,
            width => line.wrapping_add(bits::get(self.packed, index, width)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: &[u64]) -> usize {
        let mut bytes = Vec::new();
        Line::write(values, &mut bytes);
        assert_eq!(bytes.len(), Fit::of(values).bytes(values.len()));
        let len = bytes.len();
        bytes.push(0xaa);
        let mut reader = Reader::new(&bytes);
        let line = Line::read(&mut reader, values.len()).expect("sound");
        assert_eq!(reader.remaining(), 1);
        assert!(values.iter().enumerate().all(|(i, value)| line.get(i) == *value), "{values:?}");
        for cut in 0..len {
            assert!(Line::read(&mut Reader::new(&bytes[..cut]), values.len()).is_err(), "cut at {cut}");
        }
        len
    }

    #[test]
    fn values_come_back_and_steps_cost_nothing() {
        let run: Vec<u64> = (0..32).map(|i| 1_000_000 + i * 256).collect();
        assert_eq!(check(&run), 1 + 2 + 3);
        let down: Vec<u64> = run.iter().rev().copied().collect();
        assert_eq!(check(&down), 1 + 2 + 3);
        let mut jump = run.clone();
        jump[20..].iter_mut().for_each(|value| *value += 7);
        assert_eq!(check(&jump), 1 + 2 + 3 + 12);
        assert_eq!(check(&[]), 3);
        assert_eq!(check(&[5]), 3);
        let wide = (1 << VALUE_BITS_MAX) - 1;
        check(&[0, wide, 0, wide, 1]);
        check(&[wide, 0]);
        check(&[0, wide, wide, wide, wide]);
        for seed in 0..50u64 {
            let value =
                |i: u64| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(seed as u32) >> (7 + seed);
            check(&(0..seed).map(value).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn bytes_of_a_tiny_row() {
        let mut bytes = Vec::new();
        Line::write(&[7, 9, 12, 13], &mut bytes);
        // Steps of 2 from 7: residuals 0, 0, 1, 0.
        assert_eq!(bytes, [1, 4, 14, 0b0100]);
        assert!(Line::read(&mut Reader::new(&[58, 0, 0]), 0).is_err());
    }
}
