//! `geo_bounds`: the bounding box of the points of a bucket. Source: Elasticsearch's `InternalGeoBounds`.

use limber_mapping::RequestError;
use limber_mapping::geo::{GRID_TURN, GeoPoint, GridShape, decode_latitude, decode_longitude};
use serde_json::{Map, Value, json};

use super::super::answer::members::Members;
use super::super::answer::partial::OwnFinding;
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::{Options, ValuesOptions};
use super::super::source::Accepts;
use super::super::tree::{Aggregation, Kind};
use super::places::{self, Ends, PlacesState, ShapesState};
use crate::error::Result;

/// The options of a `geo_bounds`: the field, and whether the box may cross the date line.
#[derive(Debug, Clone)]
pub struct GeoBounds {
    values: ValuesOptions,
    /// Whether the box may cross the date line if it is narrower that way.
    wrap_longitude: bool,
}

impl GeoBounds {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let wrap_longitude = options.boolean("wrap_longitude")?.unwrap_or(true);
        let values = ValuesOptions::parse_places(options, "field")?;
        Ok(Kind::own(GeoBounds { values, wrap_longitude }))
    }

    /// Renders the bounds; empty without any points.
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

impl Request for GeoBounds {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::Places)]
    }

    fn takes_subs(&self) -> bool {
        false
    }
}

impl Collect for GeoBounds {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        places::of_places_or_shapes::<BoundsState>(&context)
    }
}

impl Reduce for GeoBounds {
    type Finding = BoundsState;

    fn reduce(&self, _: &Aggregation, parts: Vec<BoundsState>, _: &mut Reducer<'_>) -> Result<BoundsState> {
        Ok(places::merged(&parts))
    }
}

impl Render for GeoBounds {
    fn render(&self, state: &BoundsState, _: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        out.extend(&self.to_json(state))
    }
}

/// The ranges of the latitudes, and of the longitudes west and east of Greenwich.
#[derive(Debug, Clone, Copy)]
pub struct BoundsState {
    latitudes: Ends,
    west: Ends,
    east: Ends,
}

impl OwnFinding for BoundsState {}

impl Default for BoundsState {
    fn default() -> BoundsState {
        BoundsState { latitudes: Ends::NONE, west: Ends::NONE, east: Ends::NONE }
    }
}

impl BoundsState {
    /// Adds a box in grid coordinates. A box that crosses the date line has an end beyond the map and is
    /// divided in two.
    fn add_span(&mut self, x: (i64, i64), y: (i64, i64)) {
        const FIRST: i64 = i32::MIN as i64;
        const LAST: i64 = i32::MAX as i64;
        if x.1 > LAST && x.0 <= LAST {
            self.add_span((x.0, LAST), y);
            return self.add_span((FIRST, x.1 - GRID_TURN), y);
        }
        if x.0 < FIRST && x.1 >= FIRST {
            self.add_span((x.0 + GRID_TURN, LAST), y);
            return self.add_span((FIRST, x.1), y);
        }
        // If both ends are beyond the map, they are moved back onto it.
        let turn = if x.0 > LAST {
            -GRID_TURN
        } else if x.1 < FIRST {
            GRID_TURN
        } else {
            0
        };
        let longitude = |x: i64| decode_longitude((x + turn).clamp(FIRST, LAST) as i32);
        let (left, right) = (longitude(x.0), longitude(x.1));
        let latitude = |y: i64| decode_latitude(y.clamp(FIRST, LAST) as i32);
        self.latitudes.add(latitude(y.0), latitude(y.1));
        match (left < 0.0, right < 0.0) {
            (true, true) => self.west.add(left, right),
            (false, _) => self.east.add(left, right),
            // Such a box crosses Greenwich; it is divided there, so that going the other way round is never
            // narrower.
            (true, false) => {
                self.west.add(left, 0.0);
                self.east.add(0.0, right);
            }
        }
    }
}

impl ShapesState for BoundsState {
    fn add_shape(&mut self, shape: &GridShape) {
        places::spans(shape, |x, y| self.add_span(x, y));
    }
}

impl PlacesState for BoundsState {
    fn merge(&mut self, other: &BoundsState) {
        self.latitudes.add(other.latitudes.least, other.latitudes.most);
        self.west.add(other.west.least, other.west.most);
        self.east.add(other.east.least, other.east.most);
    }

    #[inline]
    fn add(&mut self, stored: i64) {
        let point = GeoPoint::decode(stored);
        self.latitudes.add(point.latitude, point.latitude);
        let side = if point.longitude < 0.0 { &mut self.west } else { &mut self.east };
        side.add(point.longitude, point.longitude);
    }
}
