//! All notations of a `geo_point` and of a `point`: "which points does this JSON value mean?"
//!
//! Sources: Elasticsearch's `GeoPointFieldMapper`, `PointFieldMapper`, `GeometryParserFormat`,
//! `GenericPointParser`, `GeoPoint`, `CartesianPoint`.

use serde_json::{Map, Value};

use super::geohash::geohash_bounds;
use super::geometry::{Geometry, Position};
use super::point::GeoPoint;
use super::surface::{Surface, encode_on_plane};
use super::wkt::{WktOptions, geometry_from_wkt, geometry_from_wkt_on};
use crate::RequestError;
use crate::number::java_double;

/// How a field's points are parsed.
#[derive(Debug, Clone, Copy)]
pub struct ReadOptions {
    /// Third coordinates are ignored; otherwise they are refused.
    pub ignore_z: bool,
    /// Points outside of the map are normalized; otherwise they are refused.
    pub bring_back: bool,
}

pub(super) fn refused(reason: impl Into<String>) -> RequestError {
    RequestError::bad_request("parse_exception", reason)
}

/// How the notations of one type of points differ from those of the other.
struct Notation {
    field_type: &'static str,
    /// The member with the coordinate, and what errors call it.
    x: (&'static str, &'static str),
    y: (&'static str, &'static str),
    /// The error about an object without coordinates.
    without: &'static str,
    /// Reads a string; the flag is that third coordinates are ignored.
    text: fn(&str, bool) -> Result<Position, RequestError>,
}

static OF_GEO_POINT: Notation = Notation {
    field_type: "geo_point",
    x: ("lon", "longitude"),
    y: ("lat", "latitude"),
    without: "field must be either lat/lon, geohash string or type/coordinates",
    text: from_text,
};

static OF_POINT: Notation = Notation {
    field_type: "point",
    x: ("x", "x"),
    y: ("y", "y"),
    without: "field must be either lat/lon or type/coordinates",
    text: from_plane_text,
};

/// Returns all valid points of a field's value, as `fields` shows them.
pub fn parse_points(value: &Value, path: &str, options: ReadOptions) -> Vec<GeoPoint> {
    valid(value, |value| read(value, path, options))
}

/// Returns all valid points of a `point` field's value, as `fields` shows them.
pub fn parse_positions(value: &Value, path: &str, ignore_z: bool) -> Vec<Position> {
    valid(value, |value| read_position(value, path, ignore_z))
}

fn valid<T>(value: &Value, read: impl Fn(&Value) -> Result<T, RequestError>) -> Vec<T> {
    match value {
        Value::Array(items) if !items.first().is_some_and(Value::is_number) => {
            items.iter().filter_map(|item| read(item).ok()).collect()
        }
        single => read(single).into_iter().collect(),
    }
}

/// Reads one point of a `point` field: `[x, y]`, `{"x", "y"}`, GeoJSON, `"x,y"` or `"POINT (x y)"`. The
/// coordinates are finite, as floats too.
///
/// # Errors
/// Elasticsearch's errors.
pub fn read_position(value: &Value, path: &str, ignore_z: bool) -> Result<Position, RequestError> {
    let position = position(value, ignore_z, &OF_POINT)?;
    for (name, value) in [("x", position.0), ("y", position.1)] {
        if !value.is_finite() {
            let of = if path.is_empty() { String::new() } else { format!(" for {path}") };
            let reason = format!("illegal {name} value [{}]{of}", java_double(value));
            return Err(RequestError::illegal_argument(reason));
        }
    }
    encode_on_plane(position)?;
    Ok(position)
}

/// Reads one point of a document's field.
pub fn read(value: &Value, path: &str, options: ReadOptions) -> Result<GeoPoint, RequestError> {
    let point = parse_point(value, options.ignore_z)?;
    if point.latitude.is_nan() || point.longitude.is_nan() {
        return Err(RequestError::illegal_argument(
            "invalid latitude NaN; must be between -90.0 and 90.0".to_owned(),
        ));
    }
    if options.bring_back && point.latitude.is_finite() && point.longitude.is_finite() {
        return Ok(point.normalized());
    }
    point.checked(format_args!(" for {path}"))
}

/// Parses one point: `[lon, lat]`, `{"lat", "lon"}`, GeoJSON, `"lat,lon"`, `"POINT (lon lat)"` or a geohash.
/// It may lie outside of the map.
pub fn parse_point(value: &Value, ignore_z: bool) -> Result<GeoPoint, RequestError> {
    let (longitude, latitude) = position(value, ignore_z, &OF_GEO_POINT)?;
    Ok(GeoPoint { latitude, longitude })
}

fn position(value: &Value, ignore_z: bool, notation: &Notation) -> Result<Position, RequestError> {
    let expected = || refused(format!("{} expected", notation.field_type));
    match value {
        Value::Array(items) => match items.as_slice() {
            [x, y, rest @ ..] if rest.len() <= 1 => {
                let position = (element(x)?, element(y)?);
                if let [z] = rest {
                    check_z(element(z)?, ignore_z)?;
                }
                Ok(position)
            }
            [first, ..] if !first.is_number() => Err(refused("numeric value expected")),
            _ => Err(expected()),
        },
        Value::Object(members) => from_object(members, ignore_z, notation),
        Value::String(text) => (notation.text)(text, ignore_z),
        _ => Err(expected()),
    }
}

fn element(value: &Value) -> Result<f64, RequestError> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
    .ok_or_else(|| refused("numeric value expected"))
}

fn check_z(z: f64, ignore_z: bool) -> Result<(), RequestError> {
    if ignore_z {
        return Ok(());
    }
    Err(refused(format!(
        "Exception parsing coordinates: found Z value [{}] but [ignore_z_value] parameter is [false]",
        java_double(z)
    )))
}

fn from_object(
    members: &Map<String, Value>,
    ignore_z: bool,
    notation: &Notation,
) -> Result<Position, RequestError> {
    let (mut x, mut y, mut coordinates, mut kind) = (None, None, None, None);
    for (name, value) in members {
        match name.as_str() {
            name if name == notation.x.0 => x = number(value, notation.x.1)?,
            name if name == notation.y.0 => y = number(value, notation.y.1)?,
            "z" => {
                if let Some(z) = number(value, "z")? {
                    check_z(z, ignore_z)?;
                }
            }
            "type" => match value {
                Value::String(name) => kind = Some(name),
                _ => return Err(refused("[type] must be a string")),
            },
            "coordinates" => match value {
                Value::Array(items) => coordinates = Some(geojson_position(items, ignore_z)?),
                _ => return Err(refused("[coordinates] must be an array")),
            },
            other => {
                return Err(refused(format!(
                    "field [{other}] not supported - must be one of: {}, {}, z, type, coordinates",
                    notation.x.0, notation.y.0
                )));
            }
        }
    }
    match (coordinates, kind) {
        (Some(position), Some(kind)) if kind.eq_ignore_ascii_case("point") => Ok(position),
        (Some(_), Some(_)) => Err(refused(format!("[type] for {} can only be 'Point'", notation.field_type))),
        (Some(_), None) => Err(refused("Required [type]")),
        (None, Some(_)) => Err(refused("Required [coordinates]")),
        (None, None) => match (x, y) {
            (Some(x), Some(y)) => Ok((x, y)),
            (Some(_), None) => Err(refused(format!("Required [{}]", notation.y.0))),
            (None, Some(_)) => Err(refused(format!("Required [{}]", notation.x.0))),
            (None, None) => Err(refused(notation.without)),
        },
    }
}

/// Reads a number; `None` if it is NaN.
fn number(value: &Value, what: &str) -> Result<Option<f64>, RequestError> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => Some(text.trim().parse().map_err(|_| {
            let cause =
                RequestError::bad_request("number_format_exception", format!("For input string: \"{text}\""));
            refused(format!("[{what}] must be a valid double value")).caused_by(cause)
        })?),
        _ => None,
    };
    let number = number.ok_or_else(|| refused(format!("{what} must be a number")))?;
    Ok((!number.is_nan()).then_some(number))
}

fn geojson_position(items: &[Value], ignore_z: bool) -> Result<Position, RequestError> {
    let numbers = items
        .iter()
        .map(|item| item.as_f64().ok_or_else(|| refused("coordinates must be a number")))
        .collect::<Result<Vec<f64>, _>>()?;
    match numbers[..] {
        [] | [_] => Err(refused("[coordinates] must contain at least two values")),
        [x, y] => Ok((x, y)),
        [x, y, z] => {
            check_z(z, ignore_z)?;
            Ok((x, y))
        }
        _ => Err(refused(format!("[coordinates] contains more than 3 values [{}]", numbers.len()))),
    }
}

fn from_text(text: &str, ignore_z: bool) -> Result<Position, RequestError> {
    if text.trim_start().get(..5).is_some_and(|start| start.eq_ignore_ascii_case("point")) {
        return match geometry_from_wkt(text, WktOptions { allow_z: ignore_z, coerce: false, off_map: false })
        {
            Ok(Geometry::Point(position)) => Ok(position),
            Ok(_) => Err(refused("Invalid WKT format")),
            Err(cause) => Err(refused("Invalid WKT format").caused_by(cause)),
        };
    }
    if !text.contains(',') {
        let cell = geohash_bounds(text).map_err(|cause| refused(cause.reason.clone()).caused_by(cause))?;
        // The lower left corner, as in Elasticsearch.
        return Ok((cell.west, cell.south));
    }
    // Java's `split` drops trailing empty parts.
    let split = || text.trim_end_matches(',').split(',').map(str::trim);
    let count = split().count();
    if count > 3 {
        return Err(refused(format!(
            "failed to parse [{count}], expected 2 or 3 coordinates but found: [{{}}]"
        )));
    }
    let parts: Vec<&str> = split().collect();
    let parts = if parts == [""] { &[] } else { &parts[..] };
    let coordinate = |at: usize, what: &str| {
        let part = parts.get(at).ok_or_else(|| {
            let reason = format!("Index {at} out of bounds for length {}", parts.len());
            RequestError::bad_request("array_index_out_of_bounds_exception", reason)
        })?;
        part.parse::<f64>().map_err(|_| refused(format!("{what} must be a number")))
    };
    let (latitude, longitude) = (coordinate(0, "latitude")?, coordinate(1, "longitude")?);
    if let Some(z) = parts.get(2) {
        let number = z.parse::<f64>().map_err(|_| {
            RequestError::bad_request("number_format_exception", format!("For input string: \"{z}\""))
        })?;
        check_z(number, ignore_z)?;
    }
    Ok((longitude, latitude))
}

/// Most characters of a text that an error shows.
const SHOWN_CHARS_MAX: usize = 1_000;

fn from_plane_text(text: &str, ignore_z: bool) -> Result<Position, RequestError> {
    // The word may be anywhere, but a text that has it is well-known text.
    let is_wkt = text.as_bytes().windows(5).any(|word| word.eq_ignore_ascii_case(b"point"));
    if is_wkt {
        return match geometry_from_wkt_on(Surface::Plane, text, ignore_z, false) {
            Ok(Geometry::Point(position)) => Ok(position),
            Ok(other) => Err(refused(format!(
                "[point] supports only POINT among WKT primitives, but found {}",
                other.name()
            ))),
            Err(cause) => Err(refused("Invalid WKT format").caused_by(cause)),
        };
    }
    let shown = || text.chars().take(SHOWN_CHARS_MAX).collect::<String>();
    // Java's `split` drops trailing empty parts.
    let split = || text.trim_end_matches(',').split(',');
    let count = split().count();
    if !text.contains(',') {
        return Err(refused(match text.chars().next() {
            _ if text.contains('.') => {
                format!("failed to parse [{}], expected 2 or 3 coordinates but found: [1]", shown())
            }
            Some(first) => format!("unsupported symbol [{first}] in point [{}]", shown()),
            None => "index 0, length 0".to_owned(),
        }));
    }
    let mut parts = split().map(str::trim);
    let (Some(x), Some(y), z, None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        let shown = shown().replace(',', ", ");
        return Err(refused(format!(
            "failed to parse [[{shown}]], expected 2 or 3 coordinates but found: [{count}]"
        )));
    };
    let coordinate = |name: &str, part: &str| match part.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(number) => Err(refused(format!(
            "invalid [{name}] value [{}]; must be between -3.4028234663852886E38 and 3.4028234663852886E38",
            java_double(number)
        ))),
        Err(_) => Err(refused(format!("[{name}] must be a number"))),
    };
    let position = (coordinate("x", x)?, coordinate("y", y)?);
    if let Some(z) = z {
        check_z(z.parse::<f64>().map_err(|_| refused("[y] must be a number"))?, ignore_z)?;
    }
    Ok(position)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const STRICT: ReadOptions = ReadOptions { ignore_z: false, bring_back: false };
    const LENIENT: ReadOptions = ReadOptions { ignore_z: true, bring_back: false };

    #[test]
    fn every_notation_names_the_same_point() {
        let check = |value: Value| {
            let found = parse_points(&value, "p", LENIENT);
            assert_eq!(found, [GeoPoint { latitude: 20.5, longitude: 1.0 }], "{value}");
        };
        check(json!([1.0, 20.5]));
        check(json!([[1, 20.5]]));
        check(json!("20.5,1"));
        check(json!("20.5, 1, 7"));
        check(json!({"lat": 20.5, "lon": "1"}));
        check(json!({"lat": 20.5, "lon": 1, "z": 3}));
        check(json!("POINT (1 20.5)"));
        check(json!({"type": "Point", "coordinates": [1, 20.5]}));
        let hash = parse_points(&json!("drm3btev3e86"), "p", STRICT)[0];
        assert!((hash.latitude - 41.12).abs() < 1e-6 && (hash.longitude + 71.34).abs() < 1e-6, "{hash:?}");
        assert_eq!(parse_points(&json!(["1,2", [5, 6], null, {"lat": 1}]), "p", STRICT).len(), 2);
    }

    /// The messages were recorded from Elasticsearch 9.4.3.
    #[test]
    fn malformed_points_are_named() {
        let check = |value: Value, reason: &str| {
            assert_eq!(read(&value, "p", STRICT).expect_err("refused").reason, reason, "{value}");
        };
        check(json!(1), "geo_point expected");
        check(json!([1, 2, 3, 4]), "geo_point expected");
        check(json!([[1, 2]]), "numeric value expected");
        check(json!("abc d"), "unsupported symbol [a] in geohash [abc d]");
        check(json!(""), "empty geohash");
        check(json!([1, 100]), "illegal latitude value [100.0] for p");
        check(json!([181, 10]), "illegal longitude value [181.0] for p");
        check(json!({"lat": 1}), "Required [lon]");
        check(json!({"lat": "NaN", "lon": 1}), "Required [lat]");
        check(json!({"lat": "x", "lon": 1}), "[latitude] must be a valid double value");
        check(json!({"lat": null, "lon": 1}), "latitude must be a number");
        check(json!({}), "field must be either lat/lon, geohash string or type/coordinates");
        check(json!("x,y"), "latitude must be a number");
        check(json!("1,2,z"), "For input string: \"z\"");
        check(json!("1,2,3,4"), "failed to parse [4], expected 2 or 3 coordinates but found: [{}]");
        check(json!("1,"), "Index 1 out of bounds for length 1");
        check(json!(","), "Index 0 out of bounds for length 0");
        check(json!("NaN,NaN"), "invalid latitude NaN; must be between -90.0 and 90.0");
        check(
            json!({"foo": 1}),
            "field [foo] not supported - must be one of: lon, lat, z, type, coordinates",
        );
        check(json!({"type": "Point", "coordinates": [1]}), "[coordinates] must contain at least two values");
        check(json!({"type": "Point", "coordinates": "1,2"}), "[coordinates] must be an array");
        check(json!({"type": "Point", "coordinates": [[1, 2]]}), "coordinates must be a number");
        check(json!({"type": 5, "coordinates": [1, 2]}), "[type] must be a string");
        check(json!("POINT (1)"), "Invalid WKT format");
        check(
            json!([1, 2, 3]),
            "Exception parsing coordinates: found Z value [3.0] but [ignore_z_value] parameter is [false]",
        );
        check(json!("POINT (1 2 3)"), "Invalid WKT format");
    }
}
