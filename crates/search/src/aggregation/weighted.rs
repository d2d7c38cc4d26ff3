//! Counts documents by `_doc_count`: a document may stand for several.
//!
//! Source: Elasticsearch's `DocCountProvider`. A shard on which a document has such a number adds a collector
//! to the sub-aggregations of each bucket aggregation. It adds up the documents that the collected ones stand
//! for beyond themselves. When the shard is finished, the sums are added to the counts of the buckets.
//!
//! Which buckets a shard leaves out (`shard_size`) is decided by the number of documents that it holds.

use limber_segment::SegmentView;
use limber_segment::columns::{Batch, NumberColumn};

use super::answer::partial::{Bucket, Partial};
use super::buckets::entries::Entries;
use super::budget::Budget;
use super::collector::Collector;
use crate::context::ShardSnapshot;
use crate::error::Result;

/// The column with the number of documents that a document stands for beyond itself.
const COLUMN: &str = "_doc_count";
/// The name of the added collector, which no aggregation of a request has.
pub(super) const NAME: &str = "\0_doc_count";

/// Whether a document of the shard stands for several.
pub(super) fn is_weighted(shard: &ShardSnapshot) -> Result<bool> {
    for view in &shard.segments {
        if view.segment.numbers(COLUMN)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Adds up the documents that those of each bucket stand for beyond themselves.
#[derive(Debug)]
pub(super) struct MoreDocuments<'s> {
    column: Option<NumberColumn<'s>>,
    batch: Batch<i64>,
    sums: Vec<u64>,
    budget: &'s Budget,
}

impl<'s> MoreDocuments<'s> {
    /// Makes a collector that has seen no documents.
    pub fn new(budget: &'s Budget) -> MoreDocuments<'s> {
        MoreDocuments { column: None, batch: Batch::default(), sums: Vec::new(), budget }
    }
}

impl<'s> Collector<'s> for MoreDocuments<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.column = view.segment.numbers(COLUMN)?;
        Ok(())
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if entries.bucket_count > self.sums.len() {
            self.budget.spend((entries.bucket_count - self.sums.len()) as u64 * 8)?;
            self.sums.resize(entries.bucket_count, 0);
        }
        let Some(column) = &self.column else { return Ok(()) };
        column.gather(entries.docs, &mut self.batch)?;
        let mut more = vec![0; entries.docs.len()];
        for (at, value) in self.batch.values.iter().enumerate() {
            let position = if self.batch.is_aligned() { at } else { self.batch.positions[at] as usize };
            more[position] = *value as u64;
        }
        for entry in 0..entries.len() {
            self.sums[entries.bucket(entry) as usize] += more[entries.position(entry)];
        }
        Ok(())
    }

    fn takes_windows_again(&self) -> bool {
        true
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        let sum = |bucket: &u32| self.sums.get(*bucket as usize).copied().unwrap_or(0);
        Ok(buckets.iter().map(|bucket| Partial::Single(Bucket::new(sum(bucket), Vec::new()))).collect())
    }
}

/// A bucket aggregation whose last sub-aggregation is [`MoreDocuments`]. It collects every document.
#[derive(Debug)]
pub(super) struct WeightedCollector<'s> {
    /// The aggregation.
    pub inner: Box<dyn Collector<'s> + 's>,
}

impl<'s> Collector<'s> for WeightedCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.inner.begin_segment(view)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        self.inner.collect(entries)
    }

    fn end_segment(&mut self) -> Result<()> {
        self.inner.end_segment()
    }

    fn order_value(&self, path: &[String], value: Option<&str>, bucket: u32) -> f64 {
        self.inner.order_value(path, value, bucket)
    }

    fn take_keys(&mut self, buckets: &[u32], key_of: &dyn Fn(u32) -> i64) {
        self.inner.take_keys(buckets, key_of);
    }

    fn settle(&mut self) -> Result<()> {
        self.inner.settle()
    }

    fn bucket_count(&self) -> Option<u64> {
        self.inner.bucket_count()
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        let mut partials = self.inner.finish(buckets)?;
        partials.iter_mut().for_each(add_more);
        Ok(partials)
    }
}

/// Adds the sums of [`MoreDocuments`] to the counts of the buckets, and removes them.
fn add_more(partial: &mut Partial) {
    match partial {
        Partial::Terms(terms) => {
            terms.buckets.iter_mut().for_each(|bucket| bucket.doc_count += taken(&mut bucket.subs));
        }
        Partial::Histogram(buckets) => {
            buckets.iter_mut().for_each(|bucket| bucket.doc_count += taken(&mut bucket.subs));
        }
        Partial::Fixed(buckets) => {
            buckets.iter_mut().for_each(|bucket| bucket.doc_count += taken(&mut bucket.subs));
        }
        Partial::Single(bucket) => bucket.doc_count += taken(&mut bucket.subs),
        Partial::List(list) => {
            list.buckets.iter_mut().for_each(|bucket| bucket.doc_count += taken(&mut bucket.subs));
        }
        Partial::Own(finding) => {
            for subs in finding.buckets_mut() {
                subs.pop();
            }
        }
        Partial::Metric(_)
        | Partial::Cardinality(_)
        | Partial::Distribution(_)
        | Partial::Simple(_)
        | Partial::Pipeline(_)
        | Partial::Absent => {}
    }
}

fn taken(subs: &mut Vec<Partial>) -> u64 {
    match subs.pop() {
        Some(Partial::Single(bucket)) => bucket.doc_count,
        _ => 0,
    }
}
