//! Validates polygons: "can this shape be indexed?"
//!
//! On the globe the original positions are checked, because on the grid the edges of a narrow polygon may
//! cross. On a plane the floats are checked, as in Lucene.

use super::date_line::goes_over_date_line;
use super::geometry::{Geometry, Position};
use super::grid_edges::{GridEdges, GridPoint, Side, TooManyPairs};
use super::surface::Surface;
use crate::RequestError;
use crate::number::java_double;

/// Steps per degree of the globe in this file: fractions of a micrometre, with coordinates of up to 53 bits.
const DEGREE_STEPS: f64 = (1u64 << 44) as f64;
/// Beyond any sensible position; keeps the arithmetic from overflowing.
const STEPS_MAX: f64 = (1u64 << 60) as f64;

/// Refuses polygons whose edges cross, that have no area, or whose holes lie outside. `is_clockwise` is the
/// direction of outer rings.
///
/// # Errors
/// The messages of Lucene's `Tessellator` and Elasticsearch's `GeoPolygonDecomposer`.
pub fn check_simple(surface: Surface, geometry: &Geometry, is_clockwise: bool) -> Result<(), RequestError> {
    match geometry {
        Geometry::Polygon(rings) => check_polygon(surface, rings, is_clockwise),
        Geometry::MultiPolygon(polygons) => {
            polygons.iter().try_for_each(|rings| check_polygon(surface, rings, is_clockwise))
        }
        Geometry::Collection(parts) => {
            parts.iter().try_for_each(|part| check_simple(surface, part, is_clockwise))
        }
        _ => Ok(()),
    }
}

/// Returns the positions of a ring of the globe in the steps of this file.
fn steps_of(ring: &[Position], is_across: bool) -> Vec<GridPoint> {
    let place = |(longitude, latitude): &Position| {
        let longitude = if is_across && *longitude < 0.0 { longitude + 360.0 } else { *longitude };
        let step = |degrees: f64| (degrees * DEGREE_STEPS).round().clamp(-STEPS_MAX, STEPS_MAX) as i64;
        (step(longitude), step(*latitude))
    };
    ring.iter().map(place).collect()
}

/// Returns the position of a point in the steps of this file.
fn position_of(surface: Surface, at: GridPoint) -> Position {
    match surface {
        Surface::Globe => (at.0 as f64 / DEGREE_STEPS, at.1 as f64 / DEGREE_STEPS),
        Surface::Plane => surface.position(at),
    }
}

fn check_polygon(surface: Surface, rings: &[Vec<Position>], is_clockwise: bool) -> Result<(), RequestError> {
    let rings: Vec<Vec<GridPoint>> = match surface {
        Surface::Globe => {
            let is_across = rings.first().is_some_and(|outer| goes_over_date_line(outer, is_clockwise));
            rings.iter().map(|ring| steps_of(ring, is_across)).collect()
        }
        Surface::Plane => {
            let of_ring = |ring: &Vec<Position>| -> Result<Vec<GridPoint>, RequestError> {
                ring.iter().map(|position| surface.corner(*position)).collect()
            };
            rings.iter().map(of_ring).collect::<Result<_, _>>()?
        }
    };
    let edges = GridEdges::new(surface, rings.iter().map(Vec::as_slice));
    let mut pairs_left = PAIRS_MAX;
    for &(a, b) in edges.edges() {
        let crossing = edges.crossing(a, b, &mut pairs_left).map_err(|TooManyPairs| too_complex())?;
        if let Some((c, d)) = crossing {
            let (x, y) = intersection([a, b, c, d].map(|at| position_of(surface, at)));
            return Err(RequestError::illegal_argument(format!(
                "Polygon self-intersection at lat={} lon={}",
                java_double(y),
                java_double(x)
            )));
        }
    }
    let [outer, holes @ ..] = &rings[..] else { return Ok(()) };
    if !has_area(surface, outer) {
        return Err(RequestError::illegal_argument(
            "Unable to Tessellate shape. Possible malformed shape detected.",
        ));
    }
    let outer = GridEdges::new(surface, [outer.as_slice()]);
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

fn has_area(surface: Surface, ring: &[GridPoint]) -> bool {
    let Some(&first) = ring.first() else { return false };
    match surface {
        Surface::Globe => {
            let apart = |point: &GridPoint| (i128::from(point.0 - first.0), i128::from(point.1 - first.1));
            let doubled = ring.windows(2).map(|pair| {
                let ((ax, ay), (bx, by)) = (apart(&pair[0]), apart(&pair[1]));
                ax * by - bx * ay
            });
            doubled.sum::<i128>() != 0
        }
        Surface::Plane => {
            let (x, y) = surface.position(first);
            let apart = |point: &GridPoint| {
                let (at_x, at_y) = surface.position(*point);
                (at_x - x, at_y - y)
            };
            let doubled = ring.windows(2).map(|pair| {
                let ((ax, ay), (bx, by)) = (apart(&pair[0]), apart(&pair[1]));
                ax * by - bx * ay
            });
            doubled.sum::<f64>() != 0.0
        }
    }
}

/// Returns where the line from `a` to `b` crosses that from `c` to `d`.
fn intersection([a, b, c, d]: [Position; 4]) -> Position {
    let (abx, aby) = (b.0 - a.0, b.1 - a.1);
    let (cdx, cdy) = (d.0 - c.0, d.1 - c.1);
    let share = ((c.0 - a.0) * cdy - (c.1 - a.1) * cdx) / (abx * cdy - aby * cdx);
    (a.0 + share * abx, a.1 + share * aby)
}

#[cfg(test)]
mod tests {
    use super::super::{WktOptions, geometry_from_wkt, geometry_from_wkt_on};
    use super::*;

    #[test]
    fn polygons_that_cannot_be_indexed() {
        let check = |text: &str, expected: Option<&str>| {
            let notation = WktOptions { allow_z: true, coerce: false, off_map: true };
            let geometry = geometry_from_wkt(text, notation).expect(text);
            let found = check_simple(Surface::Globe, &geometry, false).err().map(|error| error.reason);
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

    #[test]
    fn polygons_of_a_plane_are_checked_as_floats() {
        let check = |text: &str, expected: Option<&str>| {
            let geometry = geometry_from_wkt_on(Surface::Plane, text, true, false).expect(text);
            let found = check_simple(Surface::Plane, &geometry, false).err().map(|error| error.reason);
            assert_eq!(found.as_deref(), expected, "{text}");
        };
        check("POLYGON ((1000 -1000, 3000 -1000, 3000 5000, 1000 5000, 1000 -1000))", None);
        check("POLYGON ((-1e30 -1e30, 1e30 -1e30, 1e30 1e30, -1e30 -1e30))", None);
        check(
            "POLYGON ((0 0, 1000 1000, 1000 0, 0 1000, 0 0))",
            Some("Polygon self-intersection at lat=500.0 lon=500.0"),
        );
        check(
            "POLYGON ((0 0, 1000 0, 2000 0, 0 0))",
            Some("Unable to Tessellate shape. Possible malformed shape detected."),
        );
    }
}
