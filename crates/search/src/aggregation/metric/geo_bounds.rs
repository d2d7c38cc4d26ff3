//! `geo_bounds`: the smallest rectangle around the places of a bucket. Source: Elasticsearch's `InternalGeoBounds`.

use limber_mapping::RequestError;
use limber_mapping::geo::GeoPoint;
use serde_json::{Map, Value, json};

use super::super::collector::Collector;
use super::super::definition::{Definition, Place};
use super::super::options::{Options, ValuesOptions};
use super::super::partial::Partial;
use super::super::reduce::Reducer;
use super::super::render::Renderer;
use super::super::source::Accepts;
use super::super::tree::{Aggregation, Kind};
use super::places::{self, PlacesCollector, PlacesState};
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
        Ok(Box::new(PlacesCollector::<BoundsState>::new(&place)?))
    }

    fn reduce(&self, _: &Aggregation, parts: Vec<Partial>, _: &mut Reducer<'_>) -> Result<Partial> {
        Ok(places::merged::<BoundsState>(&parts))
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

impl PlacesState for BoundsState {
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
