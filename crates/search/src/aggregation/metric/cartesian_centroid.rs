//! `cartesian_centroid`: the center of mass of the points or shapes on a plane of a bucket, and their number.
//! Source: Elasticsearch's `InternalCartesianCentroid`, `CentroidCalculator`.

use limber_mapping::RequestError;
use limber_mapping::geo::{GridPoint, GridShape, PartKind, Position, Surface, decode_on_plane};
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
use super::super::values::kahan::KahanSum;
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
        let PlaneCentroid { x, y, weight, .. } = state;
        if weight.value > 0.0 {
            let center = json!({"x": x.value / weight.value, "y": y.value / weight.value});
            out.insert("location", &center)?;
        }
        out.insert("count", &state.count)
    }
}

/// The dimension of a part of a shape. Only the parts of the highest dimension have a weight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Dimension {
    /// The weight of a point is 1.
    #[default]
    Point,
    /// The weight of a line is its length.
    Line,
    /// The weight of a polygon is its area.
    Polygon,
}

/// Weighted sums of coordinates.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlaneCentroid {
    x: KahanSum,
    y: KahanSum,
    weight: KahanSum,
    dimension: Dimension,
    /// Points, or documents with shapes.
    count: u64,
}

impl OwnFinding for PlaneCentroid {}

impl PlaneCentroid {
    /// Adds the center of a part.
    fn add_part(&mut self, dimension: Dimension, (x, y): Position, weight: f64) {
        // The center of a tiny area may not be a number.
        if dimension < self.dimension || !x.is_finite() || !y.is_finite() {
            return;
        }
        if dimension > self.dimension {
            *self = PlaneCentroid { dimension, count: self.count, ..PlaneCentroid::default() };
        }
        self.x.add(x * weight);
        self.y.add(y * weight);
        self.weight.add(weight);
    }

    fn add_line(&mut self, line: &[GridPoint]) {
        for pair in line.windows(2) {
            let [a, b] = [pair[0], pair[1]].map(|at| Surface::Plane.position(at));
            let length = (b.0 - a.0).hypot(b.1 - a.1);
            if length == 0.0 {
                self.add_part(Dimension::Point, a, 1.0);
            } else {
                self.add_part(Dimension::Line, (a.0.midpoint(b.0), a.1.midpoint(b.1)), length);
            }
        }
    }

    fn add_polygon(&mut self, rings: &[Vec<GridPoint>]) {
        let parts: Vec<(Position, f64)> = rings.iter().map(|ring| center_and_area(ring)).collect();
        // Holes are taken away.
        let weight_of = |ring: usize, area: f64| if ring == 0 { area } else { -area };
        let total: f64 = parts.iter().enumerate().map(|(ring, (_, area))| weight_of(ring, *area)).sum();
        if total == 0.0 && self.dimension != Dimension::Polygon {
            if let Some(outer) = rings.first() {
                self.add_line(outer);
            }
            return;
        }
        for (ring, (center, area)) in parts.into_iter().enumerate() {
            self.add_part(Dimension::Polygon, center, weight_of(ring, area));
        }
    }
}

/// Returns the center of mass of the area in a ring, and the area.
fn center_and_area(ring: &[GridPoint]) -> (Position, f64) {
    let Some(&first) = ring.first() else { return ((0.0, 0.0), 0.0) };
    let (first_x, first_y) = Surface::Plane.position(first);
    let apart = |at: GridPoint| {
        let (x, y) = Surface::Plane.position(at);
        (x - first_x, y - first_y)
    };
    let (mut doubled, mut x, mut y) = (0.0, 0.0, 0.0);
    for pair in ring.windows(2) {
        let (a, b) = (apart(pair[0]), apart(pair[1]));
        let cross = a.0 * b.1 - b.0 * a.1;
        doubled += cross;
        x += cross * (a.0 + b.0);
        y += cross * (a.1 + b.1);
    }
    ((first_x + x / (3.0 * doubled), first_y + y / (3.0 * doubled)), doubled.abs() / 2.0)
}

impl PlacesState for PlaneCentroid {
    #[inline]
    fn add(&mut self, stored: i64) {
        self.add_part(Dimension::Point, decode_on_plane(stored), 1.0);
        self.count += 1;
    }

    fn merge(&mut self, other: &PlaneCentroid) {
        let count = self.count + other.count;
        if other.dimension > self.dimension {
            *self = *other;
        } else if other.dimension == self.dimension {
            self.x.add(other.x.value);
            self.y.add(other.y.value);
            self.weight.add(other.weight.value);
        }
        self.count = count;
    }
}

impl ShapesState for PlaneCentroid {
    fn add_shape(&mut self, shape: &GridShape) {
        // All shapes of a document count once.
        self.count = 1;
        for part in &shape.parts {
            match part.kind {
                PartKind::Points => {
                    for at in part.lists.iter().flatten() {
                        self.add_part(Dimension::Point, Surface::Plane.position(*at), 1.0);
                    }
                }
                PartKind::Line => part.lists.iter().for_each(|line| self.add_line(line)),
                PartKind::Polygon => self.add_polygon(&part.lists),
            }
        }
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
        (state.x.value / state.weight.value, state.y.value / state.weight.value)
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
