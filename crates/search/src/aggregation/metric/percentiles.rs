//! `percentiles` and `percentile_ranks`: the values at given percentages, and the percentages at given
//! values.
//!
//! Source: Elasticsearch's `PercentilesAggregationBuilder`, `PercentileRanksAggregationBuilder`,
//! `PercentilesConfig`.

use limber_mapping::number::java_double;
use limber_mapping::{ObjectParser, RequestError, Summary, SummaryColumn};
use serde_json::{Map, Value};

use super::super::answer::members::Members;
use super::super::answer::order::{NameCheck, OrderValues};
use super::super::answer::partial::Partial;
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::bind::Shape;
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::{Options, ValuesOptions};
use super::super::source::Accepts;
use super::super::tree::{Aggregation, Kind};
use super::super::values::format::{Format, double};
use super::digest::Digest;
use super::distribution::Distribution;
use super::hdr::{DIGITS_MAX, Histogram};
use super::moving::MovingDistribution;
use super::percentiles_collector::PercentilesCollector;
use super::weighted_distributions::{OfDistribution, WeightedDistributions};
use crate::error::Result;
use crate::values::json;

/// The points of `percentiles` without `percents`.
pub const PERCENTS: [f64; 7] = [1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0];

/// Elasticsearch's default `tdigest.compression` and `hdr.number_of_significant_value_digits`.
const COMPRESSION: f64 = 100.0;
const DIGITS: i32 = 3;

/// How many times finer `high_accuracy` is. Elasticsearch uses another, slower digest instead.
const HIGH_ACCURACY: f64 = 10.0;

/// How the distribution is stored.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Method {
    Digest { compression: f64 },
    Hdr { digits: i32 },
}

/// What is computed from the distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// The values at given percentages.
    Values,
    /// The percentages at given values.
    Ranks,
}

/// The options of `percentiles` and `percentile_ranks`: the field, the percentages or values, and the method.
#[derive(Debug, Clone)]
pub struct Percentiles {
    pub values: ValuesOptions,
    asked: Asked,
    /// The percentages or values, ascending.
    points: Vec<f64>,
    keyed: bool,
    method: Method,
}

impl Percentiles {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let percents = numbers(options, "percents")?;
        let method = method(options)?;
        let points = match percents {
            None => PERCENTS.to_vec(),
            Some(percents) if percents.is_empty() => {
                return Err(unbuilt(options, "[percents] must not be empty"));
            }
            Some(percents) => percents,
        };
        if let Some(wrong) = points.iter().find(|point| !(0.0..=100.0).contains(*point)) {
            return Err(unbuilt(
                options,
                &format!("percent must be in [0,100], got [{}]", java_double(*wrong)),
            ));
        }
        if let Some(pair) = points.windows(2).find(|pair| pair[0] == pair[1]) {
            let reason = format!("percent [{}] has been specified twice", java_double(pair[0]));
            return Err(unbuilt(options, &reason));
        }
        Percentiles::finish(options, Asked::Values, points, method)
    }

    pub(crate) fn parse_ranks(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let values = numbers(options, "values")?;
        let method = method(options)?;
        match values {
            // A missing `field` is reported first.
            None if !options.has("field") => Percentiles::finish(options, Asked::Ranks, Vec::new(), method),
            None => Err(unbuilt(options, "[values] must not be null")),
            Some(values) if values.is_empty() => Err(unbuilt(options, "[values] must not be an empty array")),
            Some(values) => Percentiles::finish(options, Asked::Ranks, values, method),
        }
    }

    fn finish(
        options: &mut Options,
        asked: Asked,
        points: Vec<f64>,
        method: Method,
    ) -> std::result::Result<Kind, RequestError> {
        let keyed = options.boolean("keyed")?.unwrap_or(true);
        let values = ValuesOptions::parse(options)?;
        Ok(Kind::own(Percentiles { values, asked, points, keyed, method }))
    }

    /// Returns the name in typed keys, such as `tdigest_percentiles`.
    pub fn full_name(&self) -> &'static str {
        match (self.method, self.asked) {
            (Method::Digest { .. }, Asked::Values) => "tdigest_percentiles",
            (Method::Digest { .. }, Asked::Ranks) => "tdigest_percentile_ranks",
            (Method::Hdr { .. }, Asked::Values) => "hdr_percentiles",
            (Method::Hdr { .. }, Asked::Ranks) => "hdr_percentile_ranks",
        }
    }

    /// Makes an empty distribution of the chosen method.
    pub fn empty(&self) -> Distribution {
        match self.method {
            Method::Digest { compression } => Distribution::Digest(Digest::new(compression)),
            Method::Hdr { digits } => Distribution::Hdr(Histogram::new(digits)),
        }
    }

    /// Merges the distributions of the shards.
    pub fn merged(&self, parts: impl Iterator<Item = Distribution>) -> Distribution {
        let mut all = self.empty();
        for part in parts {
            match (&mut all, part) {
                (Distribution::Digest(own), Distribution::Digest(other)) => own.merge(other),
                (Distribution::Hdr(own), Distribution::Hdr(other)) => own.merge(other),
                _ => unreachable!("all shards keep the distribution by the request's method"),
            }
        }
        all.prepare();
        all
    }

    /// Returns the value that buckets are ordered by: the answer for the point with this name.
    pub(super) fn order_value(&self, distribution: &Distribution, name: Option<&str>) -> f64 {
        let point = name.and_then(|name| name.parse().ok());
        point.map_or(f64::NAN, |point| self.answer(distribution, point))
    }

    /// Returns all answers by the names of their points; `answer` returns the answer for a point.
    pub fn numbers_of(&self, answer: impl Fn(f64) -> f64) -> Vec<(String, f64)> {
        self.points.iter().map(|&point| (java_double(point), answer(point))).collect()
    }

    /// Returns the answer for a point in the window of a moving distribution.
    pub fn moving_answer(&self, moving: &MovingDistribution, point: f64) -> f64 {
        match self.asked {
            Asked::Values => moving.value_at(point),
            Asked::Ranks => moving.percent_at(point),
        }
    }

    fn answer(&self, distribution: &Distribution, point: f64) -> f64 {
        match (distribution, self.asked) {
            (Distribution::Digest(digest), Asked::Values) => digest.quantile((point / 100.0).clamp(0.0, 1.0)),
            (Distribution::Digest(digest), Asked::Ranks) => digest.share_below(point) * 100.0,
            (Distribution::Hdr(histogram), Asked::Values) => histogram.percentile(point),
            (Distribution::Hdr(histogram), Asked::Ranks) => histogram.percent_up_to(point),
        }
    }

    /// Renders the body of the answer; `answer` returns the answer for a point.
    ///
    /// # Errors
    /// Fails when there is no memory for all the points so far, or when the client has disconnected.
    pub fn json_of(&self, format: &Format, answer: impl Fn(f64) -> f64) -> Result<Map<String, Value>> {
        let (mut keyed, mut list) = (Map::new(), Vec::new());
        for &point in &self.points {
            let answer = answer(point);
            let shown = if answer.is_nan() { Value::Null } else { double(answer) };
            let is_formatted = !format.is_raw() && !answer.is_nan();
            let text = is_formatted.then(|| format.text(answer)).transpose()?.map(Value::from);
            if self.keyed {
                let key = java_double(point);
                let text = text.map(|text| (format!("{key}_as_string"), text));
                keyed.insert(key, shown);
                keyed.extend(text);
            } else {
                let head = [("key".to_owned(), double(point)), ("value".to_owned(), shown)];
                let text = text.map(|text| ("value_as_string".to_owned(), text));
                list.push(Value::Object(head.into_iter().chain(text).collect()));
            }
        }
        let values = if self.keyed { Value::Object(keyed) } else { Value::Array(list) };
        Ok(Map::from_iter([("values".to_owned(), values)]))
    }
}

impl Request for Percentiles {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::Numbers)]
    }

    fn needs_scores(&self) -> bool {
        self.values.may_read_score()
    }

    fn reads_ranges(&self) -> bool {
        true
    }

    fn summary_columns(&self, summary: &Summary) -> &'static [SummaryColumn] {
        summary.weighted_columns()
    }

    fn takes_subs(&self) -> bool {
        false
    }

    fn check_number(&self, own: &Aggregation, value: Option<&str>) -> std::result::Result<(), RequestError> {
        match value {
            Some(_) => Ok(()),
            None => Err(RequestError::illegal_argument(format!(
                "buckets_path must reference either a number value or a single value numeric metric aggregation, but [{}] contains multiple \
                 values. Please specify which to use.",
                own.name
            ))),
        }
    }

    fn order_values(&self) -> OrderValues {
        OrderValues::Several
    }

    /// On a shard, only the requested points are known names.
    fn check_order_name(&self, own: &str, name: &str) -> NameCheck {
        match name.parse::<f64>() {
            Err(_) => NameCheck::refused(format!("For input string: \"{name}\"")),
            Ok(point) if self.points.contains(&point) => NameCheck::known(),
            Ok(_) => NameCheck { in_reduce: Ok(()), ..NameCheck::unknown(own, name, String::new()) },
        }
    }

    fn can_be_sampled(&self) -> bool {
        true
    }
}

impl Collect for Percentiles {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let sources = context.bound.sources();
        match sources[0].summary {
            Some(_) => Ok(Box::new(WeightedDistributions::new(self, sources, context.budget))),
            None => Ok(Box::new(PercentilesCollector::new(self, &sources[0], &context)?)),
        }
    }
}

impl OfDistribution for Percentiles {
    fn begin(&self) -> Distribution {
        self.empty()
    }

    fn compared(&self, distribution: &Distribution, name: Option<&str>) -> f64 {
        self.order_value(distribution, name)
    }

    fn found(&self, distribution: Distribution) -> Partial {
        Partial::Distribution(Box::new(distribution))
    }
}

impl Reduce for Percentiles {
    type Finding = Box<Distribution>;

    fn reduce(
        &self,
        _: &Aggregation,
        parts: Vec<Box<Distribution>>,
        _: &mut Reducer<'_>,
    ) -> Result<Box<Distribution>> {
        Ok(Box::new(self.merged(parts.into_iter().map(|part| *part))))
    }
}

impl Render for Percentiles {
    fn typed_name(&self, _: &Aggregation, _: &Box<Distribution>, _: &Shape) -> String {
        self.full_name().to_owned()
    }

    fn render(
        &self,
        distribution: &Box<Distribution>,
        renderer: &Renderer<'_>,
        out: &mut Members<'_>,
    ) -> Result<()> {
        out.extend(&self.json_of(&renderer.shape.format, |point| self.answer(distribution, point))?)
    }

    fn number(&self, finding: &Box<Distribution>, value: Option<&str>) -> Option<f64> {
        Some(self.order_value(finding, value))
    }
}

/// Reads a number or a list of numbers, and sorts them.
fn numbers(options: &mut Options, option: &str) -> std::result::Result<Option<Vec<f64>>, RequestError> {
    let list = match options.take_typed(option)? {
        None => return Ok(None),
        Some(Value::Array(list)) => list,
        Some(map @ Value::Object(_)) => return Err(options.wrong_type(option, &map)),
        Some(one) => vec![one],
    };
    let mut numbers = Vec::with_capacity(list.len());
    for value in &list {
        let number = value.as_f64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()));
        let number = number.filter(|number| number.is_finite());
        numbers.push(number.ok_or_else(|| {
            options.failed(option, json::number_format(json::scalar_text(value).unwrap_or_default()))
        })?);
    }
    numbers.sort_unstable_by(f64::total_cmp);
    Ok(Some(numbers))
}

fn method(options: &mut Options) -> std::result::Result<Method, RequestError> {
    let name = options.name.clone();
    let below = |kind, map| Options::new(kind, &name, map);
    let digest = options.object("tdigest")?.map(|map| below("tdigest", map));
    let hdr = options.object("hdr")?.map(|map| below("hdr", map));
    match (digest, hdr) {
        (Some(_), Some(_)) => {
            let cause = RequestError::illegal_argument("Only one percentiles method should be declared.");
            Err(ObjectParser::new(options.kind).failed_to_build(cause))
        }
        (None, None) => Ok(Method::Digest { compression: COMPRESSION }),
        (Some(mut own), None) => digest_method(&mut own).map_err(|cause| options.failed("tdigest", cause)),
        (None, Some(mut own)) => hdr_method(&mut own).map_err(|cause| options.failed("hdr", cause)),
    }
}

fn digest_method(own: &mut Options) -> std::result::Result<Method, RequestError> {
    let compression = own.double("compression")?.unwrap_or(COMPRESSION);
    if compression < 0.0 {
        let shown = java_double(compression);
        let reason = format!("[compression] must be greater than or equal to 0. Found [{shown}]");
        return Err(own.refused("compression", reason));
    }
    let finer = match own.text("execution_hint")?.as_deref() {
        None | Some("default") => 1.0,
        Some("high_accuracy") => HIGH_ACCURACY,
        Some(hint) => {
            let reason =
                format!("Invalid execution_hint [{hint}], valid values are [default, high_accuracy]");
            return Err(own.refused("execution_hint", reason));
        }
    };
    own.finish()?;
    Ok(Method::Digest { compression: compression * finer })
}

fn hdr_method(own: &mut Options) -> std::result::Result<Method, RequestError> {
    let digits = own.int("number_of_significant_value_digits")?.unwrap_or(DIGITS);
    if !(0..=DIGITS_MAX).contains(&digits) {
        let reason = format!("[numberOfSignificantValueDigits] must be between 0 and {DIGITS_MAX}");
        return Err(own.refused("number_of_significant_value_digits", reason));
    }
    own.finish()?;
    Ok(Method::Hdr { digits })
}

fn unbuilt(options: &Options, reason: &str) -> RequestError {
    let cause = RequestError::illegal_argument(format!("{reason}: [{}]", options.name));
    ObjectParser::new(options.kind).failed_to_build(cause)
}
