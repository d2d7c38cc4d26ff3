//! `diversified_sampler`: the best-scoring documents of each shard, with a limit on how many share a value.
//!
//! Source: Elasticsearch's `DiversifiedAggregationBuilder`, Lucene's `DiversifiedTopDocsCollector`.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use limber_mapping::RequestError;
use limber_segment::SegmentView;

use super::super::answer::members::Members;
use super::super::answer::partial::{Bucket, Partial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::bind::{Bound, Shape};
use super::super::bucket::single_partials;
use super::super::buckets::entries::Entries;
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::{Options, ValuesOptions};
use super::super::source::{Accepts, KeyReader, Source};
use super::super::tree::{Aggregation, Kind};
use super::best::{Ranked, Segments, each, keep, replay};
use super::sampler::{SHARD_SIZE, check_subs, shard_size};
use crate::error::Result;

/// The options of a `diversified_sampler`: how many documents are collected, and how many of them may have
/// the same value of a field.
#[derive(Debug, Clone)]
pub struct DiversifiedSampler {
    values: ValuesOptions,
    shard_size: i32,
    per_value: usize,
}

impl DiversifiedSampler {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let shard_size = options.int("shard_size")?.unwrap_or(SHARD_SIZE);
        if shard_size < 0 {
            let reason = format!(
                "[shardSize] must be greater than or equal to 0. Found [{shard_size}] in [{}]",
                options.name
            );
            return Err(options.refused("shard_size", reason));
        }
        let per_value = options.int("max_docs_per_value")?.unwrap_or(1);
        let per_value = usize::try_from(per_value).map_err(|_| {
            let reason = format!(
                "[maxDocsPerValue] must be greater than or equal to 0. Found [{per_value}] in [{}]",
                options.name
            );
            options.refused("max_docs_per_value", reason)
        })?;
        // The hint only chooses between implementations with the same result.
        if let Some(hint) = options.text("execution_hint")?
            && !matches!(hint.as_str(), "map" | "bytes_hash" | "global_ordinals")
        {
            let reason = format!(
                "Unknown `execution_hint`: [{hint}], expected any of [map, bytes_hash, global_ordinals]"
            );
            return Err(RequestError::illegal_argument(reason));
        }
        Ok(Kind::own(DiversifiedSampler { values: ValuesOptions::parse(options)?, shard_size, per_value }))
    }
}

impl Request for DiversifiedSampler {
    fn defers_subs(&self) -> bool {
        true
    }

    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::Anything)]
    }

    fn needs_scores(&self) -> bool {
        true
    }

    fn is_single_bucket(&self) -> bool {
        true
    }

    fn check_subs(&self, own: &Aggregation, bound: &Bound) -> std::result::Result<(), RequestError> {
        match bound.shape.is_mapped {
            true => check_subs(own),
            false => Ok(()),
        }
    }
}

impl Collect for DiversifiedSampler {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let source = &context.bound.sources()[0];
        Ok(Box::new(DiversifiedCollector {
            source,
            is_mapped: source.is_mapped() || source.missing.is_some(),
            keys: KeyReader::new(source, None)?,
            shard_size: shard_size(self.shard_size)?,
            per_value: self.per_value,
            segments: Segments::default(),
            heaps: HashMap::default(),
            bucket_count: 0,
            document_keys: Vec::new(),
            counts: Vec::new(),
            subs: context.subs,
            budget: context.budget,
        }))
    }
}

impl Reduce for DiversifiedSampler {
    type Finding = Bucket;

    fn reduce(&self, own: &Aggregation, parts: Vec<Bucket>, reducer: &mut Reducer<'_>) -> Result<Bucket> {
        reducer.bucket(own, parts)
    }
}

impl Render for DiversifiedSampler {
    fn typed_name(&self, _: &Aggregation, _: &Bucket, _: &Shape) -> String {
        "sampler".to_owned()
    }

    fn render(&self, bucket: &Bucket, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        if renderer.shape.is_mapped {
            return renderer.single(bucket, out);
        }
        // Without the field there is no sample, so the sub-aggregations are not shown.
        out.insert("doc_count", &bucket.doc_count)
    }
}

/// Estimated bytes of a heap's entry in the table.
const HEAP_BYTES: u64 = 64;

#[derive(Debug)]
struct DiversifiedCollector<'s> {
    source: &'s Source,
    keys: KeyReader<'s>,
    is_mapped: bool,
    shard_size: usize,
    per_value: usize,
    segments: Segments<'s>,
    /// Keyed by bucket and value. Documents without a value share one heap.
    heaps: HashMap<(u32, Option<i64>), BinaryHeap<Reverse<Ranked>>, foldhash::fast::FixedState>,
    bucket_count: usize,
    /// The value of each document in the batch.
    document_keys: Vec<Option<i64>>,
    counts: Vec<u64>,
    subs: Subs<'s>,
    budget: &'s Budget,
}

impl<'s> Collector<'s> for DiversifiedCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.segments.0.push(view);
        self.keys.begin(view, self.budget)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        self.bucket_count = self.bucket_count.max(entries.bucket_count);
        // Without the field no documents can be told apart, and the sample is empty.
        if !self.is_mapped {
            return Ok(());
        }
        let (is_numeric, is_floating) = (self.source.is_numeric(), self.source.is_floating());
        // As in Elasticsearch, numbers are compared by their integer part, and missing ones count as 0.
        let key = |id: i64| if is_floating { self.source.decode(id) as i64 } else { id };
        self.document_keys.clear();
        self.document_keys.resize(entries.docs.len(), None);
        let values = self.keys.load(entries.docs, self.budget)?;
        for (at, &id) in values.values.iter().enumerate() {
            let position = values.positions.map_or(at, |positions| positions[at] as usize);
            if self.document_keys[position].replace(key(id)).is_some() {
                return Err(RequestError::illegal_argument(
                    "Sample diversifying key must be a single valued-field",
                )
                .into());
            }
        }
        let segment = self.segments.last();
        for (position, bucket, found) in each(entries, segment) {
            let place = (bucket, self.document_keys[position].or(is_numeric.then_some(0)));
            let heap = match self.heaps.get_mut(&place) {
                Some(heap) => heap,
                None => {
                    self.budget.spend(HEAP_BYTES)?;
                    self.heaps.entry(place).or_default()
                }
            };
            keep(heap, self.per_value, found, self.budget)?;
        }
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        let heaps = std::mem::take(&mut self.heaps);
        if heaps.is_empty() {
            return Ok(());
        }
        let mut all: Vec<(u32, Ranked)> = heaps
            .into_iter()
            .flat_map(|((bucket, _), heap)| heap.into_iter().map(move |Reverse(found)| (bucket, found)))
            .collect();
        all.sort_unstable_by(|left, right| left.0.cmp(&right.0).then(right.1.cmp(&left.1)));
        self.counts = vec![0; self.bucket_count];
        all.retain(|(bucket, _)| {
            let count = &mut self.counts[*bucket as usize];
            let is_kept = *count < self.shard_size as u64;
            *count += u64::from(is_kept);
            is_kept
        });
        replay(all, &self.segments, self.counts.len(), &mut self.subs, self.budget)?;
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
