//! Writes values as a packed list, each group in its smallest form. Layout: [`super::format`].

use limber_codec::column_block::{bits_for, bounds, pack};

use super::divisor::{Divisor, common_divisor};
use super::format::{BLOCK, GROUP, KIND_FRAME, KIND_LINES, KIND_TABLE, TABLE_LEN_MAX};
use super::lines::Lines;
use crate::{Result, Sink};

/// Writes each group when it is full; holds one group of values and the directory (40 bytes per 4,096
/// values).
pub struct PackedWriter {
    group: Vec<i64>,
    directory: Vec<u8>,
    body: Vec<u8>,
    /// Smallest and largest value of each block of the group being written.
    bounds: Vec<(i64, i64)>,
    body_len: u64,
    count: u64,
    min: i64,
    max: i64,
    /// Whether values never descend.
    sorted: bool,
    last: i64,
}

/// Summary of what was written.
#[derive(Debug, Clone, Copy)]
pub struct PackedSummary {
    pub body_len: u64,
    pub len: u64,
    pub min: i64,
    pub max: i64,
    pub sorted: bool,
}

impl Default for PackedWriter {
    fn default() -> PackedWriter {
        PackedWriter {
            group: Vec::with_capacity(GROUP),
            directory: Vec::new(),
            body: Vec::new(),
            bounds: Vec::new(),
            body_len: 0,
            count: 0,
            min: i64::MAX,
            max: i64::MIN,
            sorted: true,
            last: i64::MIN,
        }
    }
}

impl PackedWriter {
    pub(crate) fn count(&self) -> u64 {
        self.count + self.group.len() as u64
    }

    #[inline]
    pub(crate) fn push(&mut self, value: i64, sink: &mut impl Sink) -> Result<()> {
        self.group.push(value);
        if self.group.len() == GROUP {
            self.write_group(sink)?;
        }
        Ok(())
    }

    pub(crate) fn extend(&mut self, mut values: &[i64], sink: &mut impl Sink) -> Result<()> {
        while !values.is_empty() {
            let (now, later) = values.split_at(values.len().min(GROUP - self.group.len()));
            self.group.extend_from_slice(now);
            values = later;
            if self.group.len() == GROUP {
                self.write_group(sink)?;
            }
        }
        Ok(())
    }

    /// Writes the last group and the directory.
    pub fn finish(mut self, sink: &mut impl Sink) -> Result<PackedSummary> {
        if !self.group.is_empty() {
            self.write_group(sink)?;
        }
        sink.append(&self.directory)?;
        Ok(PackedSummary {
            body_len: self.body_len,
            len: self.body_len + self.directory.len() as u64,
            min: if self.count == 0 { 0 } else { self.min },
            max: if self.count == 0 { 0 } else { self.max },
            sorted: self.sorted,
        })
    }

    fn write_group(&mut self, sink: &mut impl Sink) -> Result<()> {
        let values = &self.group;
        self.bounds.clear();
        self.bounds.extend(values.chunks(BLOCK).map(bounds));
        let (mut min, mut max) = (i64::MAX, i64::MIN);
        for (least, greatest) in &self.bounds {
            min = min.min(*least);
            max = max.max(*greatest);
        }
        if self.sorted {
            self.sorted = values[0] >= self.last && values.is_sorted();
            self.last = values[values.len() - 1];
        }
        if min == max {
            return self.write_equal_group(min, sink);
        }
        let factor = common_divisor(values.iter().copied(), min);
        let divisor = Divisor::new(factor);
        let residual = |value: i64| divisor.divide(value.wrapping_sub(min) as u64);
        let frame = Blocks::new(&self.bounds, residual);
        let table = if frame.bits > 3 * values.len() { distinct(values) } else { None };
        let place = |table: &[i64], value: i64| table.partition_point(|&t| t < value) as u64;
        let tabled = table.map(|table| (Blocks::new(&self.bounds, |value| place(&table, value)), table));
        self.body.clear();
        let out = &mut self.body;
        let lines = Lines::of(values, (min, max), frame.bits, residual);
        let (kind, factor, table_len, width) = match (tabled, lines) {
            (Some((blocks, table)), _) if blocks.bits + 64 * table.len() <= frame.bits / 4 * 3 => {
                let width = blocks.write(values, |value| place(&table, value), &table, out);
                (KIND_TABLE, 1, table.len() as u16, width)
            }
            (_, Some(lines)) => {
                let width = frame.write_head(|block| lines.bits(block), &[], out);
                lines.write(values, residual, out);
                (KIND_LINES, factor, 0, width)
            }
            _ if factor == 1 => {
                let width = frame.write(values, |value| value.wrapping_sub(min) as u64, &[], out);
                (KIND_FRAME, factor, 0, width)
            }
            _ => (KIND_FRAME, factor, 0, frame.write(values, residual, &[], out)),
        };
        self.end_group(min, max, GroupHead { factor, kind, width, table_len }, sink)
    }

    /// Writes a group of equal values (`_version`, flags): a frame whose blocks are empty, without looking
    /// at each block.
    fn write_equal_group(&mut self, value: i64, sink: &mut impl Sink) -> Result<()> {
        self.body.clear();
        self.body.resize(2 * self.group.len().div_ceil(BLOCK), 0);
        let head = GroupHead { factor: 1, kind: KIND_FRAME, width: 0, table_len: 0 };
        self.end_group(value, value, head, sink)
    }

    /// Writes `body` and its directory entry, then starts the next group.
    fn end_group(&mut self, min: i64, max: i64, head: GroupHead, sink: &mut impl Sink) -> Result<()> {
        self.directory.extend_from_slice(&self.body_len.to_le_bytes());
        self.directory.extend_from_slice(&min.to_le_bytes());
        self.directory.extend_from_slice(&max.to_le_bytes());
        self.directory.extend_from_slice(&head.factor.to_le_bytes());
        self.directory.extend_from_slice(&[head.kind, head.width]);
        self.directory.extend_from_slice(&head.table_len.to_le_bytes());
        self.directory.extend_from_slice(&[0; 4]);
        sink.append(&self.body)?;
        self.body_len += self.body.len() as u64;
        self.count += self.group.len() as u64;
        self.min = self.min.min(min);
        self.max = self.max.max(max);
        self.group.clear();
        Ok(())
    }
}

/// What a group's directory entry contains besides its bounds.
struct GroupHead {
    factor: u64,
    kind: u8,
    width: u8,
    table_len: u16,
}

/// The blocks of a group, before they are written.
struct Blocks {
    /// Smallest and largest packed number of each block.
    ranges: Vec<(u64, u64)>,
    /// Total bits of all packed blocks.
    bits: usize,
}

impl Blocks {
    /// `bounds` is the smallest and largest value of each block. `place` returns the number that is packed
    /// for a value; these numbers ascend like the values.
    fn new(bounds: &[(i64, i64)], place: impl Fn(i64) -> u64) -> Blocks {
        let ranges: Vec<(u64, u64)> = bounds.iter().map(|(min, max)| (place(*min), place(*max))).collect();
        let bits = ranges.iter().map(|(min, max)| BLOCK * usize::from(bits_for(max - min))).sum();
        Blocks { ranges, bits }
    }

    /// Appends the group's body; returns the width in bytes of a block's minimum and maximum.
    fn write(&self, values: &[i64], place: impl Fn(i64) -> u64, table: &[i64], out: &mut Vec<u8>) -> u8 {
        let bits_of = |block: usize| bits_for(self.ranges[block].1 - self.ranges[block].0);
        let width = self.write_head(bits_of, table, out);
        for (chunk, (min, max)) in values.chunks(BLOCK).zip(&self.ranges).filter(|(_, (min, max))| min < max)
        {
            let residuals = match <&[i64; BLOCK]>::try_from(chunk) {
                Ok(block) => block.map(|value| place(value) - min),
                Err(_) => std::array::from_fn(|i| place(*chunk.get(i).unwrap_or(&chunk[0])) - min),
            };
            pack(&residuals, bits_for(max - min), out);
        }
        width
    }

    /// Appends what precedes the packed blocks, which have so many bits; returns the width of minimum and
    /// maximum.
    fn write_head(&self, bits_of: impl Fn(usize) -> u8, table: &[i64], out: &mut Vec<u8>) -> u8 {
        let mut end = 0u16;
        for block in 0..self.ranges.len() {
            end += u16::from(bits_of(block));
            out.extend_from_slice(&end.to_le_bytes());
        }
        for value in table {
            out.extend_from_slice(&value.to_le_bytes());
        }
        let widest = self.ranges.iter().map(|(_, max)| *max).max().unwrap_or(0);
        let width = match widest {
            0 => 0,
            1..=0xff => 1,
            0x100..=0xffff => 2,
            0x1_0000..=0xffff_ffff => 4,
            _ => 8u8,
        };
        for (min, _) in &self.ranges {
            out.extend_from_slice(&min.to_le_bytes()[..usize::from(width)]);
        }
        for (_, max) in &self.ranges {
            out.extend_from_slice(&max.to_le_bytes()[..usize::from(width)]);
        }
        width
    }
}

/// Returns the distinct values of a group, at most [`TABLE_LEN_MAX`]; `None` if there are more.
fn distinct(values: &[i64]) -> Option<Vec<i64>> {
    const SLOTS: usize = 256;
    let mut slots = [(0i64, false); SLOTS];
    let mut table = Vec::with_capacity(TABLE_LEN_MAX);
    let mut last = None;
    for &value in values {
        if last == Some(value) {
            continue;
        }
        last = Some(value);
        let mut slot = slot_of(value);
        while slots[slot].1 && slots[slot].0 != value {
            slot = (slot + 1) % SLOTS;
        }
        if !slots[slot].1 {
            if table.len() == TABLE_LEN_MAX {
                return None;
            }
            slots[slot] = (value, true);
            table.push(value);
        }
    }
    table.sort_unstable();
    Some(table)
}

fn slot_of(value: i64) -> usize {
    ((value as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize
}
