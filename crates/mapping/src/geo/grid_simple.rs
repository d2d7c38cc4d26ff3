//! "Can this shape be indexed?"

use super::grid_edges::{GridEdges, GridPoint, Side};
use super::grid_shape::{GRID_TURN, GridShape, PartKind};
use crate::RequestError;
use crate::number::java_double;

/// Refuses polygons whose edges cross, that have no area, or whose holes lie outside of them.
///
/// # Errors
/// Worded as Lucene's `Tessellator` and Elasticsearch's `GeoPolygonDecomposer` do.
pub fn check_simple(shape: &GridShape) -> Result<(), RequestError> {
    for part in shape.parts.iter().filter(|part| part.kind == PartKind::Polygon) {
        let edges = GridEdges::new(part.lists.iter().map(Vec::as_slice));
        for &(a, b) in edges.edges() {
            if let Some((c, d)) = edges.crossing(a, b) {
                let (longitude, latitude) = intersection(a, b, c, d);
                return Err(RequestError::illegal_argument(format!(
                    "Polygon self-intersection at lat={} lon={}",
                    java_double(latitude),
                    java_double(longitude)
                )));
            }
        }
        let [outer, holes @ ..] = &part.lists[..] else { continue };
        if !has_area(outer) {
            return Err(RequestError::illegal_argument(
                "Unable to Tessellate shape. Possible malformed shape detected.",
            ));
        }
        let outer = GridEdges::new([outer.as_slice()]);
        if holes.iter().flatten().any(|point| outer.side_of(*point) == Side::Outside) {
            return Err(RequestError::new(
                400,
                "invalid_shape_exception",
                "Invalid shape: Hole is not within polygon",
            ));
        }
    }
    Ok(())
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

/// Degrees.
fn intersection(a: GridPoint, b: GridPoint, c: GridPoint, d: GridPoint) -> (f64, f64) {
    let (abx, aby) = ((b.0 - a.0) as f64, (b.1 - a.1) as f64);
    let (cdx, cdy) = ((d.0 - c.0) as f64, (d.1 - c.1) as f64);
    let share = ((c.0 - a.0) as f64 * cdy - (c.1 - a.1) as f64 * cdx) / (abx * cdy - aby * cdx);
    let steps = GRID_TURN as f64;
    ((a.0 as f64 + share * abx) * 360.0 / steps, (a.1 as f64 + share * aby) * 180.0 / steps)
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
            let shape = GridShape::of(&geometry, false).expect(text);
            let found = check_simple(&shape).err().map(|error| error.reason);
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
