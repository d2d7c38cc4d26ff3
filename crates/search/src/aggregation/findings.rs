//! The findings of a collector for a part of a shard, before they are merged with those of other parts.
//!
//! Parts of a shard are searched in parallel, each by its own collectors
//! ([`super::Collector::take_findings`]). Afterwards the collector of the whole shard
//! [absorbs](super::Collector::absorb) the findings, and continues as if it had seen all documents itself. So
//! the result of a shard, including which buckets it leaves out, does not depend on how the shard was
//! divided.

use super::answer::partial::Partial;
use super::bucket::{AutoDateFindings, CombinedFindings};
use super::buckets::bucket_table::BucketTable;
use super::metric::{Counted, MetricFindings, Sketch, TopHitsBest, WeightedSums};
use super::terms::{MultiFindings, TermPool, TermsFindings};

/// Findings by parent bucket; buckets have the ordinals of the collectors that made the findings.
#[derive(Debug)]
pub enum Findings {
    /// There are none, because the aggregation sees no documents.
    Nothing,
    Metric(Box<MetricFindings>),
    Weighted(Vec<WeightedSums>),
    /// Counted values of one bucket.
    Counted(Box<Counted>),
    /// The finding in each bucket, in the form in which shards are reduced.
    Own(Vec<Partial>),
    /// The best hits.
    Hits(Vec<TopHitsBest>),
    Sketches(Vec<Option<Box<Sketch>>>),
    /// A fixed number of buckets for each parent, such as ranges and filters: the document counts, and the
    /// findings of the sub-aggregations.
    Fixed(Vec<u64>, Vec<Findings>),
    /// Buckets by key.
    Keyed(Box<BucketTable>, Vec<Findings>),
    /// Buckets by key, and sorted numbers that are still to be counted.
    Numbers(Box<BucketTable>, Vec<i64>, Vec<Findings>),
    Terms(Box<TermsFindings>),
    /// Buckets by the numbers of their terms in the pool.
    Computed(Box<(BucketTable, TermPool)>, Vec<Findings>),
    /// The buckets of an `auto_date_histogram`, and the rung that each parent has reached.
    AutoDate(Box<AutoDateFindings>),
    Combined(Box<CombinedFindings>),
    Multi(Box<MultiFindings>),
}

/// Adds counts of `width` buckets for each parent; parent `p` is `bucket_of[p]` in `counts`. Returns the
/// bucket in `counts` for each of the other's buckets.
pub fn absorb_fixed(counts: &mut Vec<u64>, other: &[u64], width: usize, bucket_of: &[u32]) -> Vec<u32> {
    let own = |bucket: usize| bucket_of[bucket / width] as usize * width + bucket % width;
    let buckets: Vec<u32> = (0..other.len()).map(|bucket| own(bucket) as u32).collect();
    let most = buckets.iter().copied().max().map_or(0, |most| most as usize + 1);
    counts.resize(most.max(counts.len()), 0);
    buckets.iter().zip(other).for_each(|(&bucket, count)| counts[bucket as usize] += count);
    buckets
}
