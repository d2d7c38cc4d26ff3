//! Validates polygons: "can this shape be indexed?"
//!
//! The original positions are checked, because on the grid the edges of a narrow polygon may cross.

use super::date_line::goes_over_date_line;
use super::geometry::{Geometry, Position};
use super::grid_edges::{GridEdges, GridPoint, Side, TooManyPairs};
use crate::RequestError;
use crate::number::java_double;

/// Steps per degree in this file: fractions of a micrometre, with coordinates of up to 53 bits.
const DEGREE_STEPS: f64 = (1u64 << 44) as f64;
/// Beyond any sensible position; keeps the arithmetic from overflowing.
const STEPS_MAX: f64 = (1u64 << 60) as f64;

/// Refuses polygons whose edges cross, that have no area, or whose holes lie outside. `is_clockwise` is the
/// direction of outer rings.
///
/// # Errors
/// The messages of Lucene's `Tessellator` and Elasticsearch's `GeoPolygonDecomposer`.
pub fn check_simple(geometry: &Geometry, is_clockwise: bool) -> Result<(), RequestError> {
    match geometry {
        Geometry::Polygon(rings) => check_polygon(rings, is_clockwise),
        Geometry::MultiPolygon(polygons) => {
            polygons.iter().try_for_each(|rings| check_polygon(rings, is_clockwise))
        }
        Geometry::Collection(parts) => parts.iter().try_for_each(|part| check_simple(part, is_clockwise)),
        _ => Ok(()),
    }
}

fn check_polygon(rings: &[Vec<Position>], is_clockwise: bool) -> Result<(), RequestError> {
    let is_across = rings.first().is_some_and(|outer| goes_over_date_line(outer, is_clockwise));
    let place = |(longitude, latitude): &Position| {
        let longitude = if is_across && *longitude < 0.0 { longitude + 360.0 } else { *longitude };
        let step = |degrees: f64| (degrees * DEGREE_STEPS).round().clamp(-STEPS_MAX, STEPS_MAX) as i64;
        (step(longitude), step(*latitude))
    };
    let rings: Vec<Vec<GridPoint>> = rings.iter().map(|ring| ring.iter().map(place).collect()).collect();
    let edges = GridEdges::new(rings.iter().map(Vec::as_slice));
    let mut pairs_left = PAIRS_MAX;
    for &(a, b) in edges.edges() {
        let crossing = edges.crossing(a, b, &mut pairs_left).map_err(|TooManyPairs| too_complex())?;
        if let Some((c, d)) = crossing {
            let (longitude, latitude) = intersection(a, b, c, d);
            return Err(RequestError::illegal_argument(format!(
                "Polygon self-intersection at lat={} lon={}",
                java_double(latitude),
                java_double(longitude)
            )));
        }
    }
    let [outer, holes @ ..] = &rings[..] else { return Ok(()) };
    if !has_area(outer) {
        return Err(RequestError::illegal_argument(
            "Unable to Tessellate shape. Possible malformed shape detected.",
        ));
    }
    let outer = GridEdges::new([outer.as_slice()]);
    if holes.iter().flatten().any(|point| outer.side_of(*point) == Side::Outside) {
        return Err(RequestError::bad_request(
            "invalid_shape_exception",
            "Invalid shape: Hole is not within polygon",
        ));
    }
    Ok(())
}

/// Maximum number of pairs of edges of one polygon that are compared. A coastline with a million points needs
/// about ten million, which takes half a second.
const PAIRS_MAX: u64 = 50_000_000;

#[cold]
fn too_complex() -> RequestError {
    RequestError::illegal_argument(
        "Unable to Tessellate shape. Too many edges of the polygon reach over the same latitudes.",
    )
}

fn has_area(ring: &[GridPoint]) -> bool {
    let Some(&(x, y)) = ring.first() else { return false };
    let apart = |point: &GridPoint| (i128::from(point.0 - x), i128::from(point.1 - y));
    let doubled = ring.windows(2).map(|pair| {
        let ((ax, ay), (bx, by)) = (apart(&pair[0]), apart(&pair[1]));
        ax * by - bx * ay
    });
    doubled.sum::<i128>() != 0
}

/// Returns the intersection in degrees.
fn intersection(a: GridPoint, b: GridPoint, c: GridPoint, d: GridPoint) -> (f64, f64) {
    let (abx, aby) = ((b.0 - a.0) as f64, (b.1 - a.1) as f64);
    let (cdx, cdy) = ((d.0 - c.0) as f64, (d.1 - c.1) as f64);
    let share = ((c.0 - a.0) as f64 * cdy - (c.1 - a.1) as f64 * cdx) / (abx * cdy - aby * cdx);
    ((a.0 as f64 + share * abx) / DEGREE_STEPS, (a.1 as f64 + share * aby) / DEGREE_STEPS)
}

#[cfg(test)]
mod tests {
    use super::super::{WktOptions, geometry_from_wkt};
    use super::*;

    #[test]
    fn polygons_that_cannot_be_indexed() {
        let check = |text: &str, expected: Option<&str>| {
            let notation = WktOptions { allow_z: true, coerce: false, off_map: true };
            let geometry = geometry_from_wkt(text, notation).expect(text);
            let found = check_simple(&geometry, false).err().map(|error| error.reason);
            let is_same = match (&found, expected) {
                (Some(found), Some(expected)) => found.starts_with(expected),
                (found, expected) => found.is_none() && expected.is_none(),
            };
            assert!(is_same, "{text}: {found:?}");
        };
        let crossing = Some("Polygon self-intersection at lat=");
        check("POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0))", None);
        check("POLYGON ((0 0, 10 0, 10 10, 5 0, 0 10, 0 0))", None);
        check("POLYGON ((0 0, 10 0, 10 0, 10 10, 0 10, 0 0))", None);
        check("POLYGON ((0 0, 0.00000001 0, 0.00000001 0.00000001, 0 0))", None);
        check("POLYGON ((0 0, 10 0, 10 10, 5 5, 0 10, 0 0), (5 1, 6 1, 5.5 5.5, 5 1))", None);
        check("POLYGON ((-170 0, -170 10, 170 10, 170 0, -170 0))", None);
        check("POLYGON ((0 0, 10 10, 10 0, 0 10, 0 0))", crossing);
        check("POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0), (5 5, 30 5, 30 7, 5 5))", crossing);
        check("POLYGON ((0 0, 10 0, 20 0, 0 0))", Some("Unable to Tessellate shape."));
        check(
            "POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0), (20 20, 30 20, 30 30, 20 20))",
            Some("Invalid shape: Hole is not within polygon"),
        );
        check("MULTIPOLYGON (((0 0, 4 0, 4 4, 0 0)), ((1 0, 5 0, 5 4, 1 0)))", None);
    }
}
