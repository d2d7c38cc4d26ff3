//! The shortest way around the earth: "in which direction does a line connect two corners with these
//! longitudes?"
//!
//! Outlines are not cut at the date line: their longitudes continue beyond the map.

use super::geometry::Position;
use super::grid_shape::GRID_TURN;

/// Whether a ring crosses the date line. It does if it is wider than half a turn and its direction is not the
/// expected one (`GeoPolygonDecomposer`). Its western longitudes must then be moved a turn to the east.
pub fn goes_over_date_line(outer: &[Position], is_clockwise: bool) -> bool {
    let longitudes = || outer.iter().map(|position| position.0);
    let width = longitudes().fold(f64::MIN, f64::max) - longitudes().fold(f64::MAX, f64::min);
    let twice_area: f64 = outer.windows(2).map(|pair| pair[0].0 * pair[1].1 - pair[1].0 * pair[0].1).sum();
    width > 180.0 && width != 360.0 && (twice_area < 0.0) != is_clockwise
}

/// Returns a longitude moved by whole turns so that it is within half a turn of `other`, the previous
/// longitude of a line. A longitude that is exactly half a turn away is not moved.
pub fn turned_to(longitude: f64, other: f64) -> f64 {
    let apart = longitude - other;
    longitude - (apart.abs() / 360.0 - 0.5).ceil().max(0.0) * 360f64.copysign(apart)
}

/// Does the same as [`turned_to`] in steps of the grid.
pub fn steps_turned_to(x: i64, other: i64) -> i64 {
    let apart = x - other;
    x - (apart.abs() + GRID_TURN / 2 - 1) / GRID_TURN * GRID_TURN * apart.signum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longitudes_take_the_short_way() {
        for (longitude, other, expected) in [
            (-170.0, 170.0, 190.0),
            (170.0, -170.0, -190.0),
            (10.0, 10.0, 10.0),
            (170.0, 900.0, 890.0),
            (-170.0, 0.0, -170.0),
            // Half a turn is as short in both directions.
            (180.0, 0.0, 180.0),
            (0.0, -180.0, 0.0),
            (90.0, -90.0, 90.0),
            (-90.0, 90.0, -90.0),
        ] {
            assert_eq!(turned_to(longitude, other), expected, "{longitude} {other}");
            let steps = |degrees: f64| (degrees / 90.0 * (GRID_TURN / 4) as f64) as i64;
            let (found, expected) = (steps_turned_to(steps(longitude), steps(other)), steps(expected));
            assert!((found - expected).abs() <= 1, "{longitude} {other}: {found} {expected}");
        }
    }
}
