//! The options of `range` and `date_range`. Source: Elasticsearch's `RangeAggregationBuilder`,
//! `DateRangeAggregationBuilder`.

use limber_mapping::geo::{ArcFrom, DistanceKind, GeoPoint, Unit};
use limber_mapping::number::java_double;
use limber_mapping::{ObjectParser, RequestError, Summary, SummaryColumn};
use serde_json::Value;

use super::super::answer::members::Members;
use super::super::answer::partial::{Bucket, with_places};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::bind::{Bound, Shape};
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::{Options, ValuesOptions, unknown_field};
use super::super::source::{Accepts, Source};
use super::super::tree::{Aggregation, Kind};
use super::super::values::claimed;
use super::super::values::format::{Format, double};
use super::super::values::refused::check_no_subs;
use super::date_options::instant;
use super::range_collector::RangeCollector;
use super::weighted_buckets::WeightedRanges;
use crate::error::Result;
use crate::values::json;

/// Largest number of ranges of one aggregation.
const RANGE_COUNT_MAX: usize = 10_000;

/// One range as given in the request.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    pub key: Option<String>,
    pub from: Option<Value>,
    pub to: Option<Value>,
}

/// The options of `range`, `date_range` and `geo_distance`: ranges of numbers, each of which is a bucket.
#[derive(Debug, Clone)]
pub struct Ranges {
    pub name: String,
    /// Whether this is a `date_range`.
    pub has_dates: bool,
    pub values: ValuesOptions,
    pub ranges: Vec<Range>,
    pub keyed: bool,
    /// The point that distances are measured from, for `geo_distance`.
    pub origin: Option<Origin>,
}

/// How distances from the origin are measured.
#[derive(Debug, Clone, Copy)]
pub struct Origin {
    pub(crate) from: ArcFrom,
    pub(crate) kind: DistanceKind,
    pub(crate) unit: Unit,
}

impl Origin {
    /// Replaces the contents of `out` by the distances of stored points.
    pub fn distances(&self, stored: &[i64], out: &mut Vec<f64>) {
        out.clear();
        out.extend(stored.iter().map(|&stored| {
            let point = GeoPoint::decode(stored);
            self.kind.meters(&self.from, point.latitude, point.longitude) / self.unit.meters
        }));
    }
}

/// One range on a shard: `from` is included, `to` is excluded; open ends are infinite.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownRange {
    pub key: Option<String>,
    pub from: f64,
    pub to: f64,
    /// The ends as the field would store them, for comparisons with values.
    pub stored_from: f64,
    pub stored_to: f64,
}

impl Ranges {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let ranges = ranges_of(options)?
            .into_iter()
            .map(|range| parse_range(options, range))
            .collect::<std::result::Result<_, _>>()?;
        let keyed = options.boolean("keyed")?.unwrap_or(false);
        let has_dates = options.kind == "date_range";
        let values =
            if has_dates { ValuesOptions::parse_with_zone(options)? } else { ValuesOptions::parse(options)? };
        let name = options.name.clone();
        Ok(Kind::own(Ranges { name, has_dates, values, ranges, keyed, origin: None }))
    }

    /// Resolves the ranges to numbers, sorted by their ends.
    fn bound(&self, source: &Source) -> Result<Vec<ShownRange>> {
        if self.ranges.is_empty() {
            return Err(RequestError::illegal_argument(format!(
                "No [ranges] specified for the [{}] aggregation",
                self.name
            ))
            .into());
        }
        let mut shown = Vec::with_capacity(self.ranges.len());
        for range in &self.ranges {
            let from = self.end(&range.from, source)?.unwrap_or(f64::NEG_INFINITY);
            let to = self.end(&range.to, source)?.unwrap_or(f64::INFINITY);
            let (stored_from, stored_to) = (stored(from, source), stored(to, source));
            shown.push(ShownRange { key: range.key.clone(), from, to, stored_from, stored_to });
        }
        shown.sort_by(|left, right| left.from.total_cmp(&right.from).then(left.to.total_cmp(&right.to)));
        Ok(shown)
    }

    /// Resolves an end to a number. In a `date_range`, numbers are truncated, and strings are in the format
    /// of the dates.
    fn end(&self, value: &Option<Value>, source: &Source) -> Result<Option<f64>> {
        let number = value.as_ref().filter(|_| self.has_dates).and_then(Value::as_f64);
        match number.filter(|number| number.is_finite()) {
            Some(number) if matches!(source.format, Format::Date { .. }) => {
                end(&Some((number as i64).to_string().into()), source)
            }
            Some(number) => Ok(Some(number.trunc())),
            None => end(value, source),
        }
    }
}

impl Request for Ranges {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        let accepts = match (self.has_dates, self.origin) {
            (true, _) => Accepts::Dates,
            (false, Some(_)) => Accepts::Places,
            (false, None) => Accepts::Numbers,
        };
        vec![(&self.values, accepts)]
    }

    fn reads_ranges(&self) -> bool {
        true
    }

    fn summary_columns(&self, summary: &Summary) -> &'static [SummaryColumn] {
        match self.has_dates || self.origin.is_some() {
            true => &[],
            false => summary.weighted_columns(),
        }
    }

    fn check_subs(&self, own: &Aggregation, bound: &Bound) -> std::result::Result<(), RequestError> {
        check_no_subs(own, bound, "Range")
    }

    fn complete_shape(&self, shape: &mut Shape) -> Result<()> {
        shape.ranges = self.bound(&shape.sources[0])?;
        Ok(())
    }

    fn can_be_sampled(&self) -> bool {
        self.origin.is_none()
    }
}

impl Collect for Ranges {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let CollectorContext { bound, subs, budget, .. } = context;
        let (ranges, sources) = (&bound.shape.ranges, bound.sources());
        match bound.reads_summaries() {
            true => Ok(Box::new(WeightedRanges::new(ranges, sources, subs, budget))),
            false => Ok(Box::new(RangeCollector::new(self, ranges, &sources[0], subs, budget)?)),
        }
    }
}

impl Reduce for Ranges {
    type Finding = Vec<Bucket>;

    fn reduce(
        &self,
        own: &Aggregation,
        parts: Vec<Vec<Bucket>>,
        reducer: &mut Reducer<'_>,
    ) -> Result<Vec<Bucket>> {
        let width = reducer.shape().map_or(0, |shape| shape.ranges.len());
        reducer.fixed(own, parts, width)
    }
}

impl Render for Ranges {
    fn render(&self, buckets: &Vec<Bucket>, renderer: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        let format = &renderer.shape.format;
        let ranges = &renderer.shape.ranges;
        let with_ranges =
            with_places(buckets).filter_map(|(place, bucket)| Some((ranges.get(place)?, bucket)));
        out.buckets(self.keyed, |buckets| {
            for (range, bucket) in with_ranges {
                let key = range.key(format)?;
                buckets.add(&key, |out| {
                    if !self.keyed {
                        out.insert("key", &key)?;
                    }
                    for (name, end) in [("from", range.from), ("to", range.to)] {
                        if end.is_finite() {
                            out.insert(name, &double(end))?;
                            if !format.is_raw() {
                                out.insert(&format!("{name}_as_string"), &format.value(end)?)?;
                            }
                        }
                    }
                    renderer.bucket(bucket.doc_count, &bucket.subs, out)
                })?;
            }
            Ok(())
        })
    }

    fn bucket_text(&self, place: usize, shape: &Shape) -> Result<Option<String>> {
        shape.ranges.get(place).map(|range| range.key(&shape.format)).transpose()
    }

    fn java_name(&self, _: &Vec<Bucket>, _: Option<&str>) -> &'static str {
        "InternalRange"
    }
}

impl ShownRange {
    /// Returns the bucket's key: the given one, or `from-to`.
    pub fn key(&self, format: &Format) -> Result<String> {
        let shown = |end: f64| if end.is_finite() { format.text(end) } else { Ok("*".to_owned()) };
        match &self.key {
            Some(key) => claimed::name(key),
            None => claimed::joined(&[shown(self.from)?, shown(self.to)?], "-"),
        }
    }
}

/// Reads the list `ranges`.
pub(super) fn ranges_of(options: &mut Options) -> std::result::Result<Vec<Value>, RequestError> {
    let list = match options.take_typed("ranges")? {
        None => Vec::new(),
        Some(Value::Array(list)) => list,
        Some(other) => return Err(options.wrong_type("ranges", &other)),
    };
    if list.len() > RANGE_COUNT_MAX {
        return Err(options.refused("ranges", format!("more than {RANGE_COUNT_MAX} ranges")));
    }
    Ok(list)
}

fn parse_range(options: &Options, range: Value) -> std::result::Result<Range, RequestError> {
    let Value::Object(mut object) = range else {
        return Err(options.wrong_type("ranges", &range));
    };
    if let Some(key) = object.get("key").filter(|key| json::scalar_text(key).is_none()) {
        return Err(options.failed("ranges", ObjectParser::new("range").unsupported("key", key)));
    }
    let mut take = |name: &str| object.shift_remove(name).filter(|value| !value.is_null());
    let (key, from, to) = (take("key"), take("from"), take("to"));
    for (name, end) in [("from", &from), ("to", &to)] {
        if let Some(end @ (Value::Array(_) | Value::Object(_) | Value::Bool(_))) = end {
            return Err(options.failed("ranges", ObjectParser::new("range").unsupported(name, end)));
        }
    }
    if let Some(other) = object.keys().next() {
        return Err(options.failed("ranges", unknown_field("range", other)));
    }
    let key = key.map(|key| json::scalar_text(&key).unwrap_or_default());
    Ok(Range { key, from, to })
}

fn end(value: &Option<Value>, source: &Source) -> Result<Option<f64>> {
    let Some(given) = value else { return Ok(None) };
    if matches!(source.format, Format::Date { .. }) {
        return Ok(instant(value, source)?.map(|instant| instant as f64));
    }
    let number = given.as_f64().or_else(|| given.as_str().and_then(|text| text.trim().parse().ok()));
    let number = number.ok_or_else(|| json::number_format(json::scalar_text(given).unwrap_or_default()))?;
    if number.is_nan() {
        return Err(RequestError::illegal_argument(format!(
            "[{}] is not a valid end of a range",
            java_double(number)
        ))
        .into());
    }
    Ok(Some(number))
}

/// A float field rounds its values, so the ends that are compared with them are rounded, too.
fn stored(end: f64, source: &Source) -> f64 {
    source.field.as_ref().map_or(end, |field| field.round(end))
}
