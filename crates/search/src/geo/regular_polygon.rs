//! Circles as regular polygons: "which corners does a polygon have that stands for this circle?"
//!
//! Source: Elasticsearch's `SpatialUtils`, whose numbers these are to the last digit.

use limber_mapping::RequestError;
use limber_mapping::geo::ArcFrom;
use limber_mapping::geo::{GivenShape, Position, ShapeOptions, read_shape};
use limber_mapping::geo::{Unit, parse_distance};
use serde_json::Value;

/// How near a corner has to be to the circle.
const NEAR_METERS: f64 = 0.1;

/// Steps towards one corner; about 60 are needed, and a corner that is not found is refused.
const STEPS_MAX: usize = 10_000;

/// A shape as `geo_shape` takes it, with circles: open rings are closed, third coordinates passed over.
///
/// # Errors
/// In Elasticsearch's words.
pub fn read_any_shape(value: &Value) -> Result<GivenShape, RequestError> {
    let parse_length = |text: &str| parse_distance(text, Unit::METERS);
    read_shape(
        value,
        &ShapeOptions { coerce: true, ignore_z: true, is_clockwise: false, parse_length: &parse_length },
    )
}

/// The corners of a circle on the earth, the first one also as the last: each within ten centimeters of the
/// circle, at even angles of degrees, not of directions. They may lie beyond the date line.
///
/// # Errors
/// Circles around a pole, and those whose corners are not on the map.
pub fn polygon_on_earth(
    (longitude, latitude): Position,
    radius_meters: f64,
    side_count: u32,
) -> Result<Vec<Position>, RequestError> {
    let center = ArcFrom::new(latitude, longitude);
    for (pole, name) in [(90.0, "north"), (-90.0, "south")] {
        if center.meters(pole, 0.0) < radius_meters {
            return Err(RequestError::illegal_argument(format!(
                "circle [CIRCLE ({longitude:?} {latitude:?} {radius_meters:?})] contains the {name} pole. It cannot be translated to a \
                 polygon"
            )));
        }
    }
    let corner = |angle: f64| {
        let (across, along) = (angle.to_radians().cos(), angle.to_radians().sin());
        // Degrees to go, halved at each turn: out while it is too near, back while it is too far.
        let (mut way, mut step) = (2.0, 1.0);
        let mut was_far = None;
        for _ in 0..STEPS_MAX {
            let place = (longitude + across * way, latitude + along * way);
            let off = center.meters(place.1, place.0) - radius_meters;
            if off.abs() < NEAR_METERS {
                return Ok(place);
            }
            let is_far = off > 0.0;
            way += if is_far { -step } else { step };
            if was_far.is_some_and(|was_far| was_far != is_far) {
                step /= 2.0;
            }
            was_far = Some(is_far);
        }
        Err(RequestError::illegal_argument(format!(
            "no polygon is near to a circle of [{radius_meters:?}] meters"
        )))
    };
    let mut corners = angles(side_count).map(corner).collect::<Result<Vec<_>, _>>()?;
    corners.extend(corners.first().copied());
    Ok(corners)
}

/// The corners of a circle on a plane, the first one also as the last.
pub fn polygon_on_plane((x, y): Position, radius: f64, side_count: u32) -> Vec<Position> {
    let corner = |angle: f64| (radius * angle.to_radians().cos() + x, radius * angle.to_radians().sin() + y);
    let mut corners: Vec<Position> = angles(side_count).map(corner).collect();
    corners.extend(corners.first().copied());
    corners
}

/// Degrees from one another, from 0 on.
fn angles(side_count: u32) -> impl Iterator<Item = f64> {
    (0..side_count).map(move |side| f64::from(side) * (360.0 / f64::from(side_count)))
}
