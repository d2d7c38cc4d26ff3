//! `cartesian_centroid`: the center of mass of the points or shapes on a plane of a bucket, and their number.
//! Source: Elasticsearch's `InternalCartesianCentroid`.

use limber_mapping::RequestError;
use limber_mapping::geo::{GridShape, Surface, decode_on_plane};
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

/// The options of a `cartesian_centroid`: the field.
#[derive(Debug, Clone)]
pub struct CartesianCentroid {
    values: ValuesOptions,
}

impl CartesianCentroid {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let values = ValuesOptions::parse_cartesian_places(options, "field, script")?;
        Ok(Kind::own(CartesianCentroid { values }))
    }
}

impl Request for CartesianCentroid {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::CartesianPlaces)]
    }

    fn takes_subs(&self) -> bool {
        false
    }
}

impl Collect for CartesianCentroid {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        places::of_places_or_shapes::<PlaneCentroid>(&context)
    }
}

impl Reduce for CartesianCentroid {
    type Finding = PlaneCentroid;

    fn reduce(
        &self,
        _: &Aggregation,
        parts: Vec<PlaneCentroid>,
        _: &mut Reducer<'_>,
    ) -> Result<PlaneCentroid> {
        Ok(places::merged(&parts))
    }
}

impl Render for CartesianCentroid {
    fn render(&self, state: &PlaneCentroid, _: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        if let Some((x, y)) = state.center.position() {
            out.insert("location", &json!({"x": x, "y": y}))?;
        }
        out.insert("count", &state.count)
    }
}

/// The center of the points or shapes of a bucket.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlaneCentroid {
    center: CenterOfMass,
    /// Points, or documents with shapes.
    count: u64,
}

impl OwnFinding for PlaneCentroid {}

impl PlacesState for PlaneCentroid {
    #[inline]
    fn add(&mut self, stored: i64) {
        self.center.add_point(decode_on_plane(stored));
        self.count += 1;
    }

    fn merge(&mut self, other: &PlaneCentroid) {
        self.center.merge(&other.center);
        self.count += other.count;
    }
}

impl ShapesState for PlaneCentroid {
    fn add_shape(&mut self, shape: &GridShape) {
        // All shapes of a document count once.
        self.count = 1;
        self.center.add_shape(Surface::Plane, shape);
    }
}

#[cfg(test)]
mod tests {
    use limber_mapping::geo::geometry_from_wkt_on;

    use super::*;

    /// Returns the center of the shapes of one document.
    fn center(texts: &[&str]) -> (f64, f64) {
        let mut state = PlaneCentroid::default();
        for text in texts {
            let geometry = geometry_from_wkt_on(Surface::Plane, text, true, false).expect(text);
            state.add_shape(&GridShape::of(Surface::Plane, &geometry, false).expect(text));
        }
        assert_eq!(state.count, 1);
        state.center.position().expect("a center")
    }

    #[test]
    fn only_the_highest_dimension_counts() {
        assert_eq!(center(&["MULTIPOINT (0 0, 10 20)"]), (5.0, 10.0));
        assert_eq!(center(&["POINT (900 900)", "LINESTRING (0 0, 30 0, 30 10)"]), (18.75, 1.25));
        let square = "POLYGON ((1000 1000, 1004 1000, 1004 1004, 1000 1004, 1000 1000))";
        assert_eq!(center(&[square, "LINESTRING (0 0, 30 0)", "POINT (1 2)"]), (1002.0, 1002.0));
        assert_eq!(center(&["LINESTRING (0 0, 30 0)", square]), (1002.0, 1002.0));
    }

    #[test]
    fn holes_are_taken_away() {
        let text = "POLYGON ((0 0, 8 0, 8 8, 0 8, 0 0), (4 0, 8 0, 8 8, 4 8, 4 0))";
        assert_eq!(center(&[text]), (2.0, 4.0));
    }
}
