//! A list of 64-bit values in groups of 4,096: "decode that block; give me that value". Layout:
//! [`super::format`].

use std::marker::PhantomData;

use limber_codec::column_block::{self, BlockLine};

use super::format::{
    BLOCK, BLOCKS_PER_GROUP, ENTRY_BYTES, GROUP, KIND_FRAME, KIND_LINES, KIND_TABLE, LINE_BYTES,
    TABLE_LEN_MAX,
};
use crate::{Error, Result};

/// The type that a column's values are decoded to: `i64` (numbers) or `u32` (ordinals).
pub trait ColumnValue: Copy + Ord + Default + std::fmt::Debug + 'static {
    /// Converts a stored number, which must be in the range of the type.
    fn from_i64(value: i64) -> Self;
    /// Returns the number that is stored for the value.
    fn to_i64(self) -> i64;
    /// Computes `base + factor * residual` for a whole block; `None` if the bytes do not fit.
    fn unpack(packed: &[u8], bits: u8, base: i64, factor: u64, out: &mut [Self; BLOCK]) -> Option<()>;
    /// Computes `base + factor * (line + residual)` for a whole block; `None` if the bytes do not fit.
    fn unpack_line(
        packed: &[u8],
        bits: u8,
        line: BlockLine,
        frame: (i64, u64),
        out: &mut [Self; BLOCK],
    ) -> Option<()>;
}

impl ColumnValue for i64 {
    #[inline]
    fn from_i64(value: i64) -> i64 {
        value
    }

    #[inline]
    fn to_i64(self) -> i64 {
        self
    }

    #[inline]
    fn unpack(packed: &[u8], bits: u8, base: i64, factor: u64, out: &mut [i64; BLOCK]) -> Option<()> {
        column_block::unpack_i64(packed, bits, base, factor, out)
    }

    #[inline]
    fn unpack_line(
        packed: &[u8],
        bits: u8,
        line: BlockLine,
        frame: (i64, u64),
        out: &mut [i64; BLOCK],
    ) -> Option<()> {
        column_block::unpack_line_i64(packed, bits, line, frame, out)
    }
}

impl ColumnValue for u32 {
    #[inline]
    fn from_i64(value: i64) -> u32 {
        value as u32
    }

    #[inline]
    fn to_i64(self) -> i64 {
        i64::from(self)
    }

    #[inline]
    fn unpack(packed: &[u8], bits: u8, base: i64, factor: u64, out: &mut [u32; BLOCK]) -> Option<()> {
        column_block::unpack_u32(packed, bits, base as u32, factor as u32, out)
    }

    #[inline]
    fn unpack_line(
        packed: &[u8],
        bits: u8,
        line: BlockLine,
        (base, factor): (i64, u64),
        out: &mut [u32; BLOCK],
    ) -> Option<()> {
        column_block::unpack_line(packed, bits, line, out)?;
        let value = |place: u32| (base as u32).wrapping_add(place.wrapping_mul(factor as u32));
        out.iter_mut().for_each(|place| *place = value(*place));
        Some(())
    }
}

/// Reader of a packed list; a view, free to copy.
#[derive(Debug, Clone, Copy)]
pub struct Packed<'a, T> {
    bodies: &'a [u8],
    directory: &'a [u8],
    count: u64,
    value: PhantomData<T>,
}

/// One group, parsed.
#[derive(Debug, Clone, Copy)]
pub struct Group<'a> {
    min: i64,
    max: i64,
    factor: u64,
    width: usize,
    block_count: usize,
    ends: &'a [[u8; 2]],
    /// Empty for all but tables.
    table: &'a [[u8; 8]],
    /// Empty for all but lines.
    lines: &'a [[u8; LINE_BYTES]],
    minima: &'a [u8],
    maxima: &'a [u8],
    packed: &'a [u8],
}

#[cold]
pub(super) fn corrupt(offset: u64, expected: &'static str) -> Error {
    Error::corrupt("column", offset, expected)
}

#[inline]
fn number(bytes: &[u8], width: usize, index: usize) -> u64 {
    match width {
        0 => 0,
        1 => u64::from(bytes[index]),
        2 => u64::from(u16::from_le_bytes([bytes[2 * index], bytes[2 * index + 1]])),
        4 => bytes[4 * index..].first_chunk().map_or(0, |b| u64::from(u32::from_le_bytes(*b))),
        _ => bytes[8 * index..].first_chunk().map_or(0, |b| u64::from_le_bytes(*b)),
    }
}

impl<'a, T: ColumnValue> Packed<'a, T> {
    /// Opens a list from `bytes`: bodies (`body_len` bytes), then the directory of `count` values. `None`
    /// if the lengths do not fit.
    pub fn new(bytes: &'a [u8], body_len: u64, count: u64) -> Option<Packed<'a, T>> {
        let (bodies, directory) = bytes.split_at_checked(usize::try_from(body_len).ok()?)?;
        let groups = count.div_ceil(GROUP as u64);
        (directory.len() as u64 == groups.checked_mul(ENTRY_BYTES as u64)?).then_some(Packed {
            bodies,
            directory,
            count,
            value: PhantomData,
        })
    }

    /// Returns the number of values in the list.
    pub fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn group_count(&self) -> usize {
        self.directory.len() / ENTRY_BYTES
    }

    /// Returns the number of values in `block`: 128, fewer in the last one, 0 past it.
    #[inline]
    pub fn block_len(&self, block: u64) -> usize {
        self.count.saturating_sub(block.saturating_mul(BLOCK as u64)).min(BLOCK as u64) as usize
    }

    /// Returns the smallest and largest value of a group.
    #[inline]
    pub fn group_range(&self, group: usize) -> Result<(i64, i64)> {
        let at = group * ENTRY_BYTES;
        let entry = self.directory.get(at..at + ENTRY_BYTES).ok_or_else(|| corrupt(at as u64, "a group"))?;
        Ok((i64_at(entry, 8), i64_at(entry, 16)))
    }

    #[inline]
    pub(crate) fn group(&self, group: usize) -> Result<Group<'a>> {
        self.parse_group(group).ok_or_else(|| corrupt((group * ENTRY_BYTES) as u64, "a group of values"))
    }

    #[inline]
    fn parse_group(&self, group: usize) -> Option<Group<'a>> {
        let entry = self.directory.get(group * ENTRY_BYTES..)?.first_chunk::<ENTRY_BYTES>()?;
        let offset = i64_at(entry, 0) as usize;
        let next = match self.directory.get((group + 1) * ENTRY_BYTES..)?.first_chunk::<8>() {
            Some(next) => u64::from_le_bytes(*next) as usize,
            None => self.bodies.len(),
        };
        let body = self.bodies.get(offset..next)?;
        let (kind, width) = (entry[32], usize::from(entry[33]));
        let table_len = usize::from(u16::from_le_bytes([entry[34], entry[35]]));
        let table_fits = match kind {
            KIND_FRAME | KIND_LINES => table_len == 0,
            KIND_TABLE => width <= 1 && (1..=TABLE_LEN_MAX).contains(&table_len),
            _ => false,
        };
        if !table_fits || !matches!(width, 0 | 1 | 2 | 4 | 8) {
            return None;
        }
        let values = (self.count - (group * GROUP) as u64).min(GROUP as u64) as usize;
        let block_count = values.div_ceil(BLOCK);
        let (ends, rest) = body.split_at_checked(2 * block_count)?;
        let (table, rest) = rest.split_at_checked(8 * table_len)?;
        let (minima, rest) = rest.split_at_checked(width * block_count)?;
        let (maxima, rest) = rest.split_at_checked(width * block_count)?;
        let line_bytes = if kind == KIND_LINES { LINE_BYTES } else { 0 };
        let (lines, packed) = rest.split_at_checked(line_bytes * block_count)?;
        Some(Group {
            min: i64_at(entry, 8),
            max: i64_at(entry, 16),
            factor: i64_at(entry, 24) as u64,
            width,
            block_count,
            ends: ends.as_chunks().0,
            table: table.as_chunks().0,
            lines: lines.as_chunks().0,
            minima,
            maxima,
            packed,
        })
    }

    /// Decodes block `block` of the list; returns the number of its values (the rest of `out` is
    /// unspecified).
    #[inline]
    pub fn read_block(&self, block: u64, out: &mut [T; BLOCK]) -> Result<usize> {
        let group = self.group((block / BLOCKS_PER_GROUP as u64) as usize)?;
        group.read_block((block % BLOCKS_PER_GROUP as u64) as usize, out)?;
        Ok(self.block_len(block))
    }

    /// Returns the smallest and largest value of a block.
    #[inline]
    pub fn block_range(&self, block: u64) -> Result<(T, T)> {
        let group = self.group((block / BLOCKS_PER_GROUP as u64) as usize)?;
        let (min, max) = group.block_range((block % BLOCKS_PER_GROUP as u64) as usize)?;
        Ok((T::from_i64(min), T::from_i64(max)))
    }

    /// Returns value `index`.
    #[inline]
    pub fn get(&self, index: u64) -> Result<T> {
        if index >= self.count {
            return Err(corrupt(index, "a value inside the column"));
        }
        let group = self.group((index / GROUP as u64) as usize)?;
        group.get((index % GROUP as u64) as usize).map(T::from_i64)
    }

    /// Fills `out` with the values from number `start` on.
    pub fn read_range(&self, start: u64, mut out: &mut [T]) -> Result<()> {
        if start.checked_add(out.len() as u64).is_none_or(|end| end > self.count) {
            return Err(corrupt(start, "a range inside the column"));
        }
        let mut at = start;
        let mut block_values = [T::default(); BLOCK];
        while !out.is_empty() {
            let group = self.group((at / GROUP as u64) as usize)?;
            let in_group = (at % GROUP as u64) as usize;
            let (mut now, later) = out.split_at_mut(out.len().min(GROUP - in_group));
            out = later;
            at += now.len() as u64;
            let mut block = in_group / BLOCK;
            let mut first = in_group % BLOCK;
            while !now.is_empty() {
                let len = now.len().min(BLOCK - first);
                let (here, rest) = now.split_at_mut(len);
                now = rest;
                if let Some(whole) = here.first_chunk_mut::<BLOCK>() {
                    group.read_block(block, whole)?;
                } else if len < DECODE_WHOLE_BLOCK_FROM {
                    for (value, place) in here.iter_mut().zip(first..) {
                        *value = T::from_i64(group.get(block * BLOCK + place)?);
                    }
                } else {
                    group.read_block(block, &mut block_values)?;
                    here.copy_from_slice(&block_values[first..first + len]);
                }
                first = 0;
                block += 1;
            }
        }
        Ok(())
    }

    /// Fills `out` with the value at each of `indexes`, which ascend strictly; both have the same length.
    /// `decoded` is scratch space.
    pub fn gather(&self, indexes: &[u32], out: &mut [T], decoded: &mut Vec<T>) -> Result<()> {
        let (Some(&first), Some(&last)) = (indexes.first(), indexes.last()) else { return Ok(()) };
        debug_assert!(indexes.is_sorted_by(|a, b| a < b), "indexes ascend");
        if last.wrapping_sub(first) as usize == indexes.len() - 1 {
            return self.read_range(u64::from(first), out);
        }
        if u64::from(last) >= self.count {
            return Err(corrupt(u64::from(last), "a value inside the column"));
        }
        let mut at = 0;
        while at < indexes.len() {
            let number = indexes[at] / GROUP as u32;
            let len = indexes[at..].partition_point(|index| index / GROUP as u32 == number);
            let (indexes, out) = (&indexes[at..at + len], &mut out[at..at + len]);
            let group = self.group(number as usize)?;
            match len < DECODE_WHOLE_GROUP_FROM {
                true => group.gather(indexes, out)?,
                false => group.gather_many(indexes, out, decoded)?,
            }
            at += len;
        }
        Ok(())
    }
}

/// From this many wanted values per block on, decoding all 128 (about 30 ns) beats picking them (about 4 ns
/// each).
const DECODE_WHOLE_BLOCK_FROM: usize = 12;

/// From this many wanted values per group on, decoding all 4,096 (32 blocks of about 30 ns) beats sorting
/// them by block. Not measured yet.
const DECODE_WHOLE_GROUP_FROM: usize = 512;

#[inline]
fn i64_at(entry: &[u8], at: usize) -> i64 {
    entry[at..].first_chunk().map_or(0, |b| i64::from_le_bytes(*b))
}

impl Group<'_> {
    pub(crate) fn range(&self) -> (i64, i64) {
        (self.min, self.max)
    }

    pub(crate) fn block_count(&self) -> usize {
        self.block_count
    }

    /// Returns the packed bytes of a block and its width in bits.
    #[inline(always)]
    pub(super) fn block(&self, block: usize) -> Result<(&[u8], u8)> {
        let unfit = || corrupt(block as u64, "a block of values");
        let end = usize::from(u16::from_le_bytes(*self.ends.get(block).ok_or_else(unfit)?));
        let start = match block {
            0 => 0,
            _ => usize::from(u16::from_le_bytes(self.ends[block - 1])),
        };
        let bits = end.wrapping_sub(start);
        match self.packed.get(16 * start..16 * end) {
            Some(packed) if bits <= 64 => Ok((packed, bits as u8)),
            _ => Err(unfit()),
        }
    }

    /// Returns the factor of a block's residuals from its base; `None` if they are of another kind.
    pub(super) fn factor(&self) -> Option<u64> {
        (self.table.is_empty() && self.lines.is_empty()).then_some(self.factor)
    }

    /// Returns the line of a block; `None` if the group has no lines.
    #[inline]
    fn line(&self, block: usize) -> Option<BlockLine> {
        let [a, b, c, d, slope @ ..] = *self.lines.get(block)?;
        Some(BlockLine { first: u32::from_le_bytes([a, b, c, d]), slope: u32::from_le_bytes(slope) })
    }

    /// Returns what is added to a block's residuals times the factor.
    #[inline]
    pub(super) fn base(&self, block: usize) -> i64 {
        self.min.wrapping_add(number(self.minima, self.width, block).wrapping_mul(self.factor) as i64)
    }

    #[inline]
    fn table_value(&self, place: u64) -> Result<i64> {
        let value = self.table.get(place as usize).ok_or_else(|| corrupt(place, "a place in the table"))?;
        Ok(i64::from_le_bytes(*value))
    }

    #[inline]
    pub(crate) fn read_block<T: ColumnValue>(&self, block: usize, out: &mut [T; BLOCK]) -> Result<()> {
        let (packed, bits) = self.block(block)?;
        let unfit = || corrupt(block as u64, "a block of at most 64 bits a value");
        if let Some(line) = self.line(block) {
            return T::unpack_line(packed, bits, line, (self.min, self.factor), out).ok_or_else(unfit);
        }
        if self.table.is_empty() {
            return T::unpack(packed, bits, self.base(block), self.factor, out).ok_or_else(unfit);
        }
        let mut places = [0u32; BLOCK];
        let first = number(self.minima, self.width, block) as u32;
        u32::unpack(packed, bits, i64::from(first), 1, &mut places).ok_or_else(unfit)?;
        if places.iter().fold(0, |all, place| all | *place) as usize >= self.table.len().next_power_of_two() {
            return Err(corrupt(block as u64, "places in the table"));
        }
        let mut table = [T::default(); TABLE_LEN_MAX];
        for (slot, value) in table.iter_mut().zip(self.table) {
            *slot = T::from_i64(i64::from_le_bytes(*value));
        }
        for (value, place) in out.iter_mut().zip(places) {
            *value = table[place as usize % TABLE_LEN_MAX];
        }
        Ok(())
    }

    /// Reads the values at `indexes`, all of this group, block by block.
    fn gather<T: ColumnValue>(&self, indexes: &[u32], out: &mut [T]) -> Result<()> {
        let mut block_values = [T::default(); BLOCK];
        let mut at = 0;
        while at < indexes.len() {
            let block = indexes[at] / BLOCK as u32;
            let enough = indexes.get(at + DECODE_WHOLE_BLOCK_FROM - 1);
            if enough.is_some_and(|index| index / BLOCK as u32 == block) {
                self.read_block(block as usize % BLOCKS_PER_GROUP, &mut block_values)?;
                for (value, index) in out[at..].iter_mut().zip(&indexes[at..]) {
                    if index / BLOCK as u32 != block {
                        break;
                    }
                    *value = block_values[*index as usize % BLOCK];
                    at += 1;
                }
            } else {
                while at < indexes.len() && indexes[at] / BLOCK as u32 == block {
                    out[at] = T::from_i64(self.get(indexes[at] as usize % GROUP)?);
                    at += 1;
                }
            }
        }
        Ok(())
    }

    /// Does the same as [`Group::gather`], for when most blocks are wanted.
    fn gather_many<T: ColumnValue>(
        &self,
        indexes: &[u32],
        out: &mut [T],
        decoded: &mut Vec<T>,
    ) -> Result<()> {
        decoded.resize(GROUP, T::default());
        for (block, values) in
            decoded.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate().take(self.block_count)
        {
            self.read_block(block, values)?;
        }
        if let Some(decoded) = decoded.first_chunk::<GROUP>() {
            let value = |index: &u32| decoded[*index as usize % GROUP];
            out.iter_mut().zip(indexes).for_each(|(out, index)| *out = value(index));
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn block_range(&self, block: usize) -> Result<(i64, i64)> {
        if block >= self.block_count {
            return Err(corrupt(block as u64, "a block inside the group"));
        }
        let (min, max) = (number(self.minima, self.width, block), number(self.maxima, self.width, block));
        if self.table.is_empty() {
            let value = |place: u64| self.min.wrapping_add(place.wrapping_mul(self.factor) as i64);
            Ok((value(min), value(max)))
        } else {
            Ok((self.table_value(min)?, self.table_value(max)?))
        }
    }

    /// Returns value `index` of the group.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Result<i64> {
        let block = index / BLOCK;
        let (packed, bits) = self.block(block)?;
        let residual = column_block::get(packed, bits, index % BLOCK)
            .ok_or_else(|| corrupt(index as u64, "a block of at most 64 bits a value"))?;
        if let Some(line) = self.line(block) {
            let place = line.at(index % BLOCK).wrapping_add(residual as u32);
            Ok(self.min.wrapping_add(u64::from(place).wrapping_mul(self.factor) as i64))
        } else if self.table.is_empty() {
            Ok(self.base(block).wrapping_add(residual.wrapping_mul(self.factor) as i64))
        } else {
            self.table_value(number(self.minima, self.width, block) + residual)
        }
    }
}
