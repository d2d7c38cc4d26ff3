//! A shape as JSON and WKT describe it.

/// Longitude and latitude in degrees.
pub type Position = (f64, f64);

/// A rectangle in degrees; `west` is larger than `east` if it crosses the date line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rectangle {
    /// Longitude of the left side.
    pub west: f64,
    /// Longitude of the right side.
    pub east: f64,
    /// Latitude of the lower side.
    pub south: f64,
    /// Latitude of the upper side.
    pub north: f64,
}

/// A shape of GeoJSON or WKT, with Elasticsearch's `envelope` and `circle`.
#[derive(Debug, Clone, PartialEq)]
pub enum Geometry {
    /// One point.
    Point(Position),
    /// Several points.
    MultiPoint(Vec<Position>),
    /// The line through these points, at least two.
    Line(Vec<Position>),
    /// Lines.
    MultiLine(Vec<Vec<Position>>),
    /// Rings; the first is the outer one, the others are holes. Each ends at its first point.
    Polygon(Vec<Vec<Position>>),
    /// Polygons, each as in `Polygon`.
    MultiPolygon(Vec<Vec<Vec<Position>>>),
    /// A rectangle.
    Envelope(Rectangle),
    /// The area within a distance of a point.
    Circle {
        /// The centre.
        center: Position,
        /// The distance in metres.
        radius_meters: f64,
    },
    /// Several shapes of any kind.
    Collection(Vec<Geometry>),
}

impl Geometry {
    /// Returns Elasticsearch's name of the type.
    pub fn name(&self) -> &'static str {
        match self {
            Geometry::Point(_) => "POINT",
            Geometry::MultiPoint(_) => "MULTIPOINT",
            Geometry::Line(_) => "LINESTRING",
            Geometry::MultiLine(_) => "MULTILINESTRING",
            Geometry::Polygon(_) => "POLYGON",
            Geometry::MultiPolygon(_) => "MULTIPOLYGON",
            Geometry::Envelope(_) => "ENVELOPE",
            Geometry::Circle { .. } => "CIRCLE",
            Geometry::Collection(_) => "GEOMETRYCOLLECTION",
        }
    }

    /// Returns the number of its lists of positions, and of all positions in them.
    pub fn extent(&self) -> (usize, usize) {
        let of_lists = |lists: &[Vec<Position>]| (lists.len(), lists.iter().map(Vec::len).sum::<usize>());
        let sum = |(lists, positions): (usize, usize), (more_lists, more): (usize, usize)| {
            (lists + more_lists, positions + more)
        };
        match self {
            Geometry::Point(_) | Geometry::Circle { .. } => (1, 1),
            Geometry::Envelope(_) => (1, 5),
            Geometry::MultiPoint(positions) | Geometry::Line(positions) => (1, positions.len()),
            Geometry::MultiLine(lists) | Geometry::Polygon(lists) => of_lists(lists),
            Geometry::MultiPolygon(polygons) => {
                polygons.iter().map(|rings| of_lists(rings)).fold((0, 0), sum)
            }
            Geometry::Collection(parts) => parts.iter().map(Geometry::extent).fold((0, 0), sum),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_count_lists_and_positions() {
        let line = vec![(0.0, 0.0), (1.0, 1.0)];
        let lines = Geometry::MultiLine(vec![line.clone(), line.clone()]);
        assert_eq!(lines.extent(), (2, 4));
        let polygons = Geometry::MultiPolygon(vec![vec![line.clone()], vec![line.clone(), line]]);
        assert_eq!(polygons.extent(), (3, 6));
        assert_eq!(
            Geometry::Collection(vec![lines, Geometry::Point((0.0, 0.0)), polygons]).extent(),
            (6, 11)
        );
    }
}
