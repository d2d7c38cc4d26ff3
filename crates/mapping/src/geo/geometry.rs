//! A shape as JSON and WKT name them.

/// Longitude and latitude in degrees.
pub type Position = (f64, f64);

/// Degrees; `west` is larger than `east` when the date line goes through.
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
    /// One place.
    Point(Position),
    /// Places.
    MultiPoint(Vec<Position>),
    /// The line through these places, at least two.
    Line(Vec<Position>),
    /// Lines.
    MultiLine(Vec<Vec<Position>>),
    /// Rings; the first is the outer one, the others are holes. Each ends where it starts.
    Polygon(Vec<Vec<Position>>),
    /// Polygons, each as in `Polygon`.
    MultiPolygon(Vec<Vec<Vec<Position>>>),
    /// A rectangle.
    Envelope(Rectangle),
    /// The places within a distance.
    Circle {
        /// The place in its middle.
        center: Position,
        /// The distance.
        radius_meters: f64,
    },
    /// Several shapes of any kind.
    Collection(Vec<Geometry>),
}

impl Geometry {
    /// Elasticsearch's name of the type.
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
}
