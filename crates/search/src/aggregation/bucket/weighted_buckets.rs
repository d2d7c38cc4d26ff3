//! `histogram` and `range` of histogram fields: a bucket counts how often its values were counted, instead of
//! documents. Source: Elasticsearch's `HistoBackedHistogramAggregator`, `HistoBackedRangeAggregator`.

use limber_segment::SegmentView;

use super::super::answer::partial::Partial;
use super::super::buckets::bucket_table::BucketTable;
use super::super::buckets::entries::{Entries, Pace};
use super::super::budget::Budget;
use super::super::collector::{Collector, Subs};
use super::super::source::{Source, WeightedReader};
use super::filter::fixed_partials;
use super::histogram::Histogram;
use super::histogram_collector::keyed_partials;
use super::range::ShownRange;
use crate::error::Result;

/// Counts the values of each interval.
#[derive(Debug)]
pub(super) struct WeightedHistogram<'s> {
    request: &'s Histogram,
    reader: WeightedReader<'s>,
    table: BucketTable,
    /// Pipelines alone, which collect nothing.
    subs: Subs<'s>,
    starts: Vec<u32>,
    budget: &'s Budget,
}

impl<'s> WeightedHistogram<'s> {
    pub(super) fn new(
        request: &'s Histogram,
        sources: &'s [Source],
        subs: Subs<'s>,
        budget: &'s Budget,
    ) -> WeightedHistogram<'s> {
        let (reader, table) = (WeightedReader::new(sources), BucketTable::default());
        WeightedHistogram { request, reader, table, subs, starts: Vec::new(), budget }
    }
}

impl<'s> Collector<'s> for WeightedHistogram<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.reader.begin(&view.segment)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        let (request, budget) = (self.request, self.budget);
        let table = &mut self.table;
        let values = self.reader.load(entries.docs)?;
        values.try_join(entries, &mut self.starts, |_, parent, (value, weight)| {
            let number = request.number(value);
            if request.allows(number) {
                let bucket = table.bucket(parent, number, budget)? as usize;
                table.counts[bucket] = table.counts[bucket].saturating_add(weight);
            }
            Ok(())
        })
    }

    fn takes_windows_again(&self) -> bool {
        true
    }

    fn bucket_count(&self) -> Option<u64> {
        Some(self.table.len() as u64)
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        keyed_partials(&self.table, &mut self.subs, buckets)
    }
}

/// Counts the values in each range.
#[derive(Debug)]
pub(super) struct WeightedRanges<'s> {
    ranges: &'s [ShownRange],
    /// Whether no ranges overlap, so that a value is in at most one of them.
    is_disjoint: bool,
    reader: WeightedReader<'s>,
    counts: Vec<u64>,
    /// Pipelines alone, which collect nothing.
    subs: Subs<'s>,
    starts: Vec<u32>,
    budget: &'s Budget,
}

impl<'s> WeightedRanges<'s> {
    pub(super) fn new(
        ranges: &'s [ShownRange],
        sources: &'s [Source],
        subs: Subs<'s>,
        budget: &'s Budget,
    ) -> WeightedRanges<'s> {
        WeightedRanges {
            ranges,
            is_disjoint: ranges.windows(2).all(|pair| pair[0].stored_to <= pair[1].stored_from),
            reader: WeightedReader::new(sources),
            counts: Vec::new(),
            subs,
            starts: Vec::new(),
            budget,
        }
    }
}

impl<'s> Collector<'s> for WeightedRanges<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.reader.begin(&view.segment)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        let (ranges, is_disjoint, width) = (self.ranges, self.is_disjoint, self.ranges.len());
        let bucket_count = entries.bucket_count * width;
        if bucket_count > self.counts.len() {
            self.budget.spend((bucket_count - self.counts.len()) as u64 * 8)?;
            self.counts.resize(bucket_count, 0);
        }
        let (counts, mut pace) = (&mut self.counts, Pace::default());
        let values = self.reader.load(entries.docs)?;
        values.try_join(entries, &mut self.starts, |_, parent, (value, weight)| {
            let end = ranges.partition_point(|range| range.stored_from <= value);
            let start = if is_disjoint { end.saturating_sub(1) } else { 0 };
            pace.step(end - start)?;
            for range in (start..end).filter(|range| value < ranges[*range].stored_to) {
                let count = &mut counts[parent as usize * width + range];
                *count = count.saturating_add(weight);
            }
            Ok(())
        })
    }

    fn takes_windows_again(&self) -> bool {
        true
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        fixed_partials(&self.counts, self.ranges.len(), &mut self.subs, buckets)
    }
}
