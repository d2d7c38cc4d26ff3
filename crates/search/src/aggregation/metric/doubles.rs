//! Statistics in doubles by bucket, with compensated sums.

use super::super::budget::Budget;
use super::super::values::kahan::KahanSum;
use super::exact_stats::Wanted;
use crate::error::Result;

/// Statistics in doubles by bucket, and the counts of values that are only counted.
#[derive(Debug, Default)]
pub(super) struct Doubles {
    pub counts: Vec<u64>,
    pub sums: Vec<KahanSum>,
    pub squares: Vec<KahanSum>,
    pub ranges: Vec<(f64, f64)>,
    /// The values of the current batch.
    pub values: Vec<f64>,
}

/// Bytes of one bucket's state in the largest metric.
const BUCKET_BYTES: u64 = 56;

impl Doubles {
    /// Adds empty buckets up to this number, and charges them.
    pub fn grow(&mut self, bucket_count: usize, wanted: Wanted, budget: &Budget) -> Result<()> {
        if bucket_count <= self.counts.len() {
            return Ok(());
        }
        budget.spend((bucket_count - self.counts.len()) as u64 * BUCKET_BYTES)?;
        self.counts.resize(bucket_count, 0);
        if wanted.sum {
            self.sums.resize(bucket_count, KahanSum::default());
        }
        if wanted.squares {
            self.squares.resize(bucket_count, KahanSum::default());
        }
        if wanted.range() {
            self.ranges.resize(bucket_count, (f64::INFINITY, f64::NEG_INFINITY));
        }
        Ok(())
    }

    /// Adds the values of the batch to one bucket.
    pub fn add_all(&mut self, bucket: usize) {
        self.counts[bucket] += self.values.len() as u64;
        if let Some(sum) = self.sums.get_mut(bucket) {
            sum.add_all(&self.values);
        }
        if let Some((least, most)) = self.ranges.get_mut(bucket) {
            *least = self.values.iter().copied().fold(*least, f64::min);
            *most = self.values.iter().copied().fold(*most, f64::max);
        }
        if let Some(squares) = self.squares.get_mut(bucket) {
            self.values.iter_mut().for_each(|value| *value *= *value);
            squares.add_all(&self.values);
        }
    }

    /// Adds the buckets of `other`, whose bucket `b` is `bucket_of[b]` here.
    pub fn absorb(&mut self, other: &Doubles, bucket_of: &[u32]) {
        for (bucket, &own) in bucket_of.iter().enumerate().take(other.counts.len()) {
            let own = own as usize;
            self.counts[own] += other.counts[bucket];
            if let Some(sum) = self.sums.get_mut(own) {
                sum.add_sum(&other.sums[bucket]);
            }
            if let Some(squares) = self.squares.get_mut(own) {
                squares.add_sum(&other.squares[bucket]);
            }
            if let Some(range) = self.ranges.get_mut(own) {
                *range = (range.0.min(other.ranges[bucket].0), range.1.max(other.ranges[bucket].1));
            }
        }
    }

    /// Adds a value to a bucket.
    #[inline]
    pub fn add(&mut self, bucket: usize, value: f64) {
        self.counts[bucket] += 1;
        if let Some(sum) = self.sums.get_mut(bucket) {
            sum.add(value);
        }
        if let Some(range) = self.ranges.get_mut(bucket) {
            *range = (range.0.min(value), range.1.max(value));
        }
        if let Some(squares) = self.squares.get_mut(bucket) {
            squares.add(value * value);
        }
    }
}
