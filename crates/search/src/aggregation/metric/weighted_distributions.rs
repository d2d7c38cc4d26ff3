//! `percentiles`, `percentile_ranks` and `boxplot` of histograms. Source: Elasticsearch's
//! `AbstractHistoBackedTDigestPercentilesAggregator`, `AbstractHistoBackedHDRPercentilesAggregator`.

use std::fmt::Debug;

use limber_segment::SegmentView;

use super::super::answer::partial::Partial;
use super::super::buckets::entries::Entries;
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::source::{Source, WeightedReader};
use super::distribution::Distribution;
use super::percentiles_collector::negative;
use crate::error::Result;

/// What an aggregation makes of the distribution of a bucket's values.
pub(super) trait OfDistribution: Debug {
    /// Makes the distribution of a bucket without values.
    fn begin(&self) -> Distribution;
    /// Returns the value that an enclosing aggregation orders its buckets by. The distribution is prepared.
    fn compared(&self, distribution: &Distribution, name: Option<&str>) -> f64;
    /// Makes the result of a bucket.
    fn found(&self, distribution: Distribution) -> Partial;
}

/// Collects the weighted values of each bucket in a distribution.
#[derive(Debug)]
pub(super) struct WeightedDistributions<'s> {
    asked: &'s dyn OfDistribution,
    reader: WeightedReader<'s>,
    /// Indexed by bucket; made at the bucket's first value.
    distributions: Vec<Option<Box<Distribution>>>,
    starts: Vec<u32>,
    /// The bytes charged for each bucket.
    charged_bytes: Vec<u64>,
    budget: &'s Budget,
}

impl<'s> WeightedDistributions<'s> {
    pub(super) fn new(
        asked: &'s dyn OfDistribution,
        sources: &'s [Source],
        budget: &'s Budget,
    ) -> WeightedDistributions<'s> {
        WeightedDistributions {
            asked,
            reader: WeightedReader::new(sources),
            distributions: Vec::new(),
            starts: Vec::new(),
            charged_bytes: Vec::new(),
            budget,
        }
    }

    fn grow(&mut self, bucket_count: usize) -> Result<()> {
        if bucket_count > self.distributions.len() {
            self.budget.spend((bucket_count - self.distributions.len()) as u64 * 16)?;
            self.distributions.resize_with(bucket_count, || None);
            self.charged_bytes.resize(bucket_count, 0);
        }
        Ok(())
    }
}

impl<'s> Collector<'s> for WeightedDistributions<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.reader.begin(&view.segment)
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        self.grow(entries.bucket_count)?;
        let asked = self.asked;
        let WeightedDistributions { reader, distributions, starts, charged_bytes, budget, .. } = self;
        let mut is_refused = false;
        reader.load(entries.docs)?.try_join(entries, starts, |_, bucket, (value, weight)| {
            let own = distributions[bucket as usize].get_or_insert_with(|| Box::new(asked.begin()));
            is_refused |= !own.add_weighted(value, weight);
            // Charged here and not after the batch, because a digest keeps each value as often as it counts.
            let bytes = own.bytes() + size_of::<Distribution>() as u64;
            let charged = &mut charged_bytes[bucket as usize];
            if bytes > *charged {
                budget.spend(bytes - *charged)?;
                *charged = bytes;
            }
            Ok(())
        })?;
        if is_refused {
            return Err(negative().into());
        }
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        self.distributions.iter_mut().flatten().for_each(|own| own.prepare());
        Ok(())
    }

    fn order_value(&self, _: &[String], value: Option<&str>, bucket: u32) -> f64 {
        match self.distributions.get(bucket as usize) {
            Some(Some(own)) => self.asked.compared(own, value),
            _ => self.asked.compared(&self.asked.begin(), value),
        }
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        let (asked, distributions) = (self.asked, &mut self.distributions);
        let mut found = |bucket: u32| {
            let own = distributions.get_mut(bucket as usize).and_then(Option::take);
            asked.found(own.map_or_else(|| asked.begin(), |own| *own))
        };
        Ok(buckets.iter().map(|&bucket| found(bucket)).collect())
    }
}
