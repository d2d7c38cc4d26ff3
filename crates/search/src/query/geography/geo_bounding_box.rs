//! `geo_bounding_box`: documents with a point in a rectangle.

use limber_mapping::RequestError;
use limber_mapping::geo::{
    GeoPoint, Geometry, Rectangle, WktOptions, geohash_bounds, geometry_from_wkt, parse_point,
};
use limber_mapping::number::java_double;
use serde_json::{Map, Value};

use super::geo::{geo_field, is_on_map, near};
use crate::error::Error;
use crate::geo::{Shape, Target, Validation};
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::parse::{Common, Parser, Query, QueryNode};
use crate::values::json;

#[derive(Debug)]
struct BoundingBox {
    field: String,
    corners: Rectangle,
    validation: Validation,
    ignore_unmapped: bool,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let mut found = None;
    let (mut validation, mut ignore_unmapped) = (Validation::default(), false);
    for (key, value) in members {
        match (key.as_str(), value) {
            (_, Value::Object(corners)) => {
                let corners = parse_corners(corners).map_err(|error| match error.kind {
                    "parse_exception" => RequestError::bad_request(
                        "parse_exception",
                        format!("failed to parse [geo_bounding_box] query. [{}]", error.reason),
                    ),
                    _ => error,
                })?;
                found = Some((key.clone(), corners));
            }
            ("validation_method", value) => validation = Validation::parse(value)?,
            ("ignore_unmapped", value) => ignore_unmapped = json::boolean(value)?,
            // How Elasticsearch 7 and OpenSearch once evaluated the query; both forms have the same matches.
            ("type", Value::String(kind)) if matches!(kind.as_str(), "memory" | "indexed") => {}
            (key, value) if common.take(key, value)? => {}
            _ => {
                return Err(RequestError::parsing(format!(
                    "failed to parse [geo_bounding_box] query. unexpected field [{key}]"
                )));
            }
        }
    }
    let (field, corners) = found.ok_or_else(|| {
        let reason = "failed to parse [geo_bounding_box] query. bounding box not provided";
        RequestError::bad_request("parse_exception", reason)
    })?;
    check_order(&corners)?;
    Ok(common.query(BoundingBox { field, corners, validation, ignore_unmapped }))
}

fn refused(reason: impl Into<String>) -> RequestError {
    RequestError::bad_request("parse_exception", reason)
}

/// Parses corners in any of their formats; sides that are not given are NaN.
pub(crate) fn parse_corners(members: &Map<String, Value>) -> Result<Rectangle, RequestError> {
    let mut corners = Rectangle { west: f64::NAN, east: f64::NAN, south: f64::NAN, north: f64::NAN };
    let mut envelope = None;
    for (key, value) in members {
        match key.as_str() {
            "wkt" => envelope = Some(from_wkt(value)?),
            "top" => corners.north = side(value)?,
            "bottom" => corners.south = side(value)?,
            "left" => corners.west = side(value)?,
            "right" => corners.east = side(value)?,
            "top_left" | "bottom_right" | "top_right" | "bottom_left" => {
                let cell = corner(value)?;
                match key.starts_with("top") {
                    true => corners.north = cell.north,
                    false => corners.south = cell.south,
                }
                match key.ends_with("left") {
                    true => corners.west = cell.west,
                    false => corners.east = cell.east,
                }
            }
            other => {
                return Err(refused(format!("failed to parse bounding box. unexpected field [{other}]")));
            }
        }
    }
    let given = [corners.west, corners.east, corners.south, corners.north];
    match envelope {
        Some(_) if given.iter().any(|side| !side.is_nan()) => Err(refused(
            "failed to parse bounding box. Conflicting definition found using well-known text and explicit corners.",
        )),
        Some(envelope) => Ok(envelope),
        None => Ok(corners),
    }
}

fn side(value: &Value) -> Result<f64, RequestError> {
    match value {
        Value::Number(number) => Ok(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) if text.is_empty() => Err(refused("empty String")),
        Value::String(text) => text.trim().parse().map_err(|_| json::number_format(text)),
        other => Err(refused(format!("Current token ({}) not numeric", json::token(other)))),
    }
}

/// Parses a point, or the cell of a geohash, whose outer corner is used.
fn corner(value: &Value) -> Result<Rectangle, RequestError> {
    let point = parse_point(value, true)?;
    if let Value::String(text) = value
        && !text.contains(',')
        && let Ok(cell) = geohash_bounds(text)
    {
        return Ok(cell);
    }
    let GeoPoint { latitude, longitude } = point;
    Ok(Rectangle { west: longitude, east: longitude, south: latitude, north: latitude })
}

fn from_wkt(value: &Value) -> Result<Rectangle, RequestError> {
    let text = value.as_str().unwrap_or_default();
    match geometry_from_wkt(text, WktOptions { allow_z: true, coerce: false, off_map: false }) {
        Ok(Geometry::Envelope(envelope)) => Ok(envelope),
        Ok(other) => Err(refused(format!(
            "failed to parse WKT bounding box. [{}] found. expected [ENVELOPE]",
            other.name()
        ))),
        Err(cause) => Err(refused("failed to parse WKT bounding box").caused_by(cause)),
    }
}

fn check_order(corners: &Rectangle) -> Result<(), RequestError> {
    for (name, value) in [
        ("top latitude", corners.north),
        ("left longitude", corners.west),
        ("bottom latitude", corners.south),
        ("right longitude", corners.east),
    ] {
        if !value.is_finite() {
            return Err(RequestError::illegal_argument(format!("{name} is invalid: {}", java_double(value))));
        }
    }
    if corners.north < corners.south {
        return Err(RequestError::illegal_argument(format!(
            "top is below bottom corner: {} vs. {}",
            java_double(corners.north),
            java_double(corners.south)
        )));
    }
    Ok(())
}

/// Moves both corners into the valid ranges. A box of all longitudes stays one.
fn coerced(corners: &Rectangle) -> Rectangle {
    let Rectangle { west, east, south, north } = *corners;
    let is_whole_turn = (east - west) % 360.0 == 0.0 && east > west;
    let top_left = GeoPoint { latitude: north, longitude: west }.normalized();
    let bottom_right = GeoPoint { latitude: south, longitude: east }.normalized();
    Rectangle {
        west: if is_whole_turn { -180.0 } else { top_left.longitude },
        east: if is_whole_turn { 180.0 } else { bottom_right.longitude },
        south: bottom_right.latitude,
        north: top_left.latitude,
    }
}

impl QueryNode for BoundingBox {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let Some(field) = geo_field(binder, &self.field, "geo_bounding_box", self.ignore_unmapped)? else {
            return Ok(BoundQuery::nothing(format!("unmapped field [{}]", self.field)));
        };
        let mut corners = self.corners;
        let top_left = GeoPoint { latitude: corners.north, longitude: corners.west };
        let bottom_right = GeoPoint { latitude: corners.south, longitude: corners.east };
        match self.validation {
            Validation::Strict if !is_on_map(&top_left) || !is_on_map(&bottom_right) => {
                return Err(binder.query_shard("couldn't validate latitude/ longitude values").into());
            }
            Validation::Strict => {}
            Validation::Coerce => corners = coerced(&corners),
            Validation::IgnoreMalformed => {
                if let Some(corner) = [&top_left, &bottom_right].into_iter().find(|corner| !is_on_map(corner))
                {
                    let (what, value, end) = match (-90.0..=90.0).contains(&corner.latitude) {
                        true => ("longitude", corner.longitude, "180.0"),
                        false => ("latitude", corner.latitude, "90.0"),
                    };
                    return Err(binder
                        .query_shard(format!(
                            "Exception creating query on Field [{}] invalid {what} {}; must be between -{end} and {end}",
                            self.field,
                            java_double(value)
                        ))
                        .into());
                }
            }
        }
        let text = format!("{corners:?}");
        let (shape, target) = (|| Shape::rectangle(&corners), || Target::rectangle(&corners));
        Ok(near(field, boost, text, shape, target))
    }
}
