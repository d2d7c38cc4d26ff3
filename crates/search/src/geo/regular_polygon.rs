//! Circles as regular polygons: "what are the corners of the polygon that approximates this circle?"
//!
//! Source: Elasticsearch's `SpatialUtils`; the coordinates agree with it to the last digit.

use limber_mapping::RequestError;
use limber_mapping::geo::ArcFrom;
use limber_mapping::geo::{GivenShape, Position, ShapeOptions, Surface, read_shape};
use limber_mapping::geo::{Unit, parse_distance};
use serde_json::Value;

/// Largest distance of a corner from the circle.
const NEAR_METERS: f64 = 0.1;

/// Maximum number of steps in the search for one corner. About 60 are needed; a corner that is not found is
/// refused.
const STEPS_MAX: usize = 10_000;

/// Reads a shape as `geo_shape` accepts it, with circles: open rings are closed, third coordinates are
/// ignored.
///
/// # Errors
/// Those of Elasticsearch, in its words.
pub fn read_any_shape(value: &Value) -> Result<GivenShape, RequestError> {
    let parse_length = |text: &str| parse_distance(text, Unit::METERS);
    let options = ShapeOptions {
        surface: Surface::Globe,
        coerce: true,
        ignore_z: true,
        is_clockwise: false,
        parse_length: &parse_length,
    };
    read_shape(value, &options)
}

/// Returns the corners of a circle on the earth; the first one is repeated as the last. Each is within ten
/// centimeters of the circle, at equal angles in the plane of degrees, not in direction on the earth.
/// Corners may lie beyond the date line.
///
/// # Errors
/// Circles around a pole, and circles with corners outside of the map.
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
        // Distance in degrees. The step is halved at each change of direction: outward while too near, back
        // while too far.
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

/// Returns the corners of a circle on a plane; the first one is repeated as the last.
pub fn polygon_on_plane((x, y): Position, radius: f64, side_count: u32) -> Vec<Position> {
    let corner = |angle: f64| (radius * angle.to_radians().cos() + x, radius * angle.to_radians().sin() + y);
    let mut corners: Vec<Position> = angles(side_count).map(corner).collect();
    corners.extend(corners.first().copied());
    corners
}

/// Returns the angles of the corners in degrees, from 0 on.
fn angles(side_count: u32) -> impl Iterator<Item = f64> {
    (0..side_count).map(move |side| f64::from(side) * (360.0 / f64::from(side_count)))
}
