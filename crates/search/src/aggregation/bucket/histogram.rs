//! The options of `histogram`. Source: Elasticsearch's `HistogramAggregationBuilder`.

use limber_mapping::number::java_double;
use limber_mapping::{ObjectParser, RequestError, Summary, SummaryColumn};
use serde_json::Value;

use super::super::answer::members::Members;
use super::super::answer::order::BucketOrder;
use super::super::answer::partial::KeyedBucket;
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::bind::{Bound, Shape};
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::{Options, ValuesOptions};
use super::super::source::Accepts;
use super::super::tree::{Aggregation, Kind};
use super::super::values::format::double;
use super::super::values::refused::check_no_subs;
use super::bounds::Bounds;
use super::histogram_collector::HistogramCollector;
use super::keyed::{filled_range, render_keyed, sorted};
use super::range_histogram::{RangeHistogramCollector, RangeKeys};
use super::weighted_buckets::WeightedHistogram;
use crate::error;
use crate::query::Query;
use crate::values::json;

/// The name of Elasticsearch's parser of bounds.
const DOUBLE_BOUNDS: &str = "double_bounds";

/// The options of a `histogram`: interval, offset, bounds and order.
#[derive(Debug, Clone)]
pub struct Histogram {
    pub values: ValuesOptions,
    pub interval: f64,
    pub offset: f64,
    pub min_doc_count: u64,
    pub extended_bounds: Bounds<f64>,
    pub hard_bounds: Bounds<f64>,
    pub keyed: bool,
    pub order: BucketOrder,
}

/// Numbers of buckets below this are whole numbers of intervals; doubles from here on are all integers.
const WHOLE_MAX: i64 = 1 << 62;

/// Returns the number of the bucket that is `intervals` intervals above 0, rounded down. Numbers have the
/// order of the buckets; `NaN` is last. There are more buckets than 64-bit integers, so from 2^62 intervals
/// on (and likewise below -2^62) doubles are numbered one after the other.
#[inline]
pub(super) fn bucket_number(intervals: f64) -> i64 {
    if intervals.is_nan() || intervals.abs() >= WHOLE_MAX as f64 {
        return far_number(intervals);
    }
    // Computes `floor`, which is a function call on baseline x86-64.
    let truncated = intervals as i64;
    truncated - i64::from(truncated as f64 > intervals)
}

#[cold]
fn far_number(intervals: f64) -> i64 {
    let intervals = if intervals.is_nan() { f64::NAN } else { intervals };
    let number = WHOLE_MAX + (intervals.abs().to_bits() - (WHOLE_MAX as f64).to_bits()) as i64;
    if intervals < 0.0 { -number } else { number }
}

/// Returns the number of intervals from 0 to the start of a bucket, given its [number](bucket_number).
pub(super) fn intervals_of(number: i64) -> f64 {
    if number.unsigned_abs() < WHOLE_MAX as u64 {
        return number as f64;
    }
    let beyond = number.unsigned_abs() - WHOLE_MAX as u64;
    let intervals = f64::from_bits((WHOLE_MAX as f64).to_bits() + beyond);
    if number < 0 { -intervals } else { intervals }
}

/// Reads `min_doc_count`, 0 by default.
pub(super) fn min_doc_count(options: &mut Options) -> Result<u64, RequestError> {
    let count = options.long("min_doc_count")?.unwrap_or(0);
    u64::try_from(count).map_err(|_| {
        let reason = format!(
            "[minDocCount] must be greater than or equal to 0. Found [{count}] in [{}]",
            options.name
        );
        options.refused("min_doc_count", reason)
    })
}

impl Histogram {
    pub(crate) fn parse(options: &mut Options) -> Result<Kind, RequestError> {
        let interval = options.double("interval")?;
        if let Some(interval) = interval
            && !(interval > 0.0 && interval.is_finite())
        {
            let reason = format!("[interval] must be >0 for histogram aggregation [{}]", options.name);
            return Err(options.refused("interval", reason));
        }
        let offset = options.double("offset")?.unwrap_or(0.0);
        if !offset.is_finite() {
            return Err(options.refused("offset", "[offset] must be finite"));
        }
        let min_doc_count = min_doc_count(options)?;
        let extended_bounds = double_bounds(options, "extended_bounds")?;
        let hard_bounds = double_bounds(options, "hard_bounds")?;
        let keyed = options.boolean("keyed")?.unwrap_or(false);
        let order = BucketOrder::parse(options)?.unwrap_or_else(BucketOrder::key_ascending);
        let values = ValuesOptions::parse(options)?;
        Ok(Kind::own(Histogram {
            values,
            interval: interval.unwrap_or(0.0),
            offset,
            min_doc_count,
            extended_bounds,
            hard_bounds,
            keyed,
            order,
        }))
    }

    /// Returns the number of the bucket that holds a value.
    #[inline]
    pub fn number(&self, value: f64) -> i64 {
        bucket_number((value - self.offset) / self.interval)
    }

    /// Returns the key that is shown for a bucket.
    pub fn key(&self, number: i64) -> f64 {
        intervals_of(number) * self.interval + self.offset
    }

    /// Whether the hard bounds allow the bucket.
    #[inline]
    pub fn allows(&self, number: i64) -> bool {
        let key = intervals_of(number) * self.interval;
        self.hard_bounds.min.is_none_or(|min| key >= min) && self.hard_bounds.max.is_none_or(|max| key <= max)
    }
}

impl Request for Histogram {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::Numbers)]
    }

    fn reads_ranges(&self) -> bool {
        true
    }

    fn summary_columns(&self, summary: &Summary) -> &'static [SummaryColumn] {
        summary.weighted_columns()
    }

    fn check_subs(&self, own: &Aggregation, bound: &Bound) -> Result<(), RequestError> {
        check_no_subs(own, bound, "Histogram")
    }

    fn order(&self) -> Option<&BucketOrder> {
        Some(&self.order)
    }

    /// A missing interval and bounds that do not fit are reported by the shard.
    fn check_order(&self, own: &Aggregation, _: &Shape, _: Option<&Query>) -> Result<(), RequestError> {
        if self.interval == 0.0 {
            return Err(RequestError::illegal_argument("interval must be positive, got: 0.0"));
        }
        let shown = |bounds: &Bounds<f64>| {
            let end = |end: Option<f64>| end.map(java_double).unwrap_or_default();
            format!("{}--{}", end(bounds.min), end(bounds.max))
        };
        let texts = || [shown(&self.hard_bounds), shown(&self.extended_bounds)];
        self.hard_bounds.check_contains(&self.extended_bounds, texts)?;
        self.order.check_on_shard(&own.subs)
    }

    fn histogram_min_doc_count(&self) -> Option<u64> {
        Some(self.min_doc_count)
    }

    fn can_be_sampled(&self) -> bool {
        true
    }
}

impl Collect for Histogram {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> error::Result<Box<dyn Collector<'s> + 's>> {
        let CollectorContext { bound, subs, shard, budget, .. } = context;
        let source = &bound.sources()[0];
        Ok(match source.range_kind() {
            None if bound.reads_summaries() => {
                Box::new(WeightedHistogram::new(self, bound.sources(), subs, budget))
            }
            Some(kind) => {
                let keys = RangeKeys::Numbers(self);
                Box::new(RangeHistogramCollector::new(keys, kind, source, subs, budget))
            }
            None => Box::new(HistogramCollector::new(self, source, subs, shard, budget)?),
        })
    }
}

impl Reduce for Histogram {
    type Finding = Vec<KeyedBucket>;

    fn reduce(
        &self,
        own: &Aggregation,
        parts: Vec<Vec<KeyedBucket>>,
        reducer: &mut Reducer<'_>,
    ) -> error::Result<Vec<KeyedBucket>> {
        let mut buckets = reducer.keyed(own, parts, self.min_doc_count)?;
        if self.min_doc_count == 0 {
            let number = |end: Option<f64>| end.map(|end| self.number(end));
            let bounds = &self.extended_bounds;
            let range = filled_range(number(bounds.min), number(bounds.max), &buckets);
            buckets = reducer.fill(own, buckets, range, |key| key.saturating_add(1))?;
        }
        Ok(sorted(&self.order, own, buckets))
    }
}

impl Render for Histogram {
    fn render(
        &self,
        finding: &Vec<KeyedBucket>,
        renderer: &Renderer<'_>,
        out: &mut Members<'_>,
    ) -> error::Result<()> {
        let key = |bucket: &KeyedBucket| double(self.key(bucket.key));
        let text = |bucket: &KeyedBucket| renderer.shape.format.text(self.key(bucket.key));
        render_keyed(finding, self.keyed, (key, text), renderer, out)
    }

    fn double_key(&self, number: i64) -> Option<f64> {
        Some(self.key(number))
    }

    fn java_name(&self, _: &Vec<KeyedBucket>, _: Option<&str>) -> &'static str {
        "InternalHistogram"
    }
}

fn double_bounds(options: &mut Options, name: &str) -> Result<Bounds<f64>, RequestError> {
    let Some(bounds) = Bounds::parse(options, name, DOUBLE_BOUNDS)? else { return Ok(Bounds::default()) };
    let parser = ObjectParser::new(DOUBLE_BOUNDS);
    let number = |end: &str, value: Option<Value>| match value {
        None => Ok(None),
        Some(value) => {
            let number = value.as_f64().or_else(|| value.as_str().and_then(|text| text.parse().ok()));
            let wrong = || {
                let cause = json::number_format(json::scalar_text(&value).unwrap_or_default());
                options.failed(name, parser.failed(end, cause))
            };
            number.filter(|number: &f64| number.is_finite()).map(Some).ok_or_else(wrong)
        }
    };
    let bounds = Bounds { min: number("min", bounds.min)?, max: number("max", bounds.max)? };
    if let (Some(min), Some(max)) = (bounds.min, bounds.max)
        && min > max
    {
        return Err(options.failed(name, parser.failed("max", inverted(min, max))));
    }
    Ok(bounds)
}

/// Returns the error of Elasticsearch's parser for a minimum above the maximum, with all its causes.
fn inverted(min: f64, max: f64) -> RequestError {
    let (min, max) = (java_double(min), java_double(max));
    let reason = format!("max bound [{max}] must be greater than min bound [{min}]");
    let thrown = RequestError::bad_request("invocation_target_exception", "")
        .caused_by(RequestError::illegal_argument(reason));
    let class = "org.elasticsearch.search.aggregations.bucket.histogram.DoubleBounds";
    let built = RequestError::illegal_argument(format!("Cannot instantiate an object of {class}"));
    ObjectParser::new(DOUBLE_BOUNDS).failed_to_build(built.caused_by(thrown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_double_has_a_bucket_of_its_own() {
        let ascending = [
            f64::NEG_INFINITY,
            -1e300,
            -2e19,
            -1e19,
            -9.3e18,
            -4.611686018427388e18,
            -4.6e18,
            -1.0,
            0.0,
            5.0,
            4.6e18,
            4.611686018427388e18,
            4.611686018427389e18,
            9.3e18,
            1e19,
            2e19,
            1e300,
            f64::INFINITY,
        ];
        for double in ascending {
            assert_eq!(intervals_of(bucket_number(double)), double);
        }
        assert!(ascending.is_sorted_by_key(|double| bucket_number(*double)));
        assert_eq!([bucket_number(-0.5), bucket_number(1.5)], [-1, 1]);
        assert!(intervals_of(bucket_number(-f64::NAN)).is_nan());
    }
}
