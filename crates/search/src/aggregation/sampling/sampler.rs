//! `sampler`: the best-scoring documents of every shard. Source: Elasticsearch's `SamplerAggregationBuilder`,
//! `SamplerAggregator`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use limber_mapping::RequestError;
use limber_segment::SegmentView;

use super::super::answer::members::Members;
use super::super::answer::partial::{Bucket, Partial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::bucket::single_partials;
use super::super::buckets::entries::Entries;
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::Options;
use super::super::tree::{Aggregation, Kind};
use super::best::{Ranked, Segments, each, keep, replay};
use crate::error::Result;

/// The default number of documents that are collected on a shard. Source:
/// `SamplerAggregationBuilder#DEFAULT_SHARD_SAMPLE_SIZE`.
pub const SHARD_SIZE: i32 = 100;

/// The options of a `sampler`: how many of the best documents of each shard are collected.
#[derive(Debug, Clone)]
pub struct Sampler {
    shard_size: i32,
}

impl Sampler {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let shard_size = match options.is_number("shard_size") {
            true => options.int("shard_size")?.unwrap_or(SHARD_SIZE),
            // A value that is not a number is reported as an unknown property.
            false => SHARD_SIZE,
        };
        match options.first_left() {
            Some(option) => Err(RequestError::parsing(format!(
                "Unsupported property \"{option}\" for aggregation \"{}",
                options.name
            ))),
            None => Ok(Kind::own(Sampler { shard_size })),
        }
    }
}

/// Refuses a sampler without sub-aggregations.
pub fn check_subs(own: &Aggregation) -> std::result::Result<(), RequestError> {
    match own.subs.is_empty() {
        true => {
            Err(RequestError::illegal_argument("Sampler aggregation must be used with child aggregations."))
        }
        false => Ok(()),
    }
}

/// Converts `shard_size`, which must not be negative.
pub fn shard_size(size: i32) -> Result<usize> {
    match usize::try_from(size) {
        Ok(size) if size > 0 => Ok(size),
        _ => Err(RequestError::illegal_argument(format!(
            "numHits must be > 0; please use TotalHitCountCollectorManager if you just need the total hit count, got [shard_size] [{size}]"
        ))
        .into()),
    }
}

impl Request for Sampler {
    fn defers_subs(&self) -> bool {
        true
    }

    fn needs_scores(&self) -> bool {
        true
    }

    fn is_single_bucket(&self) -> bool {
        true
    }

    fn check_place(&self, own: &Aggregation, _: &[&Aggregation]) -> std::result::Result<(), RequestError> {
        check_subs(own)
    }
}

impl Collect for Sampler {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        Ok(Box::new(SamplerCollector {
            shard_size: shard_size(self.shard_size)?,
            segments: Segments::default(),
            heaps: Vec::new(),
            counts: Vec::new(),
            subs: context.subs,
            budget: context.budget,
        }))
    }
}

impl Reduce for Sampler {
    type Finding = Bucket;

    fn reduce(&self, own: &Aggregation, parts: Vec<Bucket>, reducer: &mut Reducer<'_>) -> Result<Bucket> {
        reducer.bucket(own, parts)
    }
}

impl Render for Sampler {
    fn render(&self, bucket: &Bucket, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        renderer.single(bucket, out)
    }
}

#[derive(Debug)]
struct SamplerCollector<'s> {
    shard_size: usize,
    segments: Segments<'s>,
    /// Indexed by bucket; the worst document is on top.
    heaps: Vec<BinaryHeap<Reverse<Ranked>>>,
    /// Document counts by bucket; filled by `settle`.
    counts: Vec<u64>,
    subs: Subs<'s>,
    budget: &'s Budget,
}

impl<'s> Collector<'s> for SamplerCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.segments.0.push(view);
        Ok(())
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if entries.bucket_count > self.heaps.len() {
            self.budget.spend((entries.bucket_count - self.heaps.len()) as u64 * 24)?;
            self.heaps.resize_with(entries.bucket_count, BinaryHeap::new);
        }
        if entries.is_single_bucket()
            && let Some(heap) = self.heaps.first().filter(|heap| heap.len() == self.shard_size)
            && let Some(Reverse((worst, ..))) = heap.peek()
            && entries.scores.iter().all(|score| score.max(0.0).to_bits() <= *worst)
        {
            // Later documents with the same score rank lower.
            return Ok(());
        }
        let segment = self.segments.last();
        for (_, bucket, found) in each(entries, segment) {
            keep(&mut self.heaps[bucket as usize], self.shard_size, found, self.budget)?;
        }
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        let heaps = std::mem::take(&mut self.heaps);
        if heaps.is_empty() {
            return Ok(());
        }
        self.counts = heaps.iter().map(|heap| heap.len() as u64).collect();
        let buckets = heaps.into_iter().zip(0u32..);
        let chosen =
            buckets.flat_map(|(heap, bucket)| heap.into_iter().map(move |Reverse(found)| (bucket, found)));
        replay(chosen.collect(), &self.segments, self.counts.len(), &mut self.subs, self.budget)?;
        self.subs.settle()
    }

    fn order_value(&self, path: &[String], value: Option<&str>, bucket: u32) -> f64 {
        self.subs.order_value_of_single(&self.counts, path, value, bucket)
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        self.settle()?;
        single_partials(&self.counts, &mut self.subs, buckets)
    }
}
