//! `rate`: the documents, or the sum or number of a field's values, per unit of time.
//!
//! Source: Elasticsearch's documentation of the aggregation and its REST tests (`analytics/rate.yml`):
//! `AbstractRateAggregator`, `InternalRate`. The length of a bucket is that of the nearest enclosing
//! `date_histogram` or `composite`. Directly below it, the actual length of calendar months is used.

use limber_mapping::{RequestError, Summary, SummaryColumn};
use limber_segment::SegmentView;

use super::super::answer::members::Members;
use super::super::answer::order::OrderValues;
use super::super::answer::partial::{Finding, OwnFinding, Partial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::bind::{Bound, Width};
use super::super::bucket::Interval;
use super::super::buckets::entries::Entries;
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::{Options, ValuesOptions};
use super::super::source::Accepts;
use super::super::tree::{Aggregation, Kind};
use super::super::values::kahan::KahanSum;
use super::numeric::{Metric, MetricKind, single};
use crate::context::ShardSnapshot;
use crate::error::Result;

/// The options of a `rate`: what is counted or added, and the unit of time.
#[derive(Debug, Clone)]
pub struct Rate {
    /// `None`: the rate is per bucket.
    unit: Option<Interval>,
    /// `None`: documents are counted.
    metric: Option<Metric>,
    has_mode: bool,
}

impl Rate {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let unit = match options.text("unit")? {
            None => None,
            Some(text) => Some(
                Interval::calendar(&text)
                    .ok_or_else(|| options.refused("unit", format!("Unsupported unit {text}")))?,
            ),
        };
        let mode = options.text("mode")?;
        let kind = match mode.as_deref().map(str::to_ascii_uppercase).as_deref() {
            None | Some("SUM") => MetricKind::Sum,
            Some("VALUE_COUNT") => MetricKind::ValueCount,
            Some(other) => {
                let reason =
                    format!("No enum constant org.elasticsearch.xpack.analytics.rate.RateMode.{other}");
                return Err(options.refused("mode", reason));
            }
        };
        let values = ValuesOptions::parse_optional(options)?;
        let metric = values.map(|values| Metric { kind, values, sigma: 0.0 });
        Ok(Kind::own(Rate { unit, metric, has_mode: mode.is_some() }))
    }
}

/// The finding in one bucket.
#[derive(Debug, Clone, Copy)]
pub struct RateFinding {
    sum: f64,
    /// The length of the bucket in units; `None` if no shard knows it.
    divisor: Option<f64>,
}

impl OwnFinding for RateFinding {}

impl RateFinding {
    fn rate(&self) -> f64 {
        self.sum / self.divisor.unwrap_or(1.0)
    }
}

impl Request for Rate {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        self.metric.iter().map(|metric| (&metric.values, Accepts::Quantities)).collect()
    }

    /// As in Elasticsearch, the sum is that of a histogram's values, whatever their counts.
    fn summary_columns(&self, summary: &Summary) -> &'static [SummaryColumn] {
        match &self.metric {
            Some(metric) if summary.is_histogram() && metric.kind == MetricKind::Sum => {
                &[SummaryColumn::Values]
            }
            Some(_) => summary.weighted_columns(),
            None => &[],
        }
    }

    fn takes_subs(&self) -> bool {
        false
    }

    fn check_on_shard(&self, _: &Bound, _: &ShardSnapshot) -> Result<()> {
        match self.has_mode && self.metric.is_none() {
            false => Ok(()),
            true => Err(RequestError::illegal_argument(
                "The mode parameter is only supported with field or script",
            )
            .into()),
        }
    }

    fn order_values(&self) -> OrderValues {
        OrderValues::One
    }
}

impl Collect for Rate {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let CollectorContext { bound, budget, .. } = context;
        let values = match &self.metric {
            Some(metric) => Values::Metric(metric.collector_of(bound.sources(), budget)?),
            None => Values::Documents(Vec::new()),
        };
        let is_mapped = bound.sources().iter().all(|source| source.is_mapped() || source.missing.is_some());
        Ok(Box::new(RateCollector { unit: self.unit, bound, is_mapped, values, starts: Vec::new(), budget }))
    }
}

impl Reduce for Rate {
    type Finding = RateFinding;

    fn reduce(&self, _: &Aggregation, parts: Vec<RateFinding>, _: &mut Reducer<'_>) -> Result<RateFinding> {
        let (mut sum, mut divisor) = (KahanSum::default(), None);
        for found in parts.iter() {
            sum.add(found.sum);
            divisor = divisor.or(found.divisor);
        }
        Ok(RateFinding { sum: sum.value, divisor })
    }
}

impl Render for Rate {
    fn render(&self, found: &RateFinding, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        single(out, found.rate(), true, &renderer.shape.format)
    }

    fn number(&self, finding: &RateFinding, _: Option<&str>) -> Option<f64> {
        Some(finding.rate())
    }
}

#[derive(Debug)]
enum Values<'s> {
    /// The document counts by bucket.
    Documents(Vec<u64>),
    Metric(Box<dyn Collector<'s> + 's>),
}

#[derive(Debug)]
struct RateCollector<'s> {
    unit: Option<Interval>,
    bound: &'s Bound,
    is_mapped: bool,
    values: Values<'s>,
    /// The start of each parent bucket; filled only directly below buckets of dates.
    starts: Vec<i64>,
    budget: &'s Budget,
}

impl RateCollector<'_> {
    /// Returns the number of documents, or the sum or number of the field's values.
    fn sum(&self, bucket: u32) -> f64 {
        match &self.values {
            Values::Documents(counts) => counts.get(bucket as usize).map_or(0.0, |&count| count as f64),
            Values::Metric(metric) => metric.order_value(&[], None, bucket),
        }
    }

    /// Returns the length of a bucket in units.
    fn divisor(&self, bucket: u32) -> std::result::Result<f64, RequestError> {
        let (rounding, is_parent) = match &self.bound.around {
            Some((Width::Dates(rounding), is_parent)) => (rounding, *is_parent),
            Some((Width::Unknown(reason), _)) => return Err(reason.clone()),
            None => {
                return Err(RequestError::illegal_argument(
                    "The rate aggregation can only be used inside a date histogram aggregation or composite aggregation with one date \
                     histogram value source",
                ));
            }
        };
        let Some(unit) = self.unit else { return Ok(1.0) };
        rounding.size_in(unit, self.starts.get(bucket as usize).copied().filter(|_| is_parent))
    }
}

impl<'s> Collector<'s> for RateCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        match &mut self.values {
            Values::Documents(_) => Ok(()),
            Values::Metric(metric) => metric.begin_segment(view),
        }
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        let counts = match &mut self.values {
            Values::Metric(metric) => return metric.collect(entries),
            Values::Documents(counts) => counts,
        };
        if entries.bucket_count > counts.len() {
            self.budget.spend((entries.bucket_count - counts.len()) as u64 * 8)?;
            counts.resize(entries.bucket_count, 0);
        }
        match entries.buckets {
            None => counts[entries.bucket as usize] += entries.len() as u64,
            Some(buckets) => buckets.iter().for_each(|&bucket| counts[bucket as usize] += 1),
        }
        Ok(())
    }

    fn end_segment(&mut self) -> Result<()> {
        match &mut self.values {
            Values::Documents(_) => Ok(()),
            Values::Metric(metric) => metric.end_segment(),
        }
    }

    fn take_keys(&mut self, buckets: &[u32], key_of: &dyn Fn(u32) -> i64) {
        let most = buckets.iter().copied().max().map_or(0, |most| most as usize + 1);
        self.starts.resize(most, 0);
        buckets.iter().for_each(|&bucket| self.starts[bucket as usize] = key_of(bucket));
    }

    fn order_value(&self, _: &[String], _: Option<&str>, bucket: u32) -> f64 {
        self.sum(bucket) / self.divisor(bucket).unwrap_or(f64::NAN)
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        let found = |&bucket: &u32| {
            let divisor = if self.is_mapped { Some(self.divisor(bucket)?) } else { None };
            Ok(Finding::into_partial(RateFinding { sum: self.sum(bucket), divisor }))
        };
        buckets.iter().map(found).collect()
    }
}
