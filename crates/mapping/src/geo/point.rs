//! A point, and the number that a column stores for it.
//!
//! A column stores a point as one `i64`: the 32 bits of the latitude above those of the longitude (Lucene's
//! `LatLonDocValuesField`, `GeoEncodingUtils`). Sources: Elasticsearch's `GeoUtils`.

use std::fmt::Display;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use crate::RequestError;
use crate::number::java_double;

const LATITUDE_STEP: f64 = 180.0 / 4_294_967_296.0;
const LONGITUDE_STEP: f64 = 360.0 / 4_294_967_296.0;

/// A point in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeoPoint {
    /// From -90 to 90, positive to the north.
    pub latitude: f64,
    /// From -180 to 180, positive to the east.
    pub longitude: f64,
}

impl GeoPoint {
    /// Encodes the point, rounded down to the grid with 2^32 steps per full turn.
    pub fn encode(self) -> i64 {
        let (latitude, longitude) = (encode_latitude(self.latitude), encode_longitude(self.longitude));
        i64::from(latitude) << 32 | i64::from(longitude as u32)
    }

    /// Decodes a point that [`GeoPoint::encode`] has stored: the south-west corner of its grid cell.
    #[inline]
    pub fn decode(stored: i64) -> GeoPoint {
        GeoPoint {
            latitude: decode_latitude((stored >> 32) as i32),
            longitude: decode_longitude(stored as i32),
        }
    }

    /// Formats the point as `fields` shows it: GeoJSON.
    pub fn to_geojson(self) -> Value {
        json!({"coordinates": [self.longitude, self.latitude], "type": "Point"})
    }

    /// Formats the point as `docvalue_fields` shows it: `lat, lon`.
    pub fn to_text(self) -> String {
        format!("{}, {}", java_double(self.latitude), java_double(self.longitude))
    }

    /// Formats the point as WKT: `POINT (longitude latitude)`.
    pub fn to_wkt(self) -> String {
        format!("POINT ({} {})", java_double(self.longitude), java_double(self.latitude))
    }

    /// Formats the point as well-known binary in Base64: byte order (little-endian), kind 1, longitude,
    /// latitude.
    pub fn to_wkb(self) -> String {
        let mut bytes = vec![1, 1, 0, 0, 0];
        bytes.extend_from_slice(&self.longitude.to_le_bytes());
        bytes.extend_from_slice(&self.latitude.to_le_bytes());
        BASE64.encode(bytes)
    }

    /// Refuses a point outside of the map; `of` names the field or is empty.
    pub fn checked(self, of: impl Display) -> Result<GeoPoint, RequestError> {
        let refuse = |what: &str, value: f64| {
            Err(RequestError::illegal_argument(format!("illegal {what} value [{}]{of}", java_double(value))))
        };
        if !(-90.0..=90.0).contains(&self.latitude) {
            return refuse("latitude", self.latitude);
        }
        if !(-180.0..=180.0).contains(&self.longitude) {
            return refuse("longitude", self.longitude);
        }
        Ok(self)
    }

    /// Normalizes the point, across the poles and around the date line. Source: `GeoUtils#normalizePoint`.
    pub fn normalized(self) -> GeoPoint {
        let GeoPoint { mut latitude, mut longitude } = self;
        if !(-90.0..=90.0).contains(&latitude) {
            latitude = centered(latitude, 360.0);
            if latitude < -90.0 {
                latitude = -180.0 - latitude;
                longitude += 180.0;
            } else if latitude > 90.0 {
                latitude = 180.0 - latitude;
                longitude += 180.0;
            }
        }
        if !(-180.0..=180.0).contains(&longitude) {
            longitude = centered(longitude, 360.0);
        }
        GeoPoint { latitude, longitude }
    }
}

/// Returns `value` modulo `period`, between minus and plus half a period.
fn centered(value: f64, period: f64) -> f64 {
    let rest = value.rem_euclid(period);
    if rest > period / 2.0 { rest - period } else { rest }
}

fn encode(value: f64, end: f64, step: f64) -> i32 {
    let value = if value >= end { end.next_down() } else { value };
    (value / step).floor() as i32
}

/// Returns the grid step at or below a latitude.
pub fn encode_latitude(latitude: f64) -> i32 {
    encode(latitude, 90.0, LATITUDE_STEP)
}

/// Returns the grid step at or west of a longitude.
pub fn encode_longitude(longitude: f64) -> i32 {
    encode(longitude, 180.0, LONGITUDE_STEP)
}

/// Returns the latitude of a grid step, in degrees.
#[inline]
pub fn decode_latitude(stored: i32) -> f64 {
    f64::from(stored) * LATITUDE_STEP
}

/// Returns the longitude of a grid step, in degrees.
#[inline]
pub fn decode_longitude(stored: i32) -> f64 {
    f64::from(stored) * LONGITUDE_STEP
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_keeps_points_to_a_centimetre() {
        for (latitude, longitude) in [(0.0, 0.0), (90.0, 180.0), (-90.0, -180.0), (41.12, -71.34)] {
            let back = GeoPoint::decode(GeoPoint { latitude, longitude }.encode());
            assert!((back.latitude - latitude).abs() < 1e-7 && (back.longitude - longitude).abs() < 1e-7);
        }
    }

    /// The values were recorded from Elasticsearch 9.4.3.
    #[test]
    fn docvalue_fields_show_the_grid() {
        let shown = GeoPoint::decode(GeoPoint { latitude: 2.0, longitude: 1.0 }.encode()).to_text();
        assert_eq!(shown, "1.9999999646097422, 0.9999999403953552");
        let shown = GeoPoint::decode(GeoPoint { latitude: 12.0, longitude: 13.0 }.encode()).to_text();
        assert_eq!(shown, "11.999999997206032, 12.999999979510903");
        let point = GeoPoint { latitude: 2.0, longitude: 1.0 };
        assert_eq!(point.to_wkt(), "POINT (1.0 2.0)");
        assert_eq!(point.to_wkb(), "AQEAAAAAAAAAAADwPwAAAAAAAABA");
    }

    #[test]
    fn points_beyond_a_pole_come_back_on_the_other_side() {
        let check = |from: (f64, f64), to: (f64, f64)| {
            let moved = GeoPoint { latitude: from.0, longitude: from.1 }.normalized();
            assert_eq!((moved.latitude, moved.longitude), to, "{from:?}");
        };
        check((91.0, 2.0), (89.0, -178.0));
        check((-91.0, 2.0), (-89.0, -178.0));
        check((1.0, 181.0), (1.0, -179.0));
        check((1.0, -181.0), (1.0, 179.0));
        check((200.0, 400.0), (-20.0, -140.0));
    }
}
