//! `geo_centroid`: the center of mass, in degrees, of the points or shapes of a bucket, and their number.
//! Source: Elasticsearch's `InternalGeoCentroid`.

use limber_mapping::RequestError;
use limber_mapping::geo::{GeoPoint, GridShape, Surface};
use serde_json::json;

use super::super::answer::members::Members;
use super::super::answer::partial::OwnFinding;
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::{Options, ValuesOptions};
use super::super::source::Accepts;
use super::super::tree::{Aggregation, Kind};
use super::center_of_mass::CenterOfMass;
use super::places::{self, PlacesState, ShapesState};
use crate::error::Result;

/// The options of a `geo_centroid`: the field of the points or shapes.
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
        places::of_places_or_shapes::<CentroidState>(&context)
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
        if let Some((longitude, latitude)) = state.center.position() {
            out.insert("location", &json!({"lat": latitude, "lon": longitude}))?;
        }
        out.insert("count", &state.count)
    }
}

/// The center of the points or shapes of a bucket.
#[derive(Debug, Clone, Copy, Default)]
pub struct CentroidState {
    center: CenterOfMass,
    /// Points, or documents with shapes.
    count: u64,
}

impl OwnFinding for CentroidState {}

impl PlacesState for CentroidState {
    #[inline]
    fn add(&mut self, stored: i64) {
        let place = GeoPoint::decode(stored);
        self.center.add_point((place.longitude, place.latitude));
        self.count += 1;
    }

    fn merge(&mut self, other: &CentroidState) {
        self.center.merge(&other.center);
        self.count += other.count;
    }
}

impl ShapesState for CentroidState {
    fn add_shape(&mut self, shape: &GridShape) {
        // All shapes of a document count once.
        self.count = 1;
        self.center.add_shape(Surface::Globe, shape);
        // The center of a shape across the date line may be beyond the map.
        if let Some((longitude, _)) = self.center.position()
            && longitude.abs() > 180.0
        {
            self.center.move_x(-360.0 * ((longitude + 180.0) / 360.0).floor());
        }
    }
}

#[cfg(test)]
mod tests {
    use limber_mapping::geo::{WktOptions, geometry_from_wkt};

    use super::*;

    /// Checks the center of documents with a shape each. The points of the index are not exactly where they
    /// were given.
    fn check(documents: &[&str], longitude: f64, latitude: f64) {
        let mut bucket = CentroidState::default();
        for text in documents {
            let notation = WktOptions { allow_z: true, coerce: false, off_map: true };
            let geometry = geometry_from_wkt(text, notation).expect(text);
            let mut document = CentroidState::default();
            document.add_shape(&GridShape::of(Surface::Globe, &geometry, false).expect(text));
            bucket.merge(&document);
        }
        let (x, y) = bucket.center.position().expect("a center");
        assert!((x - longitude).abs() < 1e-6 && (y - latitude).abs() < 1e-6, "{documents:?}: {x}, {y}");
        assert_eq!(bucket.count, documents.len() as u64);
    }

    #[test]
    fn points_lines_and_areas() {
        check(&["POINT (10 20)", "MULTIPOINT (0 0, 1 2)"], 11.0 / 3.0, 22.0 / 3.0);
        check(&["LINESTRING (0 0, 10 0, 10 5)"], 100.0 / 15.0, 12.5 / 15.0);
        check(&["POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0))"], 5.0, 5.0);
        check(&["BBOX (0, 1, 3, 0)", "BBOX (10, 13, 1, 0)"], 6.0, 1.0);
    }

    #[test]
    fn only_the_highest_dimension_of_a_bucket_counts() {
        let area = "POLYGON ((0 0, 4 0, 4 2, 0 2, 0 0))";
        check(&["POINT (50 50)", "LINESTRING (0 0, 10 0)"], 5.0, 0.0);
        check(&["POINT (50 50)", area, "LINESTRING (0 0, 10 0)"], 2.0, 1.0);
        check(&[&format!("GEOMETRYCOLLECTION (POINT (50 50), {area})")], 2.0, 1.0);
    }

    #[test]
    fn a_center_beyond_the_date_line_is_brought_back() {
        check(&["BBOX (170, -160, 10, 0)"], -175.0, 5.0);
    }
}
