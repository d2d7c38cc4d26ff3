//! Getters over all points or shapes of a document. Source: Elasticsearch's `ScriptDocValues.Geometry`,
//! `SphericalMercatorUtils`.

use std::rc::Rc;

use limber_mapping::ValueKind;
use limber_mapping::geo::{
    ArcFrom, DistanceKind, GRID_TURN, GeoPoint, GridBounds, decode_latitude, decode_longitude, geohash_bounds,
};

use super::machine::Machine;
use crate::error::{Outcome, ScriptError};
use crate::values::Value;

/// Half of the earth's circumference at the equator on a Mercator map, in meters.
const MERCATOR_METERS: f64 = 20_037_508.34;

/// Evaluates a getter of the doc values of a `geo_point` or `geo_shape`; `None` if there is none of this
/// name.
#[inline(never)]
pub(crate) fn geometry_getter(
    machine: &mut impl Machine,
    field: u16,
    name: &str,
    at: u32,
) -> Outcome<Option<Value>> {
    let (reader, doc) = machine.reader(field, at)?;
    let is_shape = match reader.field().map(|field| &field.values) {
        Some(ValueKind::Shape { .. }) => true,
        Some(ValueKind::Point) => false,
        _ => return Ok(None),
    };
    let count = reader.count(doc);
    let points: Vec<GeoPoint> = match is_shape {
        true => Vec::new(),
        false => reader.stored(doc).iter().map(|stored| GeoPoint::decode(*stored)).collect(),
    };
    let corners = match is_shape {
        true => reader.bounds(doc).map(corners_of_shape),
        false => corners_of(&points),
    };
    let length = |extent: fn(&[GeoPoint; 2]) -> f64| match (&corners, is_shape) {
        (Some(corners), true) => Ok(Value::Double(extent(corners))),
        (None, true) => Err(no_value(at)),
        // Elasticsearch gives points no width or height.
        (_, false) => Ok(Value::Double(0.0)),
    };
    Ok(Some(match name {
        "getMercatorWidth" => length(mercator_width)?,
        "getMercatorHeight" => length(mercator_height)?,
        "getBoundingBox" => corners.map_or(Value::Null, |corners| Value::Corners(Rc::new(corners))),
        "getDimensionalType" if count == 0 => Value::Int(-1),
        "getDimensionalType" if !is_shape => Value::Int(0),
        "getCentroid" if !is_shape => center_of(&points).map_or(Value::Null, Value::Point),
        "getLabelPosition" if !is_shape => label_of(&points).map_or(Value::Null, Value::Point),
        "getDimensionalType" | "getCentroid" | "getLabelPosition" => {
            return Err(ScriptError::unsupported(at, format!("[{name}] of shapes")));
        }
        _ => return Ok(None),
    }))
}

/// Calls a method that measures from the first point of a document, such as `arcDistance`; `None` if there is
/// none of this name. Source: Elasticsearch's `ScriptDocValues.GeoPoints`.
#[inline(never)]
pub(crate) fn distance_method(
    machine: &mut impl Machine,
    field: u16,
    name: &str,
    arguments: &[Value],
    at: u32,
) -> Outcome<Option<Value>> {
    let (name, arguments) = match (name.strip_suffix("WithDefault"), arguments) {
        (Some(_), [.., default]) if machine.field_size(field, at)? == 0 => {
            return Ok(Some(Value::Double(default.f64())));
        }
        (Some(name), [arguments @ .., _]) => (name, arguments),
        _ => (name, arguments),
    };
    let (kind, to) = match (name, arguments) {
        ("arcDistance", [latitude, longitude]) => (DistanceKind::Arc, (latitude.f64(), longitude.f64())),
        ("planeDistance", [latitude, longitude]) => (DistanceKind::Plane, (latitude.f64(), longitude.f64())),
        ("geohashDistance", [geohash]) => {
            let cell =
                geohash_bounds(&geohash.text()).map_err(|error| ScriptError::argument(at, error.reason))?;
            (DistanceKind::Arc, (cell.south, cell.west))
        }
        _ => return Ok(None),
    };
    let Value::Point(from) = machine.field_value(field, 0, at)? else { return Ok(None) };
    let from = ArcFrom::new(from.latitude, from.longitude);
    Ok(Some(Value::Double(kind.meters(&from, to.0, to.1))))
}

fn no_value(at: u32) -> ScriptError {
    let reason = "A document doesn't have a value for a field! Use doc[<field>].size()==0 to check if a document is missing a field!";
    ScriptError::new(at, "illegal_state_exception", reason)
}

/// Returns the corners of the bounding box of points; `None` without any.
fn corners_of(points: &[GeoPoint]) -> Option<[GeoPoint; 2]> {
    let first = points.first()?;
    let mut corners = [*first, *first];
    for point in points {
        corners[0].latitude = corners[0].latitude.max(point.latitude);
        corners[0].longitude = corners[0].longitude.min(point.longitude);
        corners[1].latitude = corners[1].latitude.min(point.latitude);
        corners[1].longitude = corners[1].longitude.max(point.longitude);
    }
    Some(corners)
}

/// Returns the corners of the bounding box of shapes. A box that crosses the date line spans all
/// longitudes.
fn corners_of_shape(bounds: GridBounds) -> [GeoPoint; 2] {
    const FIRST: i64 = i32::MIN as i64;
    const LAST: i64 = i32::MAX as i64;
    let turn = match bounds.x {
        (left, _) if left > LAST => -GRID_TURN,
        (_, right) if right < FIRST => GRID_TURN,
        _ => 0,
    };
    let (left, right) = (bounds.x.0 + turn, bounds.x.1 + turn);
    let (left, right) = if left < FIRST || right > LAST { (FIRST, LAST) } else { (left, right) };
    let latitude = |y: i64| decode_latitude(y.clamp(FIRST, LAST) as i32);
    let longitude = |x: i64| decode_longitude(x.clamp(FIRST, LAST) as i32);
    [
        GeoPoint { latitude: latitude(bounds.y.1), longitude: longitude(left) },
        GeoPoint { latitude: latitude(bounds.y.0), longitude: longitude(right) },
    ]
}

fn center_of(points: &[GeoPoint]) -> Option<GeoPoint> {
    let count = points.len() as f64;
    let sum = |part: fn(&GeoPoint) -> f64| points.iter().map(part).sum::<f64>();
    (!points.is_empty()).then(|| GeoPoint {
        latitude: sum(|point| point.latitude) / count,
        longitude: sum(|point| point.longitude) / count,
    })
}

/// Returns the point that is nearest to the center of all points.
fn label_of(points: &[GeoPoint]) -> Option<GeoPoint> {
    let center = center_of(points)?;
    let from = ArcFrom::new(center.latitude, center.longitude);
    let distance = |point: &GeoPoint| DistanceKind::Plane.meters(&from, point.latitude, point.longitude);
    points.iter().min_by(|left, right| distance(left).total_cmp(&distance(right))).copied()
}

fn mercator_width([top_left, bottom_right]: &[GeoPoint; 2]) -> f64 {
    let x = |longitude: f64| longitude * MERCATOR_METERS / 180.0;
    x(bottom_right.longitude) - x(top_left.longitude)
}

fn mercator_height([top_left, bottom_right]: &[GeoPoint; 2]) -> f64 {
    let y = |latitude: f64| {
        let turned = (90.0 + latitude).to_radians() / 2.0;
        turned.tan().ln().to_degrees() * MERCATOR_METERS / 180.0
    };
    y(top_left.latitude) - y(bottom_right.latitude)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(latitude: f64, longitude: f64) -> GeoPoint {
        GeoPoint { latitude, longitude }
    }

    #[test]
    fn extents_on_a_mercator_map() {
        let world = [at(85.051_128_779_806_6, -180.0), at(-85.051_128_779_806_6, 180.0)];
        assert!((mercator_width(&world) - 2.0 * MERCATOR_METERS).abs() < 1e-6);
        assert!((mercator_height(&world) - 2.0 * MERCATOR_METERS).abs() < 1e-3);
        let point = [at(52.5, 13.4), at(52.5, 13.4)];
        assert_eq!((mercator_width(&point), mercator_height(&point)), (0.0, 0.0));
    }

    #[test]
    fn rectangles_around_places() {
        let points = [at(1.0, 2.0), at(-3.0, 5.0), at(2.0, -7.0)];
        assert_eq!(corners_of(&points), Some([at(2.0, -7.0), at(-3.0, 5.0)]));
        assert_eq!(center_of(&points), Some(at(0.0, 0.0)));
        assert_eq!(label_of(&points), Some(at(1.0, 2.0)));
        assert_eq!((corners_of(&[]), center_of(&[]), label_of(&[])), (None, None, None));
    }
}
