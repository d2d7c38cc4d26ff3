//! GeoJSON with Elasticsearch's `envelope` and `circle`: "which shape does this object name?"
//!
//! Source: Elasticsearch's `GeoJson`.

use serde_json::{Map, Value};

use super::geometry::{Geometry, Position};
use super::wkt::{WktOptions, geometry_from_wkt, rectangle, ring};
use crate::RequestError;

/// Collections in collections: a level takes stack.
const DEPTH_MAX: usize = 100;

/// A shape as a query or document gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenShape {
    pub geometry: Geometry,
    /// `orientation`: outer rings run clockwise.
    pub is_clockwise: bool,
}

/// Reads the shape of a query, given as GeoJSON or WKT: open rings are closed, positions may lie outside of the map. `parse_length` reads the radius of a circle, in meters.
///
/// # Errors
/// In Elasticsearch's words and types.
pub fn read_shape(
    value: &Value,
    parse_length: &dyn Fn(&str) -> Result<f64, RequestError>,
) -> Result<GivenShape, RequestError> {
    match value {
        Value::String(text) => {
            let geometry =
                geometry_from_wkt(text, WktOptions { allow_z: true, coerce: true }).map_err(|error| {
                    match error.kind {
                        "parse_exception" => RequestError::new(
                            500,
                            "i_o_exception",
                            format!("java.text.ParseException: {}", error.reason),
                        ),
                        _ => error,
                    }
                })?;
            Ok(GivenShape { geometry, is_clockwise: false })
        }
        Value::Object(members) => Ok(GivenShape {
            geometry: from_object(members, parse_length, 0)?,
            is_clockwise: match members.get("orientation").and_then(Value::as_str) {
                None => false,
                Some(name) => match name.to_lowercase().as_str() {
                    "right" | "counterclockwise" | "ccw" => false,
                    "left" | "clockwise" | "cw" => true,
                    _ => {
                        return Err(failed(RequestError::illegal_argument(format!(
                            "Unknown orientation [{name}]"
                        ))));
                    }
                },
            },
        }),
        _ => Err(refused("shape must be an object consisting of type and coordinates")),
    }
}

fn refused(reason: impl Into<String>) -> RequestError {
    RequestError::new(400, "parse_exception", reason)
}

/// What Elasticsearch's object parser makes of an error inside of the object.
fn failed(cause: RequestError) -> RequestError {
    RequestError::new(
        400,
        "x_content_parse_exception",
        "Failed to build [geojson] after last required field arrived",
    )
    .caused_by(cause)
}

fn from_object(
    members: &Map<String, Value>,
    parse_length: &dyn Fn(&str) -> Result<f64, RequestError>,
    depth: usize,
) -> Result<Geometry, RequestError> {
    if depth > DEPTH_MAX {
        return Err(refused(format!("a geometry collection nested deeper than [{DEPTH_MAX}]")));
    }
    for (name, value) in members {
        let is_known =
            matches!(name.as_str(), "type" | "coordinates" | "geometries" | "orientation" | "radius")
                || !(value.is_array() || value.is_object());
        if !is_known && name != "crs" && name != "properties" && name != "bbox" {
            return Err(failed(refused(format!("unknown field [{name}]"))));
        }
    }
    let kind = match members.get("type") {
        None => return Err(RequestError::illegal_argument("Required [type]")),
        Some(Value::String(kind)) => kind.to_lowercase(),
        Some(_) => return Err(failed(refused("[type] must be a string"))),
    };
    if kind == "geometrycollection" {
        let Some(Value::Array(items)) = members.get("geometries") else {
            return Err(failed(refused("geometries not included")));
        };
        let parts = items.iter().map(|item| match item {
            Value::Object(members) => from_object(members, parse_length, depth + 1),
            _ => Err(failed(refused("shape must be an object consisting of type and coordinates"))),
        });
        return Ok(Geometry::Collection(parts.collect::<Result<_, _>>()?));
    }
    let coordinates = members.get("coordinates").ok_or_else(|| failed(refused("coordinates not included")));
    let of = |value: &Value| -> Result<Geometry, RequestError> {
        Ok(match kind.as_str() {
            "point" => Geometry::Point(position(value)?),
            "multipoint" => Geometry::MultiPoint(positions(value)?),
            "linestring" => Geometry::Line(line(value)?),
            "multilinestring" => {
                Geometry::MultiLine(list(value)?.iter().map(line).collect::<Result<_, _>>()?)
            }
            "polygon" => Geometry::Polygon(rings(value)?),
            "multipolygon" => {
                Geometry::MultiPolygon(list(value)?.iter().map(rings).collect::<Result<_, _>>()?)
            }
            "envelope" => {
                let corners = positions(value)?;
                let [(west, north), (east, south)] = corners[..] else {
                    return Err(refused(format!(
                        "invalid number of points [{}] provided for geo_shape [ENVELOPE] when expecting an array of 2 coordinates",
                        corners.len()
                    )));
                };
                rectangle(west, east, south, north)?
            }
            "circle" => {
                let radius = match members.get("radius") {
                    None => return Err(refused("radius is not specified")),
                    Some(Value::Number(meters)) => meters.as_f64().unwrap_or(0.0),
                    Some(Value::String(text)) => parse_length(text)?,
                    Some(_) => return Err(refused("radius is not specified")),
                };
                Geometry::Circle { center: position(value)?, radius_meters: radius }
            }
            other => return Err(RequestError::illegal_argument(format!("unknown geo_shape [{other}]"))),
        })
    };
    of(coordinates?).map_err(failed)
}

fn list(value: &Value) -> Result<&[Value], RequestError> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| refused("geo coordinates must be numbers"))
}

fn position(value: &Value) -> Result<Position, RequestError> {
    let number = |value: &Value| value.as_f64().ok_or_else(|| refused("geo coordinates must be numbers"));
    match list(value)? {
        [longitude, latitude] | [longitude, latitude, _] => Ok((number(longitude)?, number(latitude)?)),
        [_, _, ..] => Err(refused("geo coordinates greater than 3 dimensions are not supported")),
        _ => Err(refused("geo coordinates must be numbers")),
    }
}

fn positions(value: &Value) -> Result<Vec<Position>, RequestError> {
    list(value)?.iter().map(position).collect()
}

fn line(value: &Value) -> Result<Vec<Position>, RequestError> {
    let line = positions(value)?;
    if line.len() < 2 {
        return Err(RequestError::new(400, "exception", "not enough points to build a line"));
    }
    Ok(line)
}

fn rings(value: &Value) -> Result<Vec<Vec<Position>>, RequestError> {
    list(value)?.iter().map(|coordinates| ring(positions(coordinates)?, true)).collect()
}
