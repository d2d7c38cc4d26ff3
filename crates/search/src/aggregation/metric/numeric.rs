//! `avg`, `sum`, `min`, `max`, `stats`, `extended_stats` and `value_count`: options, state and rendering.
//!
//! Source: Elasticsearch's `InternalAvg`, `InternalSum`, `InternalStats`, `InternalExtendedStats` and similar
//! classes.

use limber_mapping::{RequestError, Summary, SummaryColumn};
use serde_json::{Map, Value};

use super::super::answer::members::{Members, Object};
use super::super::answer::order::{NameCheck, OrderValues};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::{Options, ValuesOptions};
use super::super::source::{Accepts, Source};
use super::super::tree::{Aggregation, Kind};
use super::super::values::format::{Format, double};
use super::super::values::kahan::KahanSum;
use super::numeric_collector::MetricCollector;
use super::summary_collector::SummaryCollector;
use super::weighted_sums::WeightedSums;
use crate::error;

/// Which value is shown of those that follow from count, sum, minimum, maximum and sum of squares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    Avg,
    Sum,
    Min,
    Max,
    Stats,
    ExtendedStats,
    ValueCount,
}

/// One metric as given in the request.
#[derive(Debug, Clone)]
pub struct Metric {
    pub kind: MetricKind,
    pub values: ValuesOptions,
    /// For `extended_stats`: the number of standard deviations between the mean and a bound.
    pub sigma: f64,
}

impl Metric {
    fn parse(kind: MetricKind, options: &mut Options) -> Result<Kind, RequestError> {
        let sigma = match kind {
            MetricKind::ExtendedStats => options.double("sigma")?.unwrap_or(2.0),
            _ => 2.0,
        };
        if sigma < 0.0 {
            let shown = limber_mapping::number::java_double(sigma);
            let reason =
                format!("[sigma] must be greater than or equal to 0. Found [{shown}] in [{}]", options.name);
            return Err(options.refused("sigma", reason));
        }
        Ok(Kind::own(Metric { kind, values: ValuesOptions::parse(options)?, sigma }))
    }

    pub(crate) fn avg(options: &mut Options) -> Result<Kind, RequestError> {
        Metric::parse(MetricKind::Avg, options)
    }

    pub(crate) fn sum(options: &mut Options) -> Result<Kind, RequestError> {
        Metric::parse(MetricKind::Sum, options)
    }

    pub(crate) fn min(options: &mut Options) -> Result<Kind, RequestError> {
        Metric::parse(MetricKind::Min, options)
    }

    pub(crate) fn max(options: &mut Options) -> Result<Kind, RequestError> {
        Metric::parse(MetricKind::Max, options)
    }

    pub(crate) fn stats(options: &mut Options) -> Result<Kind, RequestError> {
        Metric::parse(MetricKind::Stats, options)
    }

    pub(crate) fn extended_stats(options: &mut Options) -> Result<Kind, RequestError> {
        Metric::parse(MetricKind::ExtendedStats, options)
    }

    pub(crate) fn value_count(options: &mut Options) -> Result<Kind, RequestError> {
        Metric::parse(MetricKind::ValueCount, options)
    }

    /// Makes the collector of the values of a field, or of the columns of its summaries.
    pub(super) fn collector_of<'s>(
        &self,
        sources: &'s [Source],
        budget: &'s Budget,
    ) -> error::Result<Box<dyn Collector<'s> + 's>> {
        match (self.kind, sources) {
            (kind, [_, totals]) if totals.summary == Some(SummaryColumn::Totals) => {
                Ok(Box::new(WeightedSums::new(kind, sources, budget)))
            }
            (MetricKind::Avg | MetricKind::ValueCount, [first, ..]) if first.summary.is_some() => {
                Ok(Box::new(SummaryCollector::new(self, sources, budget)?))
            }
            _ => Ok(Box::new(MetricCollector::new(self, &sources[0], budget)?)),
        }
    }

    fn is_multi_value(&self) -> bool {
        matches!(self.kind, MetricKind::Stats | MetricKind::ExtendedStats)
    }
}

impl Request for Metric {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        let accepts = match self.kind {
            MetricKind::ValueCount => Accepts::Anything,
            _ => Accepts::Numbers,
        };
        vec![(&self.values, accepts)]
    }

    fn reads_ranges(&self) -> bool {
        true
    }

    fn summary_columns(&self, summary: &Summary) -> &'static [SummaryColumn] {
        match self.kind {
            MetricKind::Stats | MetricKind::ExtendedStats => &[],
            MetricKind::Min | MetricKind::Max if summary.is_histogram() => &[SummaryColumn::Values],
            _ if summary.is_histogram() => summary.weighted_columns(),
            MetricKind::Avg => &[SummaryColumn::Sum, SummaryColumn::ValueCount],
            MetricKind::Sum => &[SummaryColumn::Sum],
            MetricKind::Min => &[SummaryColumn::Min],
            MetricKind::Max => &[SummaryColumn::Max],
            MetricKind::ValueCount => &[SummaryColumn::ValueCount],
        }
    }

    /// A script may read scores.
    fn needs_scores(&self) -> bool {
        self.values.may_read_score()
    }

    fn takes_subs(&self) -> bool {
        false
    }

    fn check_number(&self, own: &Aggregation, value: Option<&str>) -> Result<(), RequestError> {
        if !self.is_multi_value() || value.is_some() {
            return Ok(());
        }
        Err(RequestError::illegal_argument(format!(
            "No enum constant org.elasticsearch.search.aggregations.metrics.Internal{}.Metrics.{}",
            if self.kind == MetricKind::Stats { "Stats" } else { "ExtendedStats" },
            own.name
        )))
    }

    fn order_values(&self) -> OrderValues {
        match self.is_multi_value() {
            true => OrderValues::Several,
            false => OrderValues::One,
        }
    }

    /// Checks whether `stats` and `extended_stats` have a value with this name.
    fn check_order_name(&self, own: &str, name: &str) -> NameCheck {
        let is_extended = self.kind == MetricKind::ExtendedStats && EXTENDED_NAMES.contains(&name);
        if is_extended || STATS_NAMES.contains(&name) {
            return NameCheck::known();
        }
        let reason = format!(
            "No enum constant org.elasticsearch.search.aggregations.metrics.InternalStats.Metrics.{name}"
        );
        NameCheck::unknown(own, name, reason)
    }

    fn can_be_sampled(&self) -> bool {
        true
    }
}

impl Collect for Metric {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> error::Result<Box<dyn Collector<'s> + 's>> {
        self.collector_of(context.bound.sources(), context.budget)
    }
}

impl Reduce for Metric {
    type Finding = MetricState;

    fn reduce(
        &self,
        _: &Aggregation,
        parts: Vec<MetricState>,
        _: &mut Reducer<'_>,
    ) -> error::Result<MetricState> {
        Ok(MetricState::reduce(parts.iter()))
    }
}

impl Render for Metric {
    fn render(
        &self,
        state: &MetricState,
        renderer: &Renderer<'_>,
        out: &mut Members<'_>,
    ) -> error::Result<()> {
        state.write(self, &renderer.shape.format, out)
    }

    fn number(&self, state: &MetricState, value: Option<&str>) -> Option<f64> {
        Some(state.order_value(self.kind, value.filter(|name| *name != "value"), self.sigma))
    }
}

/// The values of `stats`.
pub const STATS_NAMES: [&str; 5] = ["count", "min", "max", "avg", "sum"];

/// The values that `extended_stats` has besides those of `stats`.
pub const EXTENDED_NAMES: [&str; 13] = [
    "sum_of_squares",
    "variance",
    "variance_population",
    "variance_sampling",
    "std_deviation",
    "std_deviation_population",
    "std_deviation_sampling",
    "std_upper",
    "std_lower",
    "std_upper_population",
    "std_lower_population",
    "std_upper_sampling",
    "std_lower_sampling",
];

/// The state of one bucket. A metric only fills the fields that it shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricState {
    pub count: u64,
    pub sum: f64,
    pub min: f64,
    pub max: f64,
    pub sum_of_squares: f64,
}

impl Default for MetricState {
    fn default() -> MetricState {
        MetricState { count: 0, sum: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY, sum_of_squares: 0.0 }
    }
}

impl MetricState {
    /// Merges the states of several shards, with compensated sums as in Elasticsearch's reduce.
    pub fn reduce<'a>(states: impl Iterator<Item = &'a MetricState>) -> MetricState {
        let (mut sum, mut squares) = (KahanSum::default(), KahanSum::default());
        let mut all = MetricState::default();
        for state in states {
            all.count += state.count;
            all.min = all.min.min(state.min);
            all.max = all.max.max(state.max);
            sum.add(state.sum);
            squares.add(state.sum_of_squares);
        }
        (all.sum, all.sum_of_squares) = (sum.value, squares.value);
        all
    }

    fn avg(&self) -> f64 {
        self.sum / self.count as f64
    }

    fn variance_population(&self) -> f64 {
        let count = self.count as f64;
        let variance = (self.sum_of_squares - self.sum * self.sum / count) / count;
        if variance < 0.0 { 0.0 } else { variance }
    }

    fn variance_sampling(&self) -> f64 {
        let count = self.count as f64;
        let variance = (self.sum_of_squares - self.sum * self.sum / count) / (count - 1.0);
        if variance < 0.0 { 0.0 } else { variance }
    }

    /// Returns the value that buckets are ordered by; NaN sorts last.
    pub fn order_value(&self, kind: MetricKind, name: Option<&str>, sigma: f64) -> f64 {
        let deviation = self.variance_population().sqrt();
        match (kind, name.unwrap_or_default()) {
            (MetricKind::Avg, _) | (_, "avg") => self.avg(),
            (MetricKind::Sum, _) | (_, "sum") => self.sum,
            (MetricKind::Min, _) | (_, "min") => self.min,
            (MetricKind::Max, _) | (_, "max") => self.max,
            (MetricKind::ValueCount, _) | (_, "count") => self.count as f64,
            (_, "sum_of_squares") => self.sum_of_squares,
            (_, "variance" | "variance_population") => self.variance_population(),
            (_, "variance_sampling") => self.variance_sampling(),
            (_, "std_deviation" | "std_deviation_population") => deviation,
            (_, "std_deviation_sampling") => self.variance_sampling().sqrt(),
            (_, "std_upper" | "std_upper_population") => self.avg() + deviation * sigma,
            (_, "std_lower" | "std_lower_population") => self.avg() - deviation * sigma,
            (_, "std_upper_sampling") => self.avg() + self.variance_sampling().sqrt() * sigma,
            (_, "std_lower_sampling") => self.avg() - self.variance_sampling().sqrt() * sigma,
            _ => f64::NAN,
        }
    }

    /// Renders the body of the answer.
    ///
    /// # Errors
    /// As for [`Object::put`].
    pub fn write(self, metric: &Metric, format: &Format, out: &mut impl Object) -> error::Result<()> {
        match metric.kind {
            MetricKind::ValueCount => out.put("value", self.count.into()),
            MetricKind::Avg => single(out, self.avg(), self.count > 0, format),
            MetricKind::Sum => single(out, self.sum, true, format),
            MetricKind::Min => single(out, self.min, self.min.is_finite() || self.min.is_nan(), format),
            MetricKind::Max => single(out, self.max, self.max.is_finite() || self.max.is_nan(), format),
            MetricKind::Stats => self.stats(out, format),
            MetricKind::ExtendedStats => {
                self.stats(out, format)?;
                self.extended(out, metric.sigma, format)
            }
        }
    }

    fn stats(&self, out: &mut impl Object, format: &Format) -> error::Result<()> {
        out.put("count", self.count.into())?;
        let shown = |value: f64| if self.count > 0 { double(value) } else { Value::Null };
        let values = [("min", self.min), ("max", self.max), ("avg", self.avg())];
        for (name, value) in values {
            out.put(name, shown(value))?;
        }
        out.put("sum", double(self.sum))?;
        if self.count > 0 && !format.is_raw() {
            for (name, value) in values.into_iter().chain([("sum", self.sum)]) {
                out.put(&format!("{name}_as_string"), format.value(value)?)?;
            }
        }
        Ok(())
    }

    fn extended(&self, out: &mut impl Object, sigma: f64, format: &Format) -> error::Result<()> {
        let (population, sampling) = (self.variance_population(), self.variance_sampling());
        let values = [
            ("sum_of_squares", self.sum_of_squares),
            ("variance", population),
            ("variance_population", population),
            ("variance_sampling", sampling),
            ("std_deviation", population.sqrt()),
            ("std_deviation_population", population.sqrt()),
            ("std_deviation_sampling", sampling.sqrt()),
        ];
        let avg = self.avg();
        let upper = |deviation: f64| avg + deviation * sigma;
        let lower = |deviation: f64| avg - deviation * sigma;
        let bounds = [
            ("upper", upper(population.sqrt())),
            ("lower", lower(population.sqrt())),
            ("upper_population", upper(population.sqrt())),
            ("lower_population", lower(population.sqrt())),
            ("upper_sampling", upper(sampling.sqrt())),
            ("lower_sampling", lower(sampling.sqrt())),
        ];
        let shown = |value: f64| if self.count > 0 { double(value) } else { Value::Null };
        for (name, value) in values {
            out.put(name, shown(value))?;
        }
        let shown_bounds: Map<String, Value> =
            bounds.iter().map(|(name, value)| ((*name).to_owned(), shown(*value))).collect();
        out.put("std_deviation_bounds", shown_bounds.into())?;
        if self.count > 0 && !format.is_raw() {
            for (position, (name, value)) in values.into_iter().enumerate() {
                // Elasticsearch formats the deviations as strings, and the other values with the format's own
                // type.
                let text = if position < 4 { format.value(value)? } else { format.text(value)?.into() };
                out.put(&format!("{name}_as_string"), text)?;
            }
            let texts =
                bounds.iter().map(|(name, value)| Ok(((*name).to_owned(), format.text(*value)?.into())));
            let texts: Map<String, Value> = texts.collect::<error::Result<_>>()?;
            out.put("std_deviation_bounds_as_string", texts.into())?;
        }
        Ok(())
    }
}

/// Adds `value`, and `value_as_string` if the value is formatted.
pub(super) fn single(
    out: &mut impl Object,
    value: f64,
    has_value: bool,
    format: &Format,
) -> error::Result<()> {
    out.put("value", if has_value { double(value) } else { Value::Null })?;
    if has_value && !format.is_raw() {
        out.put("value_as_string", format.text(value)?.into())?;
    }
    Ok(())
}
