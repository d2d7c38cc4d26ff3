//! The surfaces that shapes lie on: "which grid point is this position, and to which side does a line turn?"
//!
//! This is all that differs between the earth and a plane. Everything else only compares coordinates, and
//! encoded coordinates have the order of the positions on both.

use super::geometry::Position;
use super::grid_edges::GridPoint;
use super::grid_shape::GRID_TURN;
use super::point::{GeoPoint, encode_latitude, encode_longitude};
use crate::RequestError;
use crate::number::{java_double, java_float};

/// A surface, which is a coordinate system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surface {
    /// The earth: longitudes and latitudes in degrees, in steps of equal size. Longitudes go on after a turn.
    Globe,
    /// A plane without an end (`point` and `shape`): coordinates are 32-bit floats, stored as integers that
    /// have the same order (Lucene's `XYEncodingUtils`). Steps differ in size, so a line is not straight on
    /// the grid, and its turns are calculated with the decoded coordinates.
    Plane,
}

impl Surface {
    /// Returns the grid point of a separate point.
    ///
    /// # Errors
    /// A coordinate is not finite. A point outside of the map is brought back onto it.
    pub fn point(self, position: Position) -> Result<GridPoint, RequestError> {
        match self {
            Surface::Globe => on_map(position),
            Surface::Plane => on_plane(position),
        }
    }

    /// Returns the grid point of a position in a line or polygon, which may be beyond the map.
    ///
    /// # Errors
    /// The position is beyond a pole or far beyond the map, or a coordinate is not finite.
    pub fn corner(self, position: Position) -> Result<GridPoint, RequestError> {
        match self {
            Surface::Globe => check_corner(position).map(encoded),
            Surface::Plane => on_plane(position),
        }
    }

    /// Returns the position of a grid point. Points beyond the largest floats, which are corners of cells,
    /// are at these floats.
    #[inline]
    pub fn position(self, (x, y): GridPoint) -> Position {
        match self {
            Surface::Globe => {
                let turn = GRID_TURN as f64;
                (x as f64 * 360.0 / turn, y as f64 * 180.0 / turn)
            }
            Surface::Plane => (decode_float(x), decode_float(y)),
        }
    }

    /// Returns on which side of the line from `a` to `b` the point `c` lies: positive on the left, 0 on the
    /// line. The answer is exact on the globe and rounded on the plane, as in Lucene.
    #[inline]
    pub fn turn(self, a: GridPoint, b: GridPoint, c: GridPoint) -> i32 {
        match self {
            Surface::Globe => turn_of_steps(a, b, c),
            Surface::Plane => {
                let [a, b, c] = [a, b, c].map(|point| self.position(point));
                let turn = (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0);
                i32::from(turn > 0.0) - i32::from(turn < 0.0)
            }
        }
    }
}

#[inline]
fn turn_of_steps(a: GridPoint, b: GridPoint, c: GridPoint) -> i32 {
    let (abx, aby, acx, acy) = (b.0 - a.0, b.1 - a.1, c.0 - a.0, c.1 - a.1);
    // Products of 31-bit numbers and their difference fit into 64 bits.
    let widest = (abx.abs() | aby.abs() | acx.abs() | acy.abs()).leading_zeros();
    if widest > 33 {
        return (abx * acy - aby * acx).signum() as i32;
    }
    (i128::from(abx) * i128::from(acy) - i128::from(aby) * i128::from(acx)).signum() as i32
}

/// Maximum longitude, in degrees, of a position in a line or polygon: one turn beyond the map in either
/// direction.
const LONGITUDE_MAX: f64 = 540.0;

fn refused(what: &str, value: f64, end: &str) -> RequestError {
    let value = java_double(value);
    RequestError::illegal_argument(format!("invalid {what} {value}; must be between -{end} and {end}"))
}

/// Checks a position of a line or polygon on the earth.
///
/// # Errors
/// The position is beyond a pole or far beyond the map.
pub fn check_corner(position: Position) -> Result<Position, RequestError> {
    let (longitude, latitude) = position;
    if !(-90.0..=90.0).contains(&latitude) {
        return Err(refused("latitude", latitude, "90.0"));
    }
    if !(-LONGITUDE_MAX..=LONGITUDE_MAX).contains(&longitude) {
        return Err(refused("longitude", longitude, "180.0"));
    }
    Ok(position)
}

/// Converts a point to one on the map, even if it was given outside of it.
fn on_map((longitude, latitude): Position) -> Result<GridPoint, RequestError> {
    if !latitude.is_finite() {
        return Err(refused("latitude", latitude, "90.0"));
    }
    if !longitude.is_finite() {
        return Err(refused("longitude", longitude, "180.0"));
    }
    let point = GeoPoint { latitude, longitude }.normalized();
    Ok(encoded((point.longitude, point.latitude)))
}

/// Converts a position whose longitude may lie beyond the map.
pub(super) fn encoded((longitude, latitude): Position) -> GridPoint {
    let turns = match (-180.0..=180.0).contains(&longitude) {
        true => 0.0,
        false => ((longitude + 180.0) / 360.0).floor(),
    };
    let x = i64::from(encode_longitude(longitude - turns * 360.0)) + turns as i64 * GRID_TURN;
    (x, i64::from(encode_latitude(latitude)))
}

/// The encoded coordinates of the smallest and the largest float.
const FLOATS: (i64, i64) = (-0x7f80_0000, 0x7f7f_ffff);

fn on_plane((x, y): Position) -> Result<GridPoint, RequestError> {
    Ok((i64::from(encode_float(x)?), i64::from(encode_float(y)?)))
}

/// Rounds a coordinate of a plane to a float and encodes it. Both zeros are one coordinate.
fn encode_float(value: f64) -> Result<i32, RequestError> {
    let rounded = value as f32 + 0.0;
    if !rounded.is_finite() {
        return Err(RequestError::illegal_argument(format!(
            "invalid value {}; must be between -3.4028234663852886E38 and 3.4028234663852886E38",
            java_float(rounded)
        )));
    }
    let bits = rounded.to_bits() as i32;
    Ok(bits ^ ((bits >> 31) & i32::MAX))
}

#[inline]
fn decode_float(stored: i64) -> f64 {
    let stored = stored.clamp(FLOATS.0, FLOATS.1) as i32;
    f64::from(f32::from_bits((stored ^ ((stored >> 31) & i32::MAX)) as u32))
}

/// Returns the number that a column stores for a point of a `point` field: the encoded y above the encoded x.
///
/// # Errors
/// A coordinate is not finite as a float.
pub fn encode_on_plane(position: Position) -> Result<i64, RequestError> {
    let (x, y) = on_plane(position)?;
    Ok(y << 32 | i64::from(x as u32))
}

/// Inverse of [`encode_on_plane`].
#[inline]
pub fn decode_on_plane(stored: i64) -> Position {
    Surface::Plane.position((i64::from(stored as i32), stored >> 32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_keep_their_order_on_the_grid() {
        let (least, greatest) = (f64::from(f32::MIN), f64::from(f32::MAX));
        let ascending = [least, -1e30, -2.5, -1.0, -1e-30, 0.0, 1e-40, 0.1, 1.0, 1e30, greatest];
        let encoded = ascending.map(|value| i64::from(encode_float(value).expect("finite")));
        assert!(encoded.is_sorted_by(|one, next| one < next), "{encoded:?}");
        assert_eq!((encoded[0], encoded[ascending.len() - 1]), FLOATS);
        for (value, stored) in ascending.into_iter().zip(encoded) {
            assert_eq!(decode_float(stored), f64::from(value as f32));
        }
        assert_eq!(encode_float(-0.0).ok(), encode_float(0.0).ok());
        assert_eq!((decode_float(1 << 31), decode_float(-(1 << 31))), (greatest, least));
    }

    #[test]
    fn a_column_keeps_points_of_a_plane() {
        for position in [(0.0, 0.0), (-1.5, 2.0), (1000.25, -3e30), (3.4e38, -3.4e38)] {
            let stored = encode_on_plane(position).expect("finite");
            let expected = (f64::from(position.0 as f32), f64::from(position.1 as f32));
            assert_eq!(decode_on_plane(stored), expected, "{position:?}");
        }
    }

    #[test]
    fn coordinates_that_are_no_floats_are_refused() {
        let reason = |position| encode_on_plane(position).expect_err("refused").reason;
        let limits = "must be between -3.4028234663852886E38 and 3.4028234663852886E38";
        assert_eq!(reason((1e39, 0.0)), format!("invalid value Infinity; {limits}"));
        assert_eq!(reason((0.0, f64::NAN)), format!("invalid value NaN; {limits}"));
    }

    #[test]
    fn lines_of_a_plane_are_straight_between_its_positions() {
        let at = |x: f64, y: f64| Surface::Plane.corner((x, y)).expect("finite");
        let turn = |x: f64, y: f64| Surface::Plane.turn(at(-10.0, -10.0), at(1000.0, 1000.0), at(x, y));
        assert_eq!((turn(500.0, 500.0), turn(500.0, 501.0), turn(500.0, 499.0)), (0, 1, -1));
        assert_eq!((turn(0.0, 0.0), turn(-1e30, 1e30), turn(1e30, -1e30)), (0, 1, -1));
    }
}
