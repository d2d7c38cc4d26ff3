//! `avg` and `value_count` of summaries: adds up numbers that were aggregated before. Source: Elasticsearch's
//! `AggregateMetricBackedAvgAggregator`, `AggregateMetricBackedValueCountAggregator`.

use limber_segment::SegmentView;

use super::super::answer::partial::Partial;
use super::super::buckets::entries::Entries;
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::source::Source;
use super::numeric::{Metric, MetricKind, MetricState};
use super::numeric_collector::MetricCollector;
use crate::error::Result;

/// Adds up the sums of values and the numbers of values of each bucket.
#[derive(Debug)]
pub(super) struct SummaryCollector<'s> {
    kind: MetricKind,
    /// `None` if only the numbers of values are asked for.
    sums: Option<MetricCollector<'s>>,
    counts: MetricCollector<'s>,
}

impl<'s> SummaryCollector<'s> {
    /// Takes the sources of the metric's columns, the last of which has the numbers of values.
    pub(super) fn new(
        metric: &Metric,
        sources: &'s [Source],
        budget: &'s Budget,
    ) -> Result<SummaryCollector<'s>> {
        let sum = Metric { kind: MetricKind::Sum, ..metric.clone() };
        let adding = |source: &'s Source| MetricCollector::new(&sum, source, budget);
        let (counts, sums) = sources.split_last().expect("an aggregation of a field has a source");
        Ok(SummaryCollector {
            kind: metric.kind,
            sums: sums.first().map(adding).transpose()?,
            counts: adding(counts)?,
        })
    }

    fn state(&self, bucket: u32) -> MetricState {
        let sum = self.sums.as_ref().map_or(0.0, |sums| sums.state(bucket).sum);
        MetricState { count: self.counts.state(bucket).sum as u64, sum, ..MetricState::default() }
    }

    fn all(&mut self) -> impl Iterator<Item = &mut MetricCollector<'s>> {
        self.sums.iter_mut().chain([&mut self.counts])
    }
}

impl<'s> Collector<'s> for SummaryCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.all().try_for_each(|collector| collector.begin_segment(view))
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        self.all().try_for_each(|collector| collector.collect(entries))
    }

    fn end_segment(&mut self) -> Result<()> {
        self.all().try_for_each(|collector| collector.end_segment())
    }

    fn order_value(&self, _: &[String], value: Option<&str>, bucket: u32) -> f64 {
        self.state(bucket).order_value(self.kind, value, 0.0)
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        Ok(buckets.iter().map(|&bucket| Partial::Metric(self.state(bucket))).collect())
    }
}
