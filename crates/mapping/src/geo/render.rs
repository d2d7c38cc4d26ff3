//! Renders a shape as `fields` shows it: GeoJSON, well-known text or well-known binary.
//!
//! Source: Elasticsearch's `GeoJson#toMap`, `WellKnownText#toWKT`, `WellKnownBinary#toWKB`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use super::geometry::{Geometry, Position, Rectangle};
use crate::number::java_double;

impl Geometry {
    /// Renders the shape as GeoJSON, with Elasticsearch's `Envelope` and `Circle`.
    pub fn to_geojson(&self) -> Value {
        let (name, coordinates) = match self {
            Geometry::Point(point) => ("Point", json!(point)),
            Geometry::MultiPoint(points) => ("MultiPoint", json!(points)),
            Geometry::Line(line) => ("LineString", json!(line)),
            Geometry::MultiLine(lines) => ("MultiLineString", json!(lines)),
            Geometry::Polygon(rings) => ("Polygon", json!(rings)),
            Geometry::MultiPolygon(polygons) => ("MultiPolygon", json!(polygons)),
            Geometry::Envelope(Rectangle { west, east, south, north }) => {
                ("Envelope", json!([[west, north], [east, south]]))
            }
            Geometry::Circle { center, radius_meters } => {
                let radius = format!("{}m", java_double(*radius_meters));
                return json!({"coordinates": center, "radius": radius, "type": "Circle"});
            }
            Geometry::Collection(parts) => {
                let parts: Vec<Value> = parts.iter().map(Geometry::to_geojson).collect();
                return json!({"geometries": parts, "type": "GeometryCollection"});
            }
        };
        json!({"coordinates": coordinates, "type": name})
    }

    /// Renders the shape as well-known text.
    pub fn to_wkt(&self) -> String {
        let listed = |parts: Vec<String>, comma: &str| match parts.is_empty() {
            true => "EMPTY".to_owned(),
            false => format!("({})", parts.join(comma)),
        };
        let position = |at: &Position| format!("{} {}", java_double(at.0), java_double(at.1));
        let line = |line: &Vec<Position>| listed(line.iter().map(position).collect(), ", ");
        let rings = |rings: &Vec<Vec<Position>>| listed(rings.iter().map(line).collect(), ", ");
        match self {
            Geometry::Point(point) => format!("POINT ({})", position(point)),
            Geometry::MultiPoint(points) => format!("MULTIPOINT {}", line(points)),
            Geometry::Line(points) => format!("LINESTRING {}", line(points)),
            Geometry::MultiLine(lines) => {
                format!("MULTILINESTRING {}", listed(lines.iter().map(line).collect(), ","))
            }
            Geometry::Polygon(polygon) => format!("POLYGON {}", rings(polygon)),
            Geometry::MultiPolygon(polygons) => {
                format!("MULTIPOLYGON {}", listed(polygons.iter().map(rings).collect(), ","))
            }
            Geometry::Envelope(Rectangle { west, east, south, north }) => {
                format!("BBOX ({})", [*west, *east, *north, *south].map(java_double).join(", "))
            }
            Geometry::Circle { center, radius_meters } => {
                format!("CIRCLE ({} {})", position(center), java_double(*radius_meters))
            }
            Geometry::Collection(parts) => {
                let parts = parts.iter().map(Geometry::to_wkt).collect();
                format!("GEOMETRYCOLLECTION {}", listed(parts, ","))
            }
        }
    }

    /// Renders the shape as well-known binary in Base64, little-endian. An envelope becomes a polygon.
    pub fn to_wkb(&self) -> String {
        let mut bytes = Vec::new();
        self.write_wkb(&mut bytes);
        BASE64.encode(bytes)
    }

    fn write_wkb(&self, out: &mut Vec<u8>) {
        let head = |out: &mut Vec<u8>, kind: u32| {
            out.push(1);
            out.extend_from_slice(&kind.to_le_bytes());
        };
        match self {
            Geometry::Point(point) => {
                head(out, 1);
                write_position(*point, out);
            }
            Geometry::Line(line) => {
                head(out, 2);
                write_list(line, out, |point, out| write_position(*point, out));
            }
            Geometry::Polygon(rings) => {
                head(out, 3);
                write_list(rings, out, |ring, out| {
                    write_list(ring, out, |point, out| write_position(*point, out));
                });
            }
            Geometry::MultiPoint(points) => {
                head(out, 4);
                write_list(points, out, |point, out| Geometry::Point(*point).write_wkb(out));
            }
            Geometry::MultiLine(lines) => {
                head(out, 5);
                write_list(lines, out, |line, out| Geometry::Line(line.clone()).write_wkb(out));
            }
            Geometry::MultiPolygon(polygons) => {
                head(out, 6);
                write_list(polygons, out, |rings, out| Geometry::Polygon(rings.clone()).write_wkb(out));
            }
            Geometry::Collection(parts) => {
                head(out, 7);
                write_list(parts, out, |part, out| part.write_wkb(out));
            }
            Geometry::Envelope(Rectangle { west, east, south, north }) => {
                let corners = [(*west, *south), (*east, *south), (*east, *north), (*west, *north)];
                let ring = corners.into_iter().chain([corners[0]]).collect();
                Geometry::Polygon(vec![ring]).write_wkb(out);
            }
            Geometry::Circle { center, radius_meters } => {
                head(out, 17);
                write_position(*center, out);
                out.extend_from_slice(&radius_meters.to_le_bytes());
            }
        }
    }
}

fn write_position((longitude, latitude): Position, out: &mut Vec<u8>) {
    out.extend_from_slice(&longitude.to_le_bytes());
    out.extend_from_slice(&latitude.to_le_bytes());
}

fn write_list<T>(items: &[T], out: &mut Vec<u8>, mut write: impl FnMut(&T, &mut Vec<u8>)) {
    out.extend_from_slice(&(items.len() as u32).to_le_bytes());
    items.iter().for_each(|item| write(item, out));
}

#[cfg(test)]
mod tests {
    use super::super::{WktOptions, geometry_from_wkt};
    use super::*;

    #[test]
    fn text_comes_back() {
        for text in [
            "POINT (1.0 2.0)",
            "MULTIPOINT (1.0 2.0, 3.0 4.0)",
            "LINESTRING (1.0 2.0, 3.0 4.0)",
            "MULTILINESTRING ((1.0 2.0, 3.0 4.0),(5.0 6.0, 7.0 8.0))",
            "POLYGON ((0.0 0.0, 9.0 0.0, 9.0 9.0, 0.0 0.0), (2.0 1.0, 3.0 1.0, 3.0 2.0, 2.0 1.0))",
            "MULTIPOLYGON (((0.0 0.0, 9.0 0.0, 9.0 9.0, 0.0 0.0)))",
            "BBOX (1.0, 2.0, 4.0, 3.0)",
            "GEOMETRYCOLLECTION (POINT (1.0 2.0),LINESTRING (1.0 2.0, 3.0 4.0))",
        ] {
            let notation = WktOptions { allow_z: true, coerce: false, off_map: true };
            assert_eq!(geometry_from_wkt(text, notation).expect(text).to_wkt(), text);
        }
    }

    #[test]
    fn other_notations() {
        let line = Geometry::Line(vec![(1.0, 2.0), (3.0, 4.0)]);
        assert_eq!(line.to_geojson(), json!({"type": "LineString", "coordinates": [[1.0, 2.0], [3.0, 4.0]]}));
        assert_eq!(line.to_wkb(), "AQIAAAACAAAAAAAAAAAA8D8AAAAAAAAAQAAAAAAAAAhAAAAAAAAAEEA=");
        let envelope = Geometry::Envelope(Rectangle { west: 1.0, east: 2.0, south: 3.0, north: 4.0 });
        assert_eq!(
            envelope.to_geojson(),
            json!({"type": "Envelope", "coordinates": [[1.0, 4.0], [2.0, 3.0]]})
        );
    }
}
