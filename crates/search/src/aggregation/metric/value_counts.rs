//! Counts how often each value occurs, for fields whose values are mostly within a small range, such as
//! amounts, sizes, durations and ratings.
//!
//! Counting is an increment in a table, whereas a digest sorts and merges. Counts are exact and do not depend
//! on the order of documents. Digests and HDR histograms are made from them at the end.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use super::super::bucket::stored_range;
use super::super::buckets::entries::{Entries, Values, check_table};
use super::super::budget::Budget;
use super::super::source::Source;
use crate::context::ShardSnapshot;
use crate::error::Result;

/// Largest number of slots of a bucket: 256 KiB of counters fit in the second-level cache.
const WIDTH_MAX: u64 = 1 << 16;

/// Largest number of slots of all buckets, which take 16 MiB.
const SLOTS_MAX: usize = 1 << 22;

/// The number of blocks of a column that are sampled to find the range of most values, and how many out of
/// four must be entirely within it.
const BLOCKS_ASKED: u64 = 64;
const BLOCKS_INSIDE_OF_FOUR: usize = 3;

/// Estimated bytes of a value without a slot.
const OTHER_BYTES: u64 = 48;

/// The counts by bucket and value.
#[derive(Debug)]
pub struct ValueCounts<'s> {
    /// The value of the first slot of each bucket.
    first: i64,
    /// Number of slots of a bucket; 0 if values are not counted.
    width: usize,
    counts: Counted,
    budget: &'s Budget,
}

/// The counts.
#[derive(Debug, Default)]
pub struct Counted {
    /// The counts at `bucket * width + value - first`.
    slots: Vec<u32>,
    /// The counts of values that have no slot.
    others: HashMap<(u32, i64), u64, FixedState>,
}

impl<'s> ValueCounts<'s> {
    pub(crate) fn new(source: &Source, shard: &ShardSnapshot, budget: &'s Budget) -> Result<ValueCounts<'s>> {
        let (first, width) = span_of_most(source, shard, WIDTH_MAX)?.unwrap_or((0, 0));
        Ok(ValueCounts { first, width, counts: Counted::default(), budget })
    }

    /// Whether the values of a single bucket can be counted.
    pub fn takes_one(&self) -> bool {
        self.width > 0
    }

    /// Makes slots for the buckets of a batch. Returns false if values are not counted or if there are too
    /// many buckets.
    pub fn takes(&mut self, bucket_count: usize) -> Result<bool> {
        let wanted = self.width.saturating_mul(bucket_count);
        if self.width == 0 || wanted > SLOTS_MAX {
            return Ok(false);
        }
        let slots = &mut self.counts.slots;
        if wanted > slots.len() {
            let len = wanted.max(slots.len() * 2).min(SLOTS_MAX) / self.width * self.width;
            self.budget.spend((len - slots.len()) as u64 * 4)?;
            slots.resize(len, 0);
        }
        Ok(true)
    }

    /// Counts the values of a batch.
    pub fn add(
        &mut self,
        values: &Values<'_, i64>,
        entries: &Entries<'_>,
        starts: &mut Vec<u32>,
    ) -> Result<()> {
        let (first, width) = (self.first, self.width);
        let Counted { slots, others } = &mut self.counts;
        let mut add = |bucket: u32, value: i64| {
            let place = value.wrapping_sub(first) as u64;
            if place < width as u64 {
                slots[bucket as usize * width + place as usize] += 1;
                return Ok(());
            }
            check_table(others)?;
            let before = others.len();
            *others.entry((bucket, value)).or_default() += 1;
            match others.len() > before {
                true => self.budget.spend(OTHER_BYTES),
                false => Ok(()),
            }
        };
        match entries.only_bucket() {
            Some(bucket) => values.values.iter().try_for_each(|&value| add(bucket, value)),
            None => values.try_join(entries, starts, |_, bucket, value| add(bucket, value)),
        }
    }

    /// Takes the counts.
    pub fn take(&mut self) -> Counted {
        std::mem::take(&mut self.counts)
    }

    /// Adds the counts of another collector, to the first bucket.
    pub fn absorb(&mut self, other: Counted) -> Result<()> {
        if self.counts.slots.is_empty() {
            self.budget.spend(other.slots.len() as u64 * 4)?;
            self.counts.slots = other.slots;
        } else {
            self.counts.slots.iter_mut().zip(&other.slots).for_each(|(own, more)| *own += more);
        }
        let before = self.counts.others.len();
        for (key, count) in other.others {
            *self.counts.others.entry(key).or_default() += count;
        }
        self.budget.spend((self.counts.others.len() - before) as u64 * OTHER_BYTES)
    }

    /// Takes the counts bucket by bucket, as ascending values with their counts. Buckets without values are
    /// skipped.
    pub fn each(&mut self, mut visit: impl FnMut(u32, &[(i64, u64)]) -> Result<()>) -> Result<()> {
        let Counted { slots, others } = self.take();
        let mut others: Vec<((u32, i64), u64)> = others.into_iter().collect();
        others.sort_unstable();
        let mut others = others.as_slice();
        let buckets = (0u32..).zip(slots.chunks_exact(self.width.max(1)));
        let mut counted: Vec<(i64, u64)> = Vec::new();
        for (bucket, row) in buckets {
            let (own, rest) = others.split_at(others.partition_point(|((of, _), _)| *of == bucket));
            others = rest;
            let (below, above) = own.split_at(own.partition_point(|((_, value), _)| *value < self.first));
            let with_count = |other: &((u32, i64), u64)| (other.0.1, other.1);
            counted.clear();
            counted.extend(below.iter().map(with_count));
            let slots = (self.first..).zip(row).filter(|(_, count)| **count > 0);
            counted.extend(slots.map(|(value, &count)| (value, u64::from(count))));
            counted.extend(above.iter().map(with_count));
            if !counted.is_empty() {
                visit(bucket, &counted)?;
            }
        }
        Ok(())
    }
}

/// Returns the first value and the number of values of a range of at most `width_max` values that
/// contains most values of the shard.
/// Only the bounds of blocks are used, so that the result is the same for every part of the shard.
pub(super) fn span_of_most(
    source: &Source,
    shard: &ShardSnapshot,
    width_max: u64,
) -> Result<Option<(i64, usize)>> {
    if !source.is_column() || !source.is_numeric() || source.resolution().per_milli() != 1 {
        return Ok(None);
    }
    let Some((least, most)) = stored_range(source, shard, source.missing_number()?)? else { return Ok(None) };
    if most.abs_diff(least) < width_max {
        return Ok(Some((least, most.abs_diff(least) as usize + 1)));
    }
    let mut ranges = Vec::new();
    for view in &shard.segments {
        let Some(column) = view.segment.numbers(source.path())? else { continue };
        let count = column.block_count();
        for number in 0..BLOCKS_ASKED.min(count) {
            ranges.push(column.block_range(number * count / BLOCKS_ASKED.min(count))?);
        }
    }
    ranges.sort_unstable();
    let Some(&(middle, _)) = ranges.get(ranges.len() / 2) else { return Ok(None) };
    let first = middle.saturating_sub((width_max / 8) as i64);
    let is_inside =
        |(min, max): &&(i64, i64)| *min >= first && max.abs_diff(first) < width_max && *max >= first;
    let inside = ranges.iter().filter(is_inside).count();
    Ok((inside * 4 >= ranges.len() * BLOCKS_INSIDE_OF_FOUR).then_some((first, width_max as usize)))
}
