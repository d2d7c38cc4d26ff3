//! Polygons in degrees, with their edges indexed by latitude: "is this point inside, and does an edge cross
//! that rectangle?"

use limber_mapping::geo::Position;

/// Maximum number of bands that edges are divided into.
const BANDS_MAX: usize = 4096;

/// Maximum number of bands that an edge crosses on average: polygons with tall edges have fewer bands, so
/// that an edge is not listed in thousands of them.
const BANDS_AN_EDGE_MAX: f64 = 16.0;

/// Rings of one polygon: a point is inside if it is inside of an odd number of rings. The outer ring's
/// edges belong to the polygon, the edges of holes to the holes (Lucene's `Polygon2D#contains`).
#[derive(Debug)]
pub(crate) struct Polygon {
    /// Edges, those of the outer ring first.
    edges: Vec<(Position, Position)>,
    outer_edge_count: u32,
    /// Edges that touch each band of latitudes.
    bands: Vec<Vec<u32>>,
    west: f64,
    east: f64,
    south: f64,
    north: f64,
}

/// The relation of a rectangle to a shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Side {
    Outside,
    Inside,
    Across,
}

impl Polygon {
    /// Builds a polygon. `rings`: each ends where it starts; the first is the outer one. `shift`: degrees
    /// that are added to all longitudes.
    pub fn new(rings: &[Vec<Position>], shift: f64) -> Polygon {
        let moved = |position: &Position| (position.0 + shift, position.1);
        let edges: Vec<(Position, Position)> = rings
            .iter()
            .flat_map(|ring| ring.windows(2).map(|pair| (moved(&pair[0]), moved(&pair[1]))))
            .collect();
        let ends = |get: fn(&Position) -> f64| {
            edges
                .iter()
                .flat_map(|(from, to)| [get(from), get(to)])
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                    (low.min(value), high.max(value))
                })
        };
        let ((west, east), (south, north)) = (ends(|p| p.0), ends(|p| p.1));
        let outer_edge_count = rings.first().map_or(0, |ring| ring.len().saturating_sub(1)) as u32;
        let mut polygon = Polygon { bands: Vec::new(), edges, outer_edge_count, west, east, south, north };
        let bands = polygon.band_count();
        polygon.bands = vec![Vec::new(); bands];
        for edge in 0..polygon.edges.len() {
            let ((_, a), (_, b)) = polygon.edges[edge];
            for band in polygon.band(a.min(b))..=polygon.band(a.max(b)) {
                polygon.bands[band].push(edge as u32);
            }
        }
        polygon
    }

    fn band_count(&self) -> usize {
        let wanted = self.edges.len().div_ceil(4).clamp(1, BANDS_MAX);
        // Sum of the heights of all edges, in multiples of the polygon's height.
        let tall: f64 = self.edges.iter().map(|((_, a), (_, b))| (a - b).abs()).sum();
        let heights = (tall / (self.north - self.south)).max(1.0);
        let most = self.edges.len() as f64 * BANDS_AN_EDGE_MAX / heights;
        // NaN if the polygon is flat: then all bands are used, as each edge is in one band.
        wanted.min(most as usize).max(1)
    }

    fn band(&self, latitude: f64) -> usize {
        let share = (latitude - self.south) / (self.north - self.south);
        ((share * self.bands.len() as f64) as usize).min(self.bands.len() - 1)
    }

    /// Whether a point in degrees is inside; holes are outside.
    pub fn contains(&self, longitude: f64, latitude: f64) -> bool {
        if longitude < self.west || longitude > self.east || latitude < self.south || latitude > self.north {
            return false;
        }
        let (mut is_inside, mut is_on_outer_ring) = (false, false);
        for edge in &self.bands[self.band(latitude)] {
            let ((x1, y1), (x2, y2)) = self.edges[*edge as usize];
            if is_on((x1, y1), (x2, y2), (longitude, latitude)) {
                if *edge >= self.outer_edge_count {
                    return false;
                }
                is_on_outer_ring = true;
            }
            if (y1 > latitude) != (y2 > latitude) {
                let turn = (x2 - x1) * (latitude - y1) - (longitude - x1) * (y2 - y1);
                is_inside ^= (turn > 0.0) == (y2 > y1);
            }
        }
        is_inside || is_on_outer_ring
    }

    /// Returns the relation of a rectangle, ends included, to the polygon.
    pub fn side(&self, x: (f64, f64), y: (f64, f64)) -> Side {
        if x.1 < self.west || x.0 > self.east || y.1 < self.south || y.0 > self.north {
            return Side::Outside;
        }
        for band in &self.bands[self.band(y.0)..=self.band(y.1)] {
            for edge in band {
                let (from, to) = self.edges[*edge as usize];
                if touches(from, to, x, y) {
                    return Side::Across;
                }
            }
        }
        if self.contains(x.0, y.0) { Side::Inside } else { Side::Outside }
    }
}

/// Whether a point is on the line between two others.
pub(super) fn is_on(from: Position, to: Position, at: Position) -> bool {
    at.0 >= from.0.min(to.0)
        && at.0 <= from.0.max(to.0)
        && at.1 >= from.1.min(to.1)
        && at.1 <= from.1.max(to.1)
        && (to.0 - from.0) * (at.1 - from.1) == (at.0 - from.0) * (to.1 - from.1)
}

/// Whether the line between two points touches a rectangle.
pub(super) fn touches(from: Position, to: Position, x: (f64, f64), y: (f64, f64)) -> bool {
    if from.0.max(to.0) < x.0 || from.0.min(to.0) > x.1 || from.1.max(to.1) < y.0 || from.1.min(to.1) > y.1 {
        return false;
    }
    // If all corners are on one side of the line, it does not touch the rectangle.
    let turn =
        |corner: Position| (to.0 - from.0) * (corner.1 - from.1) - (corner.0 - from.0) * (to.1 - from.1);
    let turns = [turn((x.0, y.0)), turn((x.1, y.0)), turn((x.0, y.1)), turn((x.1, y.1))];
    !(turns.iter().all(|turn| *turn > 0.0) || turns.iter().all(|turn| *turn < 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(size: f64) -> Vec<Position> {
        vec![(0.0, 0.0), (size, 0.0), (size, size), (0.0, size), (0.0, 0.0)]
    }

    #[test]
    fn edges_belong_to_the_polygon_and_holes_do_not() {
        let hole: Vec<Position> = square(2.0).into_iter().map(|(x, y)| (x + 4.0, y + 4.0)).collect();
        let polygon = Polygon::new(&[square(10.0), hole], 0.0);
        for (x, y, expected) in [
            (1.0, 1.0, true),
            (0.0, 5.0, true),
            (10.0, 10.0, true),
            (5.0, 5.0, false),
            (4.0, 5.0, false),
            (6.0, 6.0, false),
            (11.0, 1.0, false),
            (-1.0, 5.0, false),
        ] {
            assert_eq!(polygon.contains(x, y), expected, "{x} {y}");
        }
        assert_eq!(polygon.side((1.0, 2.0), (1.0, 2.0)), Side::Inside);
        assert_eq!(polygon.side((4.5, 5.5), (4.5, 5.5)), Side::Outside);
        assert_eq!(polygon.side((3.0, 5.0), (3.0, 5.0)), Side::Across);
        assert_eq!(polygon.side((-1.0, 11.0), (-1.0, 11.0)), Side::Across);
        assert_eq!(polygon.side((12.0, 13.0), (1.0, 2.0)), Side::Outside);
    }

    #[test]
    fn many_edges_answer_as_a_circle_does() {
        let ring: Vec<Position> = (0..=5000)
            .map(|at| (f64::from(at % 5000) / 5000.0 * std::f64::consts::TAU).sin_cos())
            .map(|(sine, cosine)| (10.0 * cosine, 10.0 * sine))
            .collect();
        let polygon = Polygon::new(&[ring], 100.0);
        for at in 0..1000 {
            let (x, y) = (f64::from(at % 40) - 20.0, f64::from(at / 40) - 12.0);
            let distance = x.hypot(y);
            if (distance - 10.0).abs() > 0.01 {
                assert_eq!(polygon.contains(x + 100.0, y), distance < 10.0, "{x} {y}");
            }
        }
    }
}
