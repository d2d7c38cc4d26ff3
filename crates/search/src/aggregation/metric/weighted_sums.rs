//! `avg`, `sum` and `value_count` of histograms. Source: Elasticsearch's `HistoBackedAvgAggregator`,
//! `HistoBackedSumAggregator`, `HistoBackedValueCountAggregator`.

use limber_segment::SegmentView;

use super::super::answer::partial::Partial;
use super::super::buckets::entries::Entries;
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::source::{Source, WeightedReader};
use super::super::values::kahan::KahanSum;
use super::numeric::{MetricKind, MetricState};
use crate::error::Result;

/// Adds up the values of each bucket, each times its weight, and the weights.
#[derive(Debug)]
pub(super) struct WeightedSums<'s> {
    kind: MetricKind,
    reader: WeightedReader<'s>,
    sums: Vec<(KahanSum, u64)>,
    starts: Vec<u32>,
    budget: &'s Budget,
}

impl<'s> WeightedSums<'s> {
    pub(super) fn new(kind: MetricKind, sources: &'s [Source], budget: &'s Budget) -> WeightedSums<'s> {
        let reader = WeightedReader::new(sources);
        WeightedSums { kind, reader, sums: Vec::new(), starts: Vec::new(), budget }
    }

    fn state(&self, bucket: u32) -> MetricState {
        let (sum, count) = self.sums.get(bucket as usize).copied().unwrap_or_default();
        MetricState { count, sum: sum.value, ..MetricState::default() }
    }
}

impl<'s> Collector<'s> for WeightedSums<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.reader.begin(&view.segment)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if entries.bucket_count > self.sums.len() {
            let more = entries.bucket_count - self.sums.len();
            self.budget.spend((more * size_of::<(KahanSum, u64)>()) as u64)?;
            self.sums.resize(entries.bucket_count, Default::default());
        }
        let sums = &mut self.sums;
        self.reader.load(entries.docs)?.join(entries, &mut self.starts, |_, bucket, (value, weight)| {
            let (sum, count) = &mut sums[bucket as usize];
            sum.add(value * weight as f64);
            *count = count.saturating_add(weight);
        })
    }

    fn takes_windows_again(&self) -> bool {
        true
    }

    fn order_value(&self, _: &[String], value: Option<&str>, bucket: u32) -> f64 {
        self.state(bucket).order_value(self.kind, value, 0.0)
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        Ok(buckets.iter().map(|&bucket| Partial::Metric(self.state(bucket))).collect())
    }
}
