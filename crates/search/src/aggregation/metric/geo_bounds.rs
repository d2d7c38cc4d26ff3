//! `geo_bounds`: the smallest rectangle around the places of a bucket. Source: Elasticsearch's `InternalGeoBounds`.

use limber_mapping::RequestError;
use limber_mapping::geo::GeoPoint;
use limber_segment::SegmentView;
use serde_json::{Map, Value, json};

use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::definition::{Definition, Place};
use super::super::entries::Entries;
use super::super::options::{Options, ValuesOptions};
use super::super::partial::Partial;
use super::super::reduce::Reducer;
use super::super::render::Renderer;
use super::super::source::{Accepts, NumberReader, Source};
use super::super::tree::{Aggregation, Kind};
use crate::error::Result;

#[derive(Debug, Clone)]
pub struct GeoBounds {
    values: ValuesOptions,
    /// Whether the rectangle may go over the date line when it is narrower so.
    wrap_longitude: bool,
}

impl GeoBounds {
    pub fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let wrap_longitude = options.boolean("wrap_longitude")?.unwrap_or(true);
        let values = ValuesOptions::parse_places(options, "field")?;
        Ok(Kind::own(GeoBounds { values, wrap_longitude }))
    }

    /// Nothing without places.
    fn to_json(&self, state: &BoundsState) -> Map<String, Value> {
        let mut out = Map::new();
        let (east, west) = (state.east, state.west);
        let (left, right) = match (west.is_empty(), east.is_empty()) {
            (true, true) => return out,
            (true, false) => (east.least, east.most),
            (false, true) => (west.least, west.most),
            (false, false) => {
                let unwrapped = east.most - west.least;
                let wrapped = (180.0 - east.least) - (-180.0 - west.most);
                match self.wrap_longitude && unwrapped > wrapped {
                    true => (east.least, west.most),
                    false => (west.least, east.most),
                }
            }
        };
        let bounds = json!({
            "top_left": {"lat": state.latitudes.most, "lon": left},
            "bottom_right": {"lat": state.latitudes.least, "lon": right},
        });
        out.insert("bounds".into(), bounds);
        out
    }
}

impl Definition for GeoBounds {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::Places)]
    }

    fn takes_subs(&self) -> bool {
        false
    }

    fn collector<'s>(&'s self, place: Place<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let source = &place.bound.sources()[0];
        Ok(Box::new(GeoBoundsCollector {
            source,
            reader: NumberReader::new(source, &self.values.field)?,
            states: Vec::new(),
            starts: Vec::new(),
            budget: place.budget,
        }))
    }

    fn reduce(&self, _: &Aggregation, parts: Vec<Partial>, _: &mut Reducer<'_>) -> Result<Partial> {
        let mut merged = BoundsState::default();
        parts.iter().filter_map(Partial::as_own).for_each(|state| merged.merge(state));
        Ok(Partial::own(merged))
    }

    fn render(&self, partial: &Partial, _: &Renderer<'_>, out: &mut Map<String, Value>) {
        if let Some(state) = partial.as_own::<BoundsState>() {
            out.extend(self.to_json(state));
        }
    }
}

/// The ends of some numbers.
#[derive(Debug, Clone, Copy)]
struct Ends {
    least: f64,
    most: f64,
}

impl Ends {
    const NONE: Ends = Ends { least: f64::INFINITY, most: f64::NEG_INFINITY };

    fn is_empty(&self) -> bool {
        self.least > self.most
    }

    #[inline]
    fn add(&mut self, least: f64, most: f64) {
        self.least = self.least.min(least);
        self.most = self.most.max(most);
    }
}

/// Ends of latitudes, and of longitudes on either side of Greenwich.
#[derive(Debug, Clone, Copy)]
struct BoundsState {
    latitudes: Ends,
    west: Ends,
    east: Ends,
}

impl Default for BoundsState {
    fn default() -> BoundsState {
        BoundsState { latitudes: Ends::NONE, west: Ends::NONE, east: Ends::NONE }
    }
}

impl BoundsState {
    fn merge(&mut self, other: &BoundsState) {
        self.latitudes.add(other.latitudes.least, other.latitudes.most);
        self.west.add(other.west.least, other.west.most);
        self.east.add(other.east.least, other.east.most);
    }

    #[inline]
    fn add(&mut self, point: GeoPoint) {
        self.latitudes.add(point.latitude, point.latitude);
        let side = if point.longitude < 0.0 { &mut self.west } else { &mut self.east };
        side.add(point.longitude, point.longitude);
    }
}

#[derive(Debug)]
struct GeoBoundsCollector<'s> {
    source: &'s Source,
    reader: NumberReader<'s>,
    states: Vec<BoundsState>,
    starts: Vec<u32>,
    budget: &'s Budget,
}

impl<'s> Collector<'s> for GeoBoundsCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.reader.begin(&view.segment, self.source.is_mapped())
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if entries.bucket_count > self.states.len() {
            let more = entries.bucket_count - self.states.len();
            self.budget.spend((more * size_of::<BoundsState>()) as u64)?;
            self.states.resize(entries.bucket_count, BoundsState::default());
        }
        let places = self.reader.load(entries.docs)?;
        let states = &mut self.states;
        places.join(entries, &mut self.starts, |_, bucket, place| {
            states[bucket as usize].add(GeoPoint::decode(place));
        });
        Ok(())
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        let state = |bucket: &u32| self.states.get(*bucket as usize).copied().unwrap_or_default();
        Ok(buckets.iter().map(|bucket| Partial::own(state(bucket))).collect())
    }
}
