//! A shape as JSON and WKT name them.

/// Longitude and latitude in degrees.
pub type Position = (f64, f64);

/// Degrees; `west` is larger than `east` when the date line goes through.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rectangle {
    pub west: f64,
    pub east: f64,
    pub south: f64,
    pub north: f64,
}

/// A shape of GeoJSON or WKT, with Elasticsearch's `envelope` and `circle`.
#[derive(Debug, Clone, PartialEq)]
pub enum Geometry {
    Point(Position),
    MultiPoint(Vec<Position>),
    Line(Vec<Position>),
    MultiLine(Vec<Vec<Position>>),
    /// Rings; the first is the outer one, the others are holes. Each ends where it starts.
    Polygon(Vec<Vec<Position>>),
    MultiPolygon(Vec<Vec<Vec<Position>>>),
    Envelope(Rectangle),
    Circle {
        center: Position,
        radius_meters: f64,
    },
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
