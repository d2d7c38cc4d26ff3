//! What a collector found in a part of a shard, on its way to the one that puts the parts together.
//!
//! Parts are searched side by side, each by collectors of its own ([`super::Collector::take_findings`]); one
//! that stands for the whole shard [absorbs](super::Collector::absorb) them afterwards, and goes on as if it
//! had seen all documents itself. So a shard's answer, what it hands in and what it leaves out included, does
//! not depend on how the shard was cut.

use super::answer::partial::Partial;
use super::bucket::{AutoDateFindings, CombinedFindings};
use super::buckets::bucket_table::BucketTable;
use super::metric::{Counted, MetricFindings, Sketch, TopHitsBest, WeightedSums};
use super::terms::{MultiFindings, TermsFindings};

/// Findings by bucket of the parent, in the numbers of the collectors that made them.
#[derive(Debug)]
pub enum Findings {
    /// Sees no documents.
    Nothing,
    Metric(Box<MetricFindings>),
    Weighted(Vec<WeightedSums>),
    /// Of one bucket.
    Counted(Box<Counted>),
    /// What each bucket came to, in the form in which shards are put together.
    Own(Vec<Partial>),
    /// The best hits.
    Hits(Vec<TopHitsBest>),
    Sketches(Vec<Option<Box<Sketch>>>),
    /// As many buckets for each parent as there are ranges, filters and so on: documents of each, and what is
    /// below.
    Fixed(Vec<u64>, Vec<Findings>),
    /// Buckets by key.
    Keyed(Box<BucketTable>, Vec<Findings>),
    /// As those, and sorted numbers that are still to be counted.
    Numbers(Box<BucketTable>, Vec<i64>, Vec<Findings>),
    Terms(Box<TermsFindings>),
    /// Buckets by the combination of several keys.
    AutoDate(Box<AutoDateFindings>),
    Combined(Box<CombinedFindings>),
    Multi(Box<MultiFindings>),
}

/// Adds counts of `width` buckets for each parent; parent `p` is `bucket_of[p]` in `counts`. Answers what
/// each bucket is there.
pub fn absorb_fixed(counts: &mut Vec<u64>, other: &[u64], width: usize, bucket_of: &[u32]) -> Vec<u32> {
    let own = |bucket: usize| bucket_of[bucket / width] as usize * width + bucket % width;
    let buckets: Vec<u32> = (0..other.len()).map(|bucket| own(bucket) as u32).collect();
    let most = buckets.iter().copied().max().map_or(0, |most| most as usize + 1);
    counts.resize(most.max(counts.len()), 0);
    buckets.iter().zip(other).for_each(|(&bucket, count)| counts[bucket as usize] += count);
    buckets
}
