//! Sums of runs of a column, computed from the blocks' bases and residuals where possible, without decoding
//! the values.
//!
//! 128 values are `base + factor * residual`, so their sum is `128 * base + factor * (sum of residuals)`,
//! and likewise for their squares. A run thus costs no more than unpacking its residuals.

use std::ops::Range;

use limber_codec::column_block;

use super::column::NumberColumn;
use super::format::{BLOCK, BLOCKS_PER_GROUP, GROUP};
use super::packed::{Group, corrupt};
use crate::Result;

/// Count and sums of values. Exact while the absolute value of every value is below [`Moments::VALUE_MAX`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moments {
    /// Number of values.
    pub count: u64,
    /// Their sum.
    pub sum: i128,
    /// Sum of their squares; 0 if it was not requested.
    pub sum_of_squares: i128,
}

impl Moments {
    /// The squares of 2^31 values below this limit add up to less than 2^127.
    pub const VALUE_MAX: u64 = 1 << 48;

    /// Computes the moments of the given values.
    pub fn of(values: &[i64], wants_squares: bool) -> Moments {
        let mut moments = Moments::default();
        values.chunks(BLOCK).for_each(|chunk| moments.add_values(chunk, wants_squares));
        moments
    }

    /// Adds the moments of further values.
    pub fn add(&mut self, other: &Moments) {
        self.count += other.count;
        self.sum += other.sum;
        self.sum_of_squares = self.sum_of_squares.wrapping_add(other.sum_of_squares);
    }

    /// Adds at most 128 values.
    #[inline]
    fn add_values(&mut self, values: &[i64], wants_squares: bool) {
        let bits = values.iter().fold(0, |bits, value| bits | value.unsigned_abs());
        self.count += values.len() as u64;
        self.sum += match bits < 1 << 56 {
            true => i128::from(values.iter().sum::<i64>()),
            false => values.iter().map(|value| i128::from(*value)).sum(),
        };
        if !wants_squares {
            return;
        }
        let squares = match bits < 1 << 28 {
            // One instruction multiplies several 32-bit values.
            true => values
                .iter()
                .map(|value| i64::from(*value as i32) * i64::from(*value as i32))
                .sum::<i64>()
                .into(),
            false => values
                .iter()
                .map(|value| i128::from(*value) * i128::from(*value))
                .fold(0i128, |sum, square| sum.wrapping_add(square)),
        };
        self.sum_of_squares = self.sum_of_squares.wrapping_add(squares);
    }

    /// Adds the first `len` values of a block.
    fn add_block(&mut self, group: &Group<'_>, block: usize, len: usize, wants_squares: bool) -> Result<()> {
        let (packed, bits) = group.block(block)?;
        if len == BLOCK
            && let Some(factor) = group.factor()
            && let Some((sum, squares)) = column_block::residual_sums(packed, bits, wants_squares)
        {
            let (base, factor) = (i128::from(group.base(block)), i128::from(factor));
            let (sum, count) = (factor.wrapping_mul(sum.into()), BLOCK as i128);
            self.count += BLOCK as u64;
            self.sum += count * base + sum;
            if wants_squares {
                let mixed = base.wrapping_mul(sum).wrapping_mul(2);
                let own = factor.wrapping_mul(factor).wrapping_mul(squares.into());
                let all = base.wrapping_mul(base).wrapping_mul(count).wrapping_add(mixed).wrapping_add(own);
                self.sum_of_squares = self.sum_of_squares.wrapping_add(all);
            }
            return Ok(());
        }
        let mut values = [0i64; BLOCK];
        group.read_block(block, &mut values)?;
        self.add_values(&values[..len], wants_squares);
        Ok(())
    }
}

impl NumberColumn<'_> {
    /// Adds up the *values* numbered `values`.
    ///
    /// # Errors
    /// Fails for damage, and for a range that exceeds the column.
    pub fn moments(&self, values: Range<u64>, wants_squares: bool) -> Result<Moments> {
        if values.end > self.value_count() {
            return Err(corrupt(values.end, "a range inside the column"));
        }
        let (packed, ..) = self.parts();
        let mut moments = Moments::default();
        let mut at = values.start;
        while at < values.end {
            let group = packed.group((at / GROUP as u64) as usize)?;
            let group_end = values.end.min((at / GROUP as u64 + 1) * GROUP as u64);
            while at < group_end {
                let block = (at / BLOCK as u64) as usize % BLOCKS_PER_GROUP;
                let first = at as usize % BLOCK;
                let len = (group_end - at).min((BLOCK - first) as u64) as usize;
                match first {
                    0 => moments.add_block(&group, block, len, wants_squares)?,
                    _ => {
                        let mut decoded = [0i64; BLOCK];
                        group.read_block(block, &mut decoded)?;
                        moments.add_values(&decoded[first..first + len], wants_squares);
                    }
                }
                at += len as u64;
            }
        }
        Ok(moments)
    }

    /// Returns the smallest and largest of the *values* numbered `values`, using the bounds of blocks and
    /// groups that lie inside; `None` for an empty range.
    ///
    /// # Errors
    /// As for [`NumberColumn::moments`].
    pub fn extremes(&self, values: Range<u64>) -> Result<Option<(i64, i64)>> {
        if values.end > self.value_count() {
            return Err(corrupt(values.end, "a range inside the column"));
        }
        let (packed, ..) = self.parts();
        let (mut least, mut most) = (i64::MAX, i64::MIN);
        let mut at = values.start;
        let last = self.value_count();
        while at < values.end {
            // A group or block that the column's end cuts short counts as whole.
            let ends_at = |len: usize| ((at / len as u64 + 1) * len as u64).min(last);
            let ((low, high), end) = if at.is_multiple_of(GROUP as u64) && ends_at(GROUP) <= values.end {
                (packed.group_range((at / GROUP as u64) as usize)?, ends_at(GROUP))
            } else if at.is_multiple_of(BLOCK as u64) && ends_at(BLOCK) <= values.end {
                (packed.block_range(at / BLOCK as u64)?, ends_at(BLOCK))
            } else {
                let (first, end) = (at as usize % BLOCK, ends_at(BLOCK).min(values.end));
                let mut decoded = [0i64; BLOCK];
                packed.read_block(at / BLOCK as u64, &mut decoded)?;
                (column_block::bounds(&decoded[first..first + (end - at) as usize]), end)
            };
            (least, most) = (least.min(low), most.max(high));
            at = end;
        }
        Ok((least <= most).then_some((least, most)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::columns::ColumnWriter;

    fn check(values: &[i64], range: Range<usize>) {
        let mut bytes = Vec::new();
        let mut writer = ColumnWriter::new();
        writer.push_run(0, values, &mut bytes).expect("fits");
        writer.finish(values.len() as u32, &mut bytes).expect("fits");
        let column = NumberColumn::open(&bytes).expect("opens");
        let wanted = &values[range.clone()];
        let range = range.start as u64..range.end as u64;
        let expected = Moments {
            count: wanted.len() as u64,
            sum: wanted.iter().map(|value| i128::from(*value)).sum(),
            sum_of_squares: wanted.iter().map(|value| i128::from(*value) * i128::from(*value)).sum(),
        };
        assert_eq!(column.moments(range.clone(), true).expect("reads"), expected);
        let plain = Moments { sum_of_squares: 0, ..expected };
        assert_eq!(column.moments(range.clone(), false).expect("reads"), plain);
        assert_eq!(Moments::of(wanted, true), expected);
        let extremes = wanted.iter().min().copied().zip(wanted.iter().max().copied());
        assert_eq!(column.extremes(range).expect("reads"), extremes);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn as_value_by_value(
            seeds in prop::collection::vec(any::<u64>(), 1..9000),
            bits in 1u32..48,
            factor in prop::sample::select(vec![1i64, 25, 1000]),
            shape in 0..3,
            cut in (0.0..1.0f64, 0.0..1.0f64),
        ) {
            let mut rising = -1000;
            let value = |seed: &u64| match shape {
                0 => (seed % 5) as i64 * 1_000_003 * factor - 7,
                1 => {
                    rising += (seed % 3) as i64 * factor;
                    rising
                }
                _ => ((seed >> (64 - bits)) as i64 - (1 << (bits - 1))) / factor * factor,
            };
            let values: Vec<i64> = seeds.iter().map(value).collect();
            let (one, other) = ((cut.0 * values.len() as f64) as usize, (cut.1 * values.len() as f64) as usize);
            check(&values, one.min(other)..one.max(other));
            check(&values, 0..values.len());
        }
    }

    #[test]
    fn sums_of_the_largest_numbers_are_exact() {
        let values = [i64::MAX, i64::MIN, i64::MAX, 3].repeat(200);
        let sum = values.iter().map(|value| i128::from(*value)).sum::<i128>();
        assert_eq!(Moments::of(&values, false).sum, sum);
    }
}
