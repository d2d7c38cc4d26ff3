//! GeoJSON with Elasticsearch's `envelope` and `circle`: "which shape does this object name?"
//!
//! Source: Elasticsearch's `GeoJson`.

use serde_json::{Map, Value};

use super::geometry::{Geometry, Position, Rectangle};
use super::surface::Surface;
use super::wkt::{check_z, geometry_from_wkt_on, rectangle, ring};
use crate::RequestError;
use crate::json::object_parser::ObjectParser;

/// Maximum nesting depth of collections, because each level uses stack space.
const DEPTH_MAX: usize = 100;

/// A shape as given in a query or document.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenShape {
    /// The shape.
    pub geometry: Geometry,
    /// `orientation`: whether outer rings are clockwise.
    pub is_clockwise: bool,
}

/// How a shape is parsed. Positions may lie outside of the map.
#[derive(Clone, Copy)]
pub struct ShapeOptions<'f> {
    /// The surface of the shape.
    pub surface: Surface,
    /// Open rings are closed; otherwise they are refused.
    pub coerce: bool,
    /// Third coordinates are ignored; otherwise they are refused.
    pub ignore_z: bool,
    /// The default for a shape without `orientation`.
    pub is_clockwise: bool,
    /// Parses the radius of a circle to metres.
    pub parse_length: &'f dyn Fn(&str) -> Result<f64, RequestError>,
}

/// Parses an orientation: whether outer rings are clockwise.
///
/// # Errors
/// `Unknown orientation [name]`.
pub fn parse_orientation(name: &str) -> Result<bool, RequestError> {
    match name.to_lowercase().as_str() {
        "right" | "counterclockwise" | "ccw" => Ok(false),
        "left" | "clockwise" | "cw" => Ok(true),
        _ => Err(RequestError::illegal_argument(format!("Unknown orientation [{name}]"))),
    }
}

/// Reads a shape, given as GeoJSON or WKT.
///
/// # Errors
/// Elasticsearch's errors, with its types.
pub fn read_shape(value: &Value, options: &ShapeOptions<'_>) -> Result<GivenShape, RequestError> {
    match value {
        Value::String(text) => {
            let geometry = geometry_from_wkt_on(options.surface, text, options.ignore_z, options.coerce)?;
            Ok(GivenShape { geometry, is_clockwise: options.is_clockwise })
        }
        Value::Object(members) => Ok(GivenShape {
            geometry: from_object(members, options, 0)?,
            is_clockwise: match members.get("orientation").and_then(Value::as_str) {
                None => options.is_clockwise,
                Some(name) => parse_orientation(name).map_err(failed)?,
            },
        }),
        _ => Err(refused("shape must be an object consisting of type and coordinates")),
    }
}

const PARSER: ObjectParser<'_> = ObjectParser::new("geojson");

fn refused(reason: impl Into<String>) -> RequestError {
    RequestError::bad_request("parse_exception", reason)
}

/// Wraps an error from inside the object, like Elasticsearch's object parser.
fn failed(cause: RequestError) -> RequestError {
    PARSER.failed_to_build(cause)
}

fn wrong_type(name: &str, value: &Value) -> RequestError {
    PARSER.unsupported(name, value)
}

fn from_object(
    members: &Map<String, Value>,
    options: &ShapeOptions<'_>,
    depth: usize,
) -> Result<Geometry, RequestError> {
    if depth > DEPTH_MAX {
        return Err(refused(format!("a geometry collection nested deeper than [{DEPTH_MAX}]")));
    }
    check_names(members)?;
    let kind = match members.get("type") {
        None => return Err(RequestError::illegal_argument("Required [type]")),
        Some(Value::String(kind)) => kind.to_lowercase(),
        Some(other) => return Err(wrong_type("type", other)),
    };
    check_coordinates(members)?;
    if kind == "geometrycollection" {
        let Some(Value::Array(items)) = members.get("geometries") else {
            return Err(failed(refused("geometries not included")));
        };
        let parts = items.iter().map(|item| match item {
            Value::Object(members) => from_object(members, options, depth + 1),
            _ => Err(failed(refused("shape must be an object consisting of type and coordinates"))),
        });
        return Ok(Geometry::Collection(parts.collect::<Result<_, _>>()?));
    }
    let coordinates =
        members.get("coordinates").ok_or_else(|| failed(refused("coordinates not included")))?;
    one(&kind, coordinates, members, options).map_err(failed)
}

/// Refuses members that no shape has.
fn check_names(members: &Map<String, Value>) -> Result<(), RequestError> {
    for (name, value) in members {
        let is_known =
            matches!(name.as_str(), "type" | "coordinates" | "geometries" | "orientation" | "radius")
                || !(value.is_array() || value.is_object());
        if !is_known && name != "crs" && name != "properties" && name != "bbox" {
            return Err(failed(refused(ObjectParser::unknown_words(name))));
        }
    }
    Ok(())
}

/// Refuses coordinates that are obviously not a list of numbers.
fn check_coordinates(members: &Map<String, Value>) -> Result<(), RequestError> {
    match members.get("coordinates") {
        None | Some(Value::Array(_) | Value::Number(_)) => {}
        Some(other @ Value::Object(_)) => return Err(wrong_type("coordinates", other)),
        Some(_) => {
            return Err(PARSER.failed("coordinates", refused("geo coordinates must be numbers")));
        }
    }
    Ok(())
}

/// Reads a shape that is no collection, of the type `kind` in lower case.
fn one(
    kind: &str,
    value: &Value,
    members: &Map<String, Value>,
    options: &ShapeOptions<'_>,
) -> Result<Geometry, RequestError> {
    Ok(match kind {
        "point" => Geometry::Point(position(value, options)?),
        "multipoint" => Geometry::MultiPoint(positions(value, options)?),
        "linestring" => Geometry::Line(line(value, options)?),
        "multilinestring" => {
            let lines = list(value)?.iter().map(|item| line(item, options));
            Geometry::MultiLine(lines.collect::<Result<_, _>>()?)
        }
        "polygon" => Geometry::Polygon(rings(value, options)?),
        "multipolygon" => {
            let polygons = list(value)?.iter().map(|item| rings(item, options));
            Geometry::MultiPolygon(polygons.collect::<Result<_, _>>()?)
        }
        "envelope" => {
            let corners = positions(value, options)?;
            let [(west, north), (east, south)] = corners[..] else {
                return Err(refused(format!(
                    "invalid number of points [{}] provided for geo_shape [ENVELOPE] when expecting an array of 2 coordinates",
                    corners.len()
                )));
            };
            rectangle(options.surface, Rectangle { west, east, south, north })?
        }
        "circle" => {
            let radius = match members.get("radius") {
                None => return Err(refused("radius is not specified")),
                Some(Value::Number(meters)) => meters.as_f64().unwrap_or(0.0),
                Some(Value::String(text)) => (options.parse_length)(text)?,
                Some(_) => return Err(refused("radius is not specified")),
            };
            Geometry::Circle { center: position(value, options)?, radius_meters: radius }
        }
        other => return Err(RequestError::illegal_argument(format!("unknown geo_shape [{other}]"))),
    })
}

fn list(value: &Value) -> Result<&[Value], RequestError> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| refused("geo coordinates must be numbers"))
}

fn position(value: &Value, options: &ShapeOptions<'_>) -> Result<Position, RequestError> {
    let number = |value: &Value| value.as_f64().ok_or_else(|| refused("geo coordinates must be numbers"));
    match list(value)? {
        [longitude, latitude] => Ok((number(longitude)?, number(latitude)?)),
        [longitude, latitude, z] => {
            check_z(number(z)?, options.ignore_z)?;
            Ok((number(longitude)?, number(latitude)?))
        }
        [_, _, ..] => Err(refused("geo coordinates greater than 3 dimensions are not supported")),
        _ => Err(refused("geo coordinates must be numbers")),
    }
}

fn positions(value: &Value, options: &ShapeOptions<'_>) -> Result<Vec<Position>, RequestError> {
    list(value)?.iter().map(|one| position(one, options)).collect()
}

fn line(value: &Value, options: &ShapeOptions<'_>) -> Result<Vec<Position>, RequestError> {
    let line = positions(value, options)?;
    if line.len() < 2 {
        return Err(RequestError::bad_request("exception", "not enough points to build a line"));
    }
    Ok(line)
}

fn rings(value: &Value, options: &ShapeOptions<'_>) -> Result<Vec<Vec<Position>>, RequestError> {
    list(value)?.iter().map(|one| ring(line(one, options)?, options.coerce)).collect()
}
