//! `geo_centroid`: the mean of the points of a bucket, and their number. Source: Elasticsearch's
//! `InternalGeoCentroid`.

use limber_mapping::RequestError;
use limber_mapping::geo::GeoPoint;
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
use super::super::values::kahan::KahanSum;
use super::places::{self, PlacesCollector, PlacesState};
use crate::error::Result;

/// The options of a `geo_centroid`: the field of the points.
#[derive(Debug, Clone)]
pub struct GeoCentroid {
    values: ValuesOptions,
}

impl GeoCentroid {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let values = ValuesOptions::parse_places(options, "field, script")?;
        Ok(Kind::own(GeoCentroid { values }))
    }
}

impl Request for GeoCentroid {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::Places)]
    }

    fn takes_subs(&self) -> bool {
        false
    }
}

impl Collect for GeoCentroid {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        Ok(Box::new(PlacesCollector::<CentroidState>::new(&context)?))
    }
}

impl Reduce for GeoCentroid {
    type Finding = CentroidState;

    fn reduce(
        &self,
        _: &Aggregation,
        parts: Vec<CentroidState>,
        _: &mut Reducer<'_>,
    ) -> Result<CentroidState> {
        Ok(places::merged(&parts))
    }
}

impl Render for GeoCentroid {
    fn render(&self, state: &CentroidState, _: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        out.extend(&state.to_json())
    }
}

/// Sums of coordinates in degrees.
#[derive(Debug, Clone, Copy, Default)]
pub struct CentroidState {
    latitudes: KahanSum,
    longitudes: KahanSum,
    count: u64,
}

impl OwnFinding for CentroidState {}

impl PlacesState for CentroidState {
    #[inline]
    fn add(&mut self, stored: i64) {
        let place = GeoPoint::decode(stored);
        self.latitudes.add(place.latitude);
        self.longitudes.add(place.longitude);
        self.count += 1;
    }

    fn merge(&mut self, other: &CentroidState) {
        self.latitudes.add(other.latitudes.value);
        self.longitudes.add(other.longitudes.value);
        self.count += other.count;
    }
}

impl CentroidState {
    fn to_json(self) -> Map<String, Value> {
        let mut out = Map::new();
        if self.count > 0 {
            let count = self.count as f64;
            let middle = json!({"lat": self.latitudes.value / count, "lon": self.longitudes.value / count});
            out.insert("location".into(), middle);
        }
        out.insert("count".into(), self.count.into());
        out
    }
}
