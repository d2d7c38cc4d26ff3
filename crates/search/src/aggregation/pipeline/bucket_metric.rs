//! `avg_bucket`, `sum_bucket`, `min_bucket`, `max_bucket`, `stats_bucket`, `extended_stats_bucket`: one
//! metric of the values of all buckets.
//!
//! Source: Elasticsearch's `BucketMetricsPipelineAggregator` and its subclasses.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::super::answer::partial::Partial;
use super::super::metric::{Metric, MetricKind, MetricState};
use super::super::options::{Options, ValuesOptions};
use super::super::tree::{Aggregation, Kind};
use super::super::values::format::{Format, double};
use super::check::{has_several_buckets, several_buckets};
use super::definition::{Level, Pipeline, PipelineValue, SimpleValue};
use super::options::{GapPolicy, buckets_path, finish, format};
use super::path::{BucketsPath, Element, find, single, value_of, wrong};
use super::rows::{Row, rows};
use crate::error::{Result, check_request};

/// The options of the pipeline aggregations that compute one metric from the values of all buckets.
#[derive(Debug, Clone)]
pub struct BucketMetric {
    path: BucketsPath,
    gaps: GapPolicy,
    format: Format,
    kind: MetricKind,
    sigma: f64,
}

impl BucketMetric {
    fn parse(kind: MetricKind, options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let path = buckets_path(options, |name| {
            format!("Missing required field [buckets_path] for aggregation [{name}]")
        })?;
        let gaps = GapPolicy::parse(options)?;
        let format = format(options)?;
        let sigma = match kind {
            MetricKind::ExtendedStats => options.double("sigma")?.unwrap_or(2.0),
            _ => 2.0,
        };
        if sigma < 0.0 {
            return Err(RequestError::illegal_argument("sigma must be a non-negative double"));
        }
        finish(options)?;
        Ok(Kind::pipeline(BucketMetric { path, gaps, format, kind, sigma }))
    }

    pub(crate) fn avg(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        BucketMetric::parse(MetricKind::Avg, options)
    }

    pub(crate) fn sum(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        BucketMetric::parse(MetricKind::Sum, options)
    }

    pub(crate) fn min(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        BucketMetric::parse(MetricKind::Min, options)
    }

    pub(crate) fn max(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        BucketMetric::parse(MetricKind::Max, options)
    }

    pub(crate) fn stats(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        BucketMetric::parse(MetricKind::Stats, options)
    }

    pub(crate) fn extended_stats(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        BucketMetric::parse(MetricKind::ExtendedStats, options)
    }

    /// Returns the greatest or least value, and the keys of the buckets that have it.
    fn extreme(&self, values: &[(Row<'_>, f64)]) -> Result<PipelineValue> {
        let is_max = self.kind == MetricKind::Max;
        let mut best = if is_max { f64::NEG_INFINITY } else { f64::INFINITY };
        for (_, value) in values {
            let is_better = if is_max { *value > best } else { *value < best };
            best = if is_better { *value } else { best };
        }
        let keys = values.iter().filter(|(_, value)| *value == best);
        let keys: Vec<Value> = keys.map(|(row, _)| Ok(row.text()?.into())).collect::<Result<_>>()?;
        let mut made = PipelineValue::of_number(best, &self.format, "bucket_metric_value")?;
        made.body.insert("keys".into(), keys.into());
        Ok(made)
    }
}

/// Returns the values of all buckets that the path leads to, with the buckets.
pub fn values<'p>(path: &BucketsPath, gaps: GapPolicy, level: &Level<'p>) -> Result<Vec<(Row<'p>, f64)>> {
    let mut out = Vec::new();
    each_value(path, gaps, level, &mut |_, row, value| out.push((row, value)))?;
    Ok(out)
}

/// The position of a bucket: the indexes from the pipeline's level down to its aggregation, and its own
/// index.
#[derive(Debug, Clone, Copy)]
pub struct BucketPlace<'b> {
    pub aggregation: &'b [usize],
    pub bucket: usize,
}

/// Called with the position of a bucket, the bucket, and its value.
pub type SeenValue<'v, 'p> = &'v mut dyn FnMut(BucketPlace<'_>, Row<'p>, f64);

/// Calls `seen` with every bucket that the path leads to and that has a value.
pub fn each_value<'p>(
    path: &BucketsPath,
    gaps: GapPolicy,
    level: &Level<'p>,
    seen: SeenValue<'_, 'p>,
) -> Result<()> {
    collect(&path.elements, gaps, level, &mut Vec::new(), seen)
}

fn collect<'p>(
    steps: &[Element],
    gaps: GapPolicy,
    level: &Level<'p>,
    places: &mut Vec<usize>,
    seen: SeenValue<'_, 'p>,
) -> Result<()> {
    let Some((step, rest)) = steps.split_first() else { return Ok(()) };
    let Some((place, value)) = find(level.list, &step.name) else { return Ok(()) };
    // The path `range.v` means the same as `range>v`.
    let value = value.map(|name| Element { name: name.to_owned(), key: None });
    let rest: Vec<Element> = value.into_iter().chain(rest.iter().cloned()).collect();
    let rest = rest.as_slice();
    let (own, shape, partial) = (&level.list[place], &level.shapes[place], &level.partials[place]);
    let below = (own.subs.as_slice(), shape.subs.as_slice());
    places.push(place);
    if let Some(bucket) = single(partial) {
        let inside = Level { list: below.0, shapes: below.1, partials: &bucket.subs };
        collect(rest, gaps, &inside, places, seen)?;
        places.pop();
        return Ok(());
    }
    let rows = if has_several_buckets(own) { rows(own, shape, partial)? } else { Vec::new() };
    let text = rest.iter().map(|step| step.name.as_str()).collect::<Vec<_>>().join(">");
    let below_path = BucketsPath { text, elements: rest.to_vec() };
    for (number, row) in rows.into_iter().enumerate() {
        check_request()?;
        if let Some(key) = &step.key {
            if *key != row.text()? {
                continue;
            }
            let inside = Level { list: below.0, shapes: below.1, partials: row.subs };
            collect(rest, gaps, &inside, places, seen)?;
            continue;
        }
        if rest.is_empty() {
            return Err(wrong("Bucket", &own.name));
        }
        let value = value_of(&below_path, gaps, below, &row, &own.name)?.unwrap_or(f64::NAN);
        if !value.is_nan() {
            seen(BucketPlace { aggregation: places, bucket: number }, row, value);
        }
    }
    places.pop();
    Ok(())
}

impl Pipeline for BucketMetric {
    fn paths(&self) -> Vec<&BucketsPath> {
        vec![&self.path]
    }

    fn check(&self, own: &Aggregation, _: Option<&Aggregation>, siblings: &[Aggregation]) -> Option<String> {
        several_buckets(own, &self.path, siblings)
    }

    fn is_beside(&self) -> bool {
        true
    }

    fn beside(&self, level: &Level<'_>) -> Result<Partial> {
        let values = values(&self.path, self.gaps, level)?;
        if matches!(self.kind, MetricKind::Max | MetricKind::Min) {
            return Ok(self.extreme(&values)?.into_partial());
        }
        let mut state = MetricState {
            count: 0,
            sum: 0.0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            sum_of_squares: 0.0,
        };
        for (_, value) in &values {
            state.count += 1;
            state.sum += value;
            state.min = state.min.min(*value);
            state.max = state.max.max(*value);
            state.sum_of_squares += value * value;
        }
        let metric = Metric { kind: self.kind, values: ValuesOptions::default(), sigma: self.sigma };
        let typed_name = match self.kind {
            MetricKind::Avg => {
                let avg = if state.count == 0 { f64::NAN } else { state.sum / state.count as f64 };
                return Ok(SimpleValue::new(avg, &self.format)?.into_partial());
            }
            MetricKind::Sum => return Ok(SimpleValue::new(state.sum, &self.format)?.into_partial()),
            MetricKind::Stats => "stats_bucket",
            _ => "extended_stats_bucket",
        };
        let names = ["count", "min", "max", "avg", "sum", "sum_of_squares", "variance", "std_deviation"];
        let numbers = names
            .iter()
            .map(|name| ((*name).to_owned(), state.order_value(self.kind, Some(name), self.sigma)))
            .collect();
        let mut body = Map::new();
        state.write(&metric, &self.format, &mut body)?;
        Ok(PipelineValue { typed_name, body, numbers, bucket: None }.into_partial())
    }
}

/// Converts a number to JSON; null if it is not finite.
pub fn shown(value: f64) -> Value {
    if value.is_finite() { double(value) } else { Value::Null }
}
