//! Values to a packed list: "take these values in order; write each group in its smallest form". Layout: [`super::format`].

use limber_codec::column_block::{bits_for, pack};

use super::format::{BLOCK, GROUP, KIND_FRAME, KIND_TABLE};
use super::packed::distinct;
use crate::{Result, Sink};

/// Writes groups as they fill; holds one group of values and the directory (40 bytes per 4,096 values).
pub struct PackedWriter {
    group: Vec<i64>,
    directory: Vec<u8>,
    body: Vec<u8>,
    body_len: u64,
    count: u64,
    min: i64,
    max: i64,
    /// Values never descend.
    sorted: bool,
    last: i64,
}

/// What was written.
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
    pub fn count(&self) -> u64 {
        self.count + self.group.len() as u64
    }

    #[inline]
    pub fn push(&mut self, value: i64, sink: &mut impl Sink) -> Result<()> {
        self.group.push(value);
        if self.group.len() == GROUP {
            self.write_group(sink)?;
        }
        Ok(())
    }

    pub fn extend(&mut self, mut values: &[i64], sink: &mut impl Sink) -> Result<()> {
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
        let (mut min, mut max) = (i64::MAX, i64::MIN);
        for &value in values {
            min = min.min(value);
            max = max.max(value);
        }
        if self.sorted {
            self.sorted = values[0] >= self.last && values.is_sorted();
            self.last = values[values.len() - 1];
        }
        if min == max {
            return self.write_equal_group(min, sink);
        }
        let factor = common_divisor(values, min);
        let mut frame = Blocks::default();
        match factor {
            1 => frame.residuals(values, |value| value.wrapping_sub(min) as u64),
            _ => frame.residuals(values, |value| (value.wrapping_sub(min) as u64) / factor),
        }
        let table = if frame.bits > 3 * values.len() { distinct(values) } else { None };
        let tabled = table.map(|table| {
            let mut blocks = Blocks::default();
            blocks.residuals(values, |value| table.partition_point(|&t| t < value) as u64);
            (table, blocks)
        });
        self.body.clear();
        let (kind, factor, table_len, width) = match tabled {
            Some((table, blocks)) if blocks.bits + 64 * table.len() <= frame.bits / 4 * 3 => {
                let width = blocks.write(&table, &mut self.body);
                (KIND_TABLE, 1, table.len() as u16, width)
            }
            _ => (KIND_FRAME, factor, 0, frame.write(&[], &mut self.body)),
        };
        self.end_group(min, max, GroupHead { factor, kind, width, table_len }, sink)
    }

    /// A group of one value many times (`_version`, flags): a frame whose blocks are empty, without a look at each block.
    fn write_equal_group(&mut self, value: i64, sink: &mut impl Sink) -> Result<()> {
        self.body.clear();
        self.body.resize(2 * self.group.len().div_ceil(BLOCK), 0);
        let head = GroupHead { factor: 1, kind: KIND_FRAME, width: 0, table_len: 0 };
        self.end_group(value, value, head, sink)
    }

    /// Writes `body` and its directory entry, and starts the next group.
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

/// What a group's directory entry says beside its bounds.
struct GroupHead {
    factor: u64,
    kind: u8,
    width: u8,
    table_len: u16,
}

/// The blocks of a group as unsigned places, before they are written.
#[derive(Default)]
struct Blocks {
    places: Vec<[u64; BLOCK]>,
    ranges: Vec<(u64, u64)>,
    /// Of all packed blocks together.
    bits: usize,
}

impl Blocks {
    fn residuals(&mut self, values: &[i64], place: impl Fn(i64) -> u64) {
        for chunk in values.chunks(BLOCK) {
            let mut places = [place(chunk[0]); BLOCK];
            let (mut min, mut max) = (u64::MAX, 0);
            for (slot, value) in places.iter_mut().zip(chunk) {
                *slot = place(*value);
                min = min.min(*slot);
                max = max.max(*slot);
            }
            places.iter_mut().for_each(|place| *place -= min);
            self.bits += BLOCK * usize::from(bits_for(max - min));
            self.places.push(places);
            self.ranges.push((min, max));
        }
    }

    /// Appends the group's body; the width of a block's minimum and maximum in bytes.
    fn write(&self, table: &[i64], out: &mut Vec<u8>) -> u8 {
        let mut end = 0u16;
        for (min, max) in &self.ranges {
            end += u16::from(bits_for(max - min));
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
        for (places, (min, max)) in self.places.iter().zip(&self.ranges) {
            pack(places, bits_for(max - min), out);
        }
        width
    }
}

/// Greatest common divisor of `value - min` over all values; 1 when all are equal.
fn common_divisor(values: &[i64], min: i64) -> u64 {
    let mut divisor = 0u64;
    for value in values {
        let distance = value.wrapping_sub(min) as u64;
        // Mostly the divisor found so far still fits: one division, no loop.
        if distance != 0 && (divisor == 0 || !distance.is_multiple_of(divisor)) {
            divisor = gcd(divisor, distance);
            if divisor == 1 {
                break;
            }
        }
    }
    divisor.max(1)
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
