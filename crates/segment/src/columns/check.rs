//! `limber check` for a column: decodes every value and compares every summary with the values.

use super::column::{Cardinality, Column};
use super::format::{BLOCK, GROUP};
use super::packed::{ColumnValue, Packed, corrupt};
use crate::Result;

impl<T: ColumnValue> Column<'_, T> {
    /// Verifies structure and summaries. `value_end` is an exclusive upper bound of the values (for
    /// ordinals, the length of the dictionary).
    pub fn check(&self, value_end: Option<u64>) -> Result<()> {
        let (values, offsets, docs) = self.parts();
        let (min, max, sorted) = check_packed(values)?;
        if values.count() > 0
            && (self.min().map(T::to_i64), self.max().map(T::to_i64)) != (Some(min), Some(max))
        {
            return Err(corrupt(0, "the smallest and largest value"));
        }
        if sorted != self.is_sorted() {
            return Err(corrupt(0, "the order of values the footer says"));
        }
        if value_end.is_some_and(|end| values.count() > 0 && (min < 0 || max as u64 >= end)) {
            return Err(corrupt(0, "ordinals inside the dictionary"));
        }
        if let Some(set) = docs {
            set.check()?;
            if set.count()? != self.doc_count_with_value() {
                return Err(corrupt(0, "the count of documents with a value"));
            }
        }
        if let Some(offsets) = offsets {
            check_packed(offsets)?;
            let mut all = vec![0; offsets.count() as usize];
            offsets.read_range(0, &mut all)?;
            let ends = (all.first().copied(), all.last().copied());
            let ascend = all.windows(2).all(|pair| pair[0] < pair[1]);
            if !ascend || ends != (Some(0), Some(values.count() as i64)) {
                return Err(corrupt(0, "offsets that ascend from 0 to the count of values"));
            }
        }
        if self.cardinality() == Cardinality::Multi {
            self.check_order_within_docs()?;
        }
        Ok(())
    }

    fn check_order_within_docs(&self) -> Result<()> {
        let (values, offsets, _) = self.parts();
        let Some(offsets) = offsets else { return Ok(()) };
        let (mut all, mut of_doc) = (vec![0; offsets.count() as usize], Vec::new());
        offsets.read_range(0, &mut all)?;
        for pair in all.windows(2) {
            of_doc.resize((pair[1] - pair[0]) as usize, T::default());
            values.read_range(pair[0] as u64, &mut of_doc)?;
            if !of_doc.is_sorted() {
                return Err(corrupt(pair[0] as u64, "ascending values of a document"));
            }
        }
        Ok(())
    }
}

/// Verifies block and group summaries; returns (smallest, largest, never descending) of all values.
fn check_packed<T: ColumnValue>(values: &Packed<'_, T>) -> Result<(i64, i64, bool)> {
    let (mut min, mut max, mut sorted, mut last) = (i64::MAX, i64::MIN, true, i64::MIN);
    let mut block_values = [T::default(); BLOCK];
    for number in 0..values.group_count() {
        let group = values.group(number)?;
        let (mut group_min, mut group_max) = (i64::MAX, i64::MIN);
        for block in 0..group.block_count() {
            group.read_block(block, &mut block_values)?;
            let len = values.block_len((number * GROUP / BLOCK + block) as u64);
            let (mut block_min, mut block_max) = (i64::MAX, i64::MIN);
            for value in &block_values[..len] {
                let value = value.to_i64();
                (block_min, block_max) = (block_min.min(value), block_max.max(value));
                sorted &= value >= last;
                last = value;
            }
            if group.block_range(block)? != (block_min, block_max) {
                return Err(corrupt((number * GROUP) as u64, "the smallest and largest value of a block"));
            }
            (group_min, group_max) = (group_min.min(block_min), group_max.max(block_max));
        }
        if group.range() != (group_min, group_max) {
            return Err(corrupt((number * GROUP) as u64, "the smallest and largest value of a group"));
        }
        (min, max) = (min.min(group_min), max.max(group_max));
    }
    Ok((min, max, sorted))
}
