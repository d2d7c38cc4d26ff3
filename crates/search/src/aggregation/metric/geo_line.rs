//! `geo_line`: the points of a bucket as a line, sorted by another field. Source: Elasticsearch's
//! `GeoLineAggregator`, `InternalGeoLine`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use limber_mapping::geo::GeoPoint;
use limber_mapping::{ObjectParser, RequestError};
use limber_segment::SegmentView;
use serde_json::{Value, json};

use super::super::answer::members::Members;
use super::super::answer::partial::{Finding, OwnFinding, Partial};
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::bucket::TimeSeries;
use super::super::buckets::entries::Entries;
use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::{Options, ValuesOptions, unknown_field};
use super::super::source::{Accepts, NumberReader, Source};
use super::super::tree::{Aggregation, Kind};
use crate::error::Result;

/// Largest number of points of a line (`MAX_PATH_SIZE`), and the default.
const PLACES_MAX: i32 = 10_000;

/// The field that sorts the points of a time series.
const TIMESTAMP: &str = "@timestamp";

/// The options of a `geo_line`: the field of the points, and the field that sorts them.
#[derive(Debug, Clone)]
pub struct GeoLine {
    point: ValuesOptions,
    sort: ValuesOptions,
    /// Whether the request gives no `sort`, which must be below `time_series` then.
    is_of_series: bool,
    shows_sort: bool,
    descends: bool,
    places_max: usize,
}

impl GeoLine {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let mut part = |name: &'static str| {
            let Some(map) = options.object(name)? else { return Ok(None) };
            let mut own = Options::new("geo_line", &options.name, map);
            let values = ValuesOptions::parse(&mut own).and_then(|values| own.finish().map(|()| values));
            values.map(Some).map_err(|cause| options.failed(name, cause))
        };
        let point = part("point")?.ok_or_else(|| ObjectParser::required("point"))?;
        let sort = part("sort")?;
        let shows_sort = options.boolean("include_sort")?.unwrap_or(false);
        let descends = match options.text("sort_order")?.map(|order| order.to_lowercase()).as_deref() {
            None | Some("asc") => false,
            Some("desc") => true,
            Some(other) => {
                let reason = format!(
                    "No enum constant org.elasticsearch.search.sort.SortOrder.{}",
                    other.to_uppercase()
                );
                return Err(RequestError::illegal_argument(reason));
            }
        };
        let size = options.int("size")?.unwrap_or(PLACES_MAX);
        if !(1..=PLACES_MAX).contains(&size) {
            let reason = format!("invalid [size] value [{size}] must be a positive integer <= {PLACES_MAX}");
            return Err(RequestError::illegal_argument(reason));
        }
        if let Some(option) = options.first_left() {
            return Err(unknown_field(options.kind, option));
        }
        let is_of_series = sort.is_none();
        let sort = sort.unwrap_or_else(|| ValuesOptions::of_field(TIMESTAMP));
        let places_max = size as usize;
        Ok(Kind::own(GeoLine { point, sort, is_of_series, shows_sort, descends, places_max }))
    }
}

/// A point with its sort value.
#[derive(Debug, Clone, Copy)]
struct Stop {
    sort: f64,
    /// The point as it is encoded in a column.
    place: i64,
}

/// The line of one bucket.
#[derive(Debug, Clone, Default)]
pub struct Line {
    stops: Vec<Stop>,
    /// Whether points were left out.
    is_cut: bool,
}

impl OwnFinding for Line {}

impl Line {
    /// Sorts the points, and drops those beyond `places_max`; or if it `simplifies`, those without which the
    /// line changes least.
    fn settle(&mut self, descends: bool, places_max: usize, simplifies: bool) {
        // The sort is stable: points with equal sort values stay in the order of the documents.
        self.stops.sort_by(|left, right| match descends {
            true => right.sort.total_cmp(&left.sort),
            false => left.sort.total_cmp(&right.sort),
        });
        self.is_cut |= self.stops.len() > places_max;
        if simplifies {
            simplify(&mut self.stops, places_max);
        }
        self.stops.truncate(places_max);
    }

    /// Returns the coordinates, rounded to six digits as in Elasticsearch.
    fn coordinates(&self) -> Vec<Value> {
        let rounded = |degrees: f64| (degrees * 1e6).round() / 1e6;
        let shown = |stop: &Stop| {
            let place = GeoPoint::decode(stop.place);
            json!([rounded(place.longitude), rounded(place.latitude)])
        };
        self.stops.iter().map(shown).collect()
    }
}

/// Removes points between the first and the last until `count_max` are left: always the one whose triangle
/// with its neighbours is smallest (Visvalingam and Whyatt, "Line generalisation by repeated elimination of
/// points", 1993).
fn simplify(stops: &mut Vec<Stop>, count_max: usize) {
    let count = stops.len();
    if count <= count_max.max(2) {
        return;
    }
    let places: Vec<GeoPoint> = stops.iter().map(|stop| GeoPoint::decode(stop.place)).collect();
    let area = |ends: (usize, usize), at: usize| {
        let [first, middle, last] = [ends.0, at, ends.1].map(|at| places[at]);
        let (x, y) = (middle.longitude - first.longitude, middle.latitude - first.latitude);
        // Of numbers that are not negative, the bits are in the order of the numbers.
        (x * (last.latitude - first.latitude) - y * (last.longitude - first.longitude)).abs().to_bits()
    };
    // The neighbours of each point and its area, as long as it is there; an entry of the heap with another
    // area is outdated.
    let mut ends: Vec<(usize, usize)> = (0..count).map(|at| (at.saturating_sub(1), at + 1)).collect();
    let mut areas: Vec<Option<u64>> = vec![None; count];
    let mut smallest = BinaryHeap::with_capacity(count);
    for at in 1..count - 1 {
        areas[at] = Some(area(ends[at], at));
        smallest.push(Reverse((areas[at], at)));
    }
    let mut left = count;
    while left > count_max.max(2)
        && let Some(Reverse((found, at))) = smallest.pop()
    {
        if found != areas[at] || found.is_none() {
            continue;
        }
        areas[at] = None;
        left -= 1;
        let (before, after) = ends[at];
        ends[before].1 = after;
        ends[after].0 = before;
        for near in [before, after] {
            if areas[near].is_some() {
                areas[near] = Some(area(ends[near], near));
                smallest.push(Reverse((areas[near], near)));
            }
        }
    }
    let mut at = 0;
    stops.retain(|_| {
        at += 1;
        at == 1 || at == count || areas[at - 1].is_some()
    });
}

impl Request for GeoLine {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.point, Accepts::Places), (&self.sort, Accepts::Numbers)]
    }

    fn takes_subs(&self) -> bool {
        false
    }

    fn check_place(
        &self,
        _: &Aggregation,
        parents: &[&Aggregation],
    ) -> std::result::Result<(), RequestError> {
        let is_below_series = parents.iter().any(|parent| parent.request::<TimeSeries>().is_some());
        match is_below_series {
            false if self.is_of_series => Err(ObjectParser::required("sort")),
            true if self.sort.field != TIMESTAMP => Err(RequestError::illegal_argument(format!(
                "invalid field [{}] for [sort] below [time_series], must be [{TIMESTAMP}]",
                self.sort.field
            ))),
            _ => Ok(()),
        }
    }
}

impl Collect for GeoLine {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let [point, sort] = [0, 1].map(|part| &context.bound.sources()[part]);
        Ok(Box::new(LineCollector {
            own: self,
            point: (point, NumberReader::new(point)?),
            sort: (sort, NumberReader::new(sort)?),
            sorts: Vec::new(),
            doubles: Vec::new(),
            lines: Vec::new(),
            starts: Vec::new(),
            budget: context.budget,
        }))
    }
}

impl Reduce for GeoLine {
    type Finding = Line;

    fn reduce(&self, _: &Aggregation, parts: Vec<Line>, _: &mut Reducer<'_>) -> Result<Line> {
        let mut all = Line::default();
        for mut part in parts {
            all.is_cut |= part.is_cut;
            all.stops.append(&mut part.stops);
        }
        all.settle(self.descends, self.places_max, self.is_of_series);
        Ok(all)
    }
}

impl Render for GeoLine {
    fn render(&self, line: &Line, _: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        let mut coordinates = line.coordinates();
        let geometry = match coordinates.len() {
            1 => json!({"type": "Point", "coordinates": coordinates.remove(0)}),
            _ => json!({"type": "LineString", "coordinates": coordinates}),
        };
        let mut properties = json!({"complete": !line.is_cut});
        if self.shows_sort {
            properties["sort_values"] = line.stops.iter().map(|stop| stop.sort).collect();
        }
        out.insert("type", "Feature")?;
        out.insert("geometry", &geometry)?;
        out.insert("properties", &properties)
    }
}

#[derive(Debug)]
struct LineCollector<'s> {
    own: &'s GeoLine,
    point: (&'s Source, NumberReader<'s>),
    sort: (&'s Source, NumberReader<'s>),
    /// The sort value of each document in the batch; NaN if it has none.
    sorts: Vec<f64>,
    doubles: Vec<f64>,
    lines: Vec<Line>,
    starts: Vec<u32>,
    budget: &'s Budget,
}

impl<'s> Collector<'s> for LineCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.point.1.begin(&view.segment, self.point.0.is_mapped())?;
        self.sort.1.begin(&view.segment, self.sort.0.is_mapped())
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if entries.bucket_count > self.lines.len() {
            let more = entries.bucket_count - self.lines.len();
            self.budget.spend((more * size_of::<Line>()) as u64)?;
            self.lines.resize(entries.bucket_count, Line::default());
        }
        let stored = self.sort.1.load(entries.docs)?;
        self.sort.0.decode_all(stored.values, &mut self.doubles);
        self.sorts.clear();
        self.sorts.resize(entries.docs.len(), f64::NAN);
        for (at, &value) in self.doubles.iter().enumerate() {
            let position = stored.positions.map_or(at, |positions| positions[at] as usize);
            if !self.sorts[position].is_nan() {
                return Err(RequestError::illegal_argument(
                    "Encountered more than one sort value for a single document. Use a script to combine multiple \
                     sort-values-per-doc into a single value.",
                )
                .into());
            }
            self.sorts[position] = value;
        }
        let places = self.point.1.load(entries.docs)?;
        let (own, sorts, lines) = (self.own, &self.sorts, &mut self.lines);
        places.try_join(entries, &mut self.starts, |entry, bucket, place| {
            let sort = sorts[entries.position(entry)];
            if sort.is_nan() {
                return Ok(());
            }
            self.budget.spend(size_of::<Stop>() as u64)?;
            let line = &mut lines[bucket as usize];
            line.stops.push(Stop { sort, place });
            if line.stops.len() >= 2 * own.places_max.max(64) {
                line.settle(own.descends, own.places_max, own.is_of_series);
            }
            Ok(())
        })
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        let own = self.own;
        let line = |&bucket: &u32| {
            let mut line = self.lines.get_mut(bucket as usize).map(std::mem::take).unwrap_or_default();
            line.settle(own.descends, own.places_max, own.is_of_series);
            line.into_partial()
        };
        Ok(buckets.iter().map(line).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_places_in_order_and_no_more_than_it_may() {
        let stop = |sort: f64| Stop { sort, place: GeoPoint { latitude: sort, longitude: -sort }.encode() };
        let mut line = Line { stops: [3.0, 1.0, 2.0].map(stop).to_vec(), is_cut: false };
        line.settle(true, 2, false);
        assert!(line.is_cut);
        assert_eq!(line.coordinates(), [json!([-3.0, 3.0]), json!([-2.0, 2.0])]);
    }

    #[test]
    fn a_simplified_line_keeps_its_ends_and_its_corners() {
        let line = |latitudes: &[f64], places_max: usize| {
            let stop = |(at, latitude): (usize, &f64)| {
                let place = GeoPoint { latitude: *latitude, longitude: at as f64 }.encode();
                Stop { sort: at as f64, place }
            };
            let mut line = Line { stops: latitudes.iter().enumerate().map(stop).collect(), is_cut: false };
            line.settle(false, places_max, true);
            let kept: Vec<f64> = line.stops.iter().map(|stop| stop.sort).collect();
            (kept, line.is_cut)
        };
        let latitudes = [0.0, 0.1, 1.0, 10.0, 1.0, 0.3, 0.0];
        assert_eq!(line(&latitudes, 7), (vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0], false));
        assert_eq!(line(&latitudes, 5), (vec![0.0, 2.0, 3.0, 4.0, 6.0], true));
        assert_eq!(line(&latitudes, 3), (vec![0.0, 3.0, 6.0], true));
        assert_eq!(line(&latitudes, 2), (vec![0.0, 6.0], true));
        assert_eq!(line(&latitudes, 1), (vec![0.0], true));
    }
}
