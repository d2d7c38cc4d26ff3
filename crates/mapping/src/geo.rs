//! Points on the earth: "which latitude and longitude does this JSON value name, and which number holds them?"
//!
//! A column holds a point as one `i64`: the latitude's 32 bits above the longitude's (Lucene's `LatLonDocValuesField`,
//! `GeoEncodingUtils`). Sources: Elasticsearch's `GeoPointFieldMapper`, `GeoUtils`, `Geohash`.

use serde_json::{Value, json};

use crate::RequestError;

const LATITUDE_STEP: f64 = 180.0 / 4_294_967_296.0;
const LONGITUDE_STEP: f64 = 360.0 / 4_294_967_296.0;
const GEOHASH_ALPHABET: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";
/// Characters of a geohash that say anything; longer ones are refused.
const GEOHASH_CHARS_MAX: usize = 12;

/// Degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeoPoint {
    pub latitude: f64,
    pub longitude: f64,
}

impl GeoPoint {
    /// Rounds down to the grid of 2^32 steps a full turn.
    pub fn encode(self) -> i64 {
        let encode = |value: f64, end: f64, step: f64| {
            let value = if value >= end { end.next_down() } else { value };
            (value / step).floor() as i64
        };
        let latitude = encode(self.latitude, 90.0, LATITUDE_STEP);
        let longitude = encode(self.longitude, 180.0, LONGITUDE_STEP);
        latitude << 32 | (longitude & 0xffff_ffff)
    }

    pub fn decode(stored: i64) -> GeoPoint {
        GeoPoint {
            latitude: (stored >> 32) as f64 * LATITUDE_STEP,
            longitude: f64::from(stored as i32) * LONGITUDE_STEP,
        }
    }

    /// As `fields` shows it: GeoJSON.
    pub fn to_geojson(self) -> Value {
        json!({"coordinates": [self.longitude, self.latitude], "type": "Point"})
    }

    /// Refuses what lies outside of the map, or brings it back onto it.
    fn checked(self, path: &str, is_lenient: bool) -> Result<GeoPoint, RequestError> {
        if is_lenient && self.latitude.is_finite() && self.longitude.is_finite() {
            return Ok(self.normalized());
        }
        let refuse = |what: &str, value: f64| {
            Err(RequestError::illegal_argument(format!(
                "illegal {what} value [{}] for {path}",
                crate::number::java_double(value)
            )))
        };
        if !(-90.0..=90.0).contains(&self.latitude) {
            return refuse("latitude", self.latitude);
        }
        if !(-180.0..=180.0).contains(&self.longitude) {
            return refuse("longitude", self.longitude);
        }
        Ok(self)
    }

    /// Walks over the poles and around the date line. Source: `GeoUtils#normalizePoint`.
    fn normalized(self) -> GeoPoint {
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

/// `value` modulo `period`, between minus and plus half of it.
fn centered(value: f64, period: f64) -> f64 {
    let rest = value.rem_euclid(period);
    if rest > period / 2.0 { rest - period } else { rest }
}

fn refused(reason: impl Into<String>) -> RequestError {
    RequestError::new(400, "parse_exception", reason)
}

/// All points of a field's value: one point in any notation, or a list of them. `ignore_malformed` brings points outside
/// of the map back onto it.
pub fn parse_points(
    value: &Value,
    path: &str,
    ignore_malformed: bool,
) -> Result<Vec<GeoPoint>, RequestError> {
    let one = |value: &Value| parse_point(value)?.checked(path, ignore_malformed);
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) if !items.first().is_some_and(Value::is_number) => {
            items.iter().filter(|item| !item.is_null()).map(one).collect()
        }
        single => Ok(vec![one(single)?]),
    }
}

/// One point: `[lon, lat]`, `{"lat", "lon"}`, GeoJSON, `"lat,lon"`, `"POINT (lon lat)"` or a geohash.
fn parse_point(value: &Value) -> Result<GeoPoint, RequestError> {
    match value {
        Value::Array(items) => coordinates(items),
        Value::Object(members) => {
            let (mut latitude, mut longitude, mut geojson, mut kind) = (None, None, None, None);
            for (name, value) in members {
                match name.as_str() {
                    "lat" => latitude = Some(number(value, "latitude")?),
                    "lon" => longitude = Some(number(value, "longitude")?),
                    "z" => {}
                    "type" => kind = value.as_str(),
                    "coordinates" => geojson = value.as_array(),
                    other => {
                        return Err(refused(format!(
                            "field [{other}] not supported - must be one of: lon, lat, z, type, coordinates"
                        )));
                    }
                }
            }
            match (latitude, longitude, kind, geojson) {
                (Some(latitude), Some(longitude), None, None) => Ok(GeoPoint { latitude, longitude }),
                (Some(_), None, None, None) => Err(refused("Required [lon]")),
                (None, Some(_), None, None) => Err(refused("Required [lat]")),
                (None, None, Some(kind), Some(items)) if kind.eq_ignore_ascii_case("point") => {
                    coordinates(items)
                }
                (None, None, Some(_), Some(_)) => Err(refused("[type] for geo_point can only be 'Point'")),
                (None, None, Some(_), None) => Err(refused("Required [coordinates]")),
                (None, None, None, Some(_)) => Err(refused("Required [type]")),
                _ => Err(refused("field must be either lat/lon, geohash string or type/coordinates")),
            }
        }
        Value::String(text) => from_text(text),
        _ => Err(refused("geo_point expected")),
    }
}

fn coordinates(items: &[Value]) -> Result<GeoPoint, RequestError> {
    match items {
        [longitude, latitude] | [longitude, latitude, _] => Ok(GeoPoint {
            latitude: number(latitude, "latitude")?,
            longitude: number(longitude, "longitude")?,
        }),
        _ => Err(refused("geo_point expected")),
    }
}

fn number(value: &Value, what: &str) -> Result<f64, RequestError> {
    let found = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    found.ok_or_else(|| refused(format!("{what} must be a number")))
}

fn from_text(text: &str) -> Result<GeoPoint, RequestError> {
    let trimmed = text.trim();
    if trimmed.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("point")) {
        let inner = trimmed[5..].trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let numbers: Option<Vec<f64>> =
            inner.map(|inner| inner.split_whitespace().map_while(|part| part.parse().ok()).collect());
        return match numbers.as_deref() {
            Some(&[longitude, latitude] | &[longitude, latitude, _]) => Ok(GeoPoint { latitude, longitude }),
            _ => Err(refused(format!("Invalid WKT format, [{text}]"))),
        };
    }
    if !text.contains(',') {
        return from_geohash(text);
    }
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let number =
        |text: &str, what: &str| text.parse::<f64>().map_err(|_| refused(format!("{what} must be a number")));
    match parts[..] {
        [latitude, longitude] | [latitude, longitude, _] => Ok(GeoPoint {
            latitude: number(latitude, "latitude")?,
            longitude: number(longitude, "longitude")?,
        }),
        _ => Err(refused(format!(
            "failed to parse [{text}], expected 2 or 3 coordinates but found: [{}]",
            parts.len()
        ))),
    }
}

/// The lower left corner of a geohash's cell, as Elasticsearch indexes it.
fn from_geohash(text: &str) -> Result<GeoPoint, RequestError> {
    let refuse =
        |reason: String| Err(refused(reason.clone()).caused_by(RequestError::illegal_argument(reason)));
    if text.is_empty() {
        return refuse("empty geohash".to_owned());
    }
    let (mut latitude, mut longitude) = ((-90.0, 90.0), (-180.0, 180.0));
    let mut is_longitude = true;
    for symbol in text.chars().take(GEOHASH_CHARS_MAX) {
        let Some(digit) = GEOHASH_ALPHABET.iter().position(|&known| char::from(known) == symbol) else {
            return refuse(format!("unsupported symbol [{symbol}] in geohash [{text}]"));
        };
        for bit in (0..5).rev() {
            let range = if is_longitude { &mut longitude } else { &mut latitude };
            let middle = (range.0 + range.1) / 2.0;
            if digit >> bit & 1 == 1 {
                range.0 = middle
            } else {
                range.1 = middle
            }
            is_longitude = !is_longitude;
        }
    }
    Ok(GeoPoint { latitude: latitude.0, longitude: longitude.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_notation_names_the_same_point() {
        let check = |value: Value| {
            let found = parse_points(&value, "p", false).expect("valid");
            assert_eq!(found, [GeoPoint { latitude: 20.5, longitude: 1.0 }], "{value}");
        };
        check(json!([1.0, 20.5]));
        check(json!([[1, 20.5]]));
        check(json!("20.5,1"));
        check(json!("20.5, 1, 7"));
        check(json!({"lat": 20.5, "lon": "1"}));
        check(json!("POINT (1 20.5)"));
        check(json!({"type": "Point", "coordinates": [1, 20.5]}));
        let hash = parse_points(&json!("drm3btev3e86"), "p", false).expect("valid")[0];
        assert!((hash.latitude - 41.12).abs() < 1e-6 && (hash.longitude + 71.34).abs() < 1e-6, "{hash:?}");
        assert_eq!(parse_points(&json!(["1,2", [5, 6], null]), "p", false).expect("valid").len(), 2);
    }

    /// Words taken from a running 8.19.
    #[test]
    fn malformed_points_are_named() {
        let check = |value: Value, reason: &str| {
            assert_eq!(parse_points(&value, "p", false).expect_err("refused").reason, reason, "{value}");
        };
        check(json!(1), "geo_point expected");
        check(json!([1, 2, 3, 4]), "geo_point expected");
        check(json!("abc d"), "unsupported symbol [a] in geohash [abc d]");
        check(json!(""), "empty geohash");
        check(json!([1, 100]), "illegal latitude value [100.0] for p");
        check(json!([181, 10]), "illegal longitude value [181.0] for p");
        check(json!({"lat": 1}), "Required [lon]");
        check(json!({}), "field must be either lat/lon, geohash string or type/coordinates");
        check(json!("x,y"), "latitude must be a number");
        check(
            json!({"foo": 1}),
            "field [foo] not supported - must be one of: lon, lat, z, type, coordinates",
        );
        let moved = parse_points(&json!([1, 100]), "p", true).expect("brought back");
        assert_eq!(moved, [GeoPoint { latitude: 80.0, longitude: -179.0 }]);
    }

    #[test]
    fn a_column_keeps_points_to_a_centimetre() {
        for (latitude, longitude) in [(0.0, 0.0), (90.0, 180.0), (-90.0, -180.0), (41.12, -71.34)] {
            let back = GeoPoint::decode(GeoPoint { latitude, longitude }.encode());
            assert!((back.latitude - latitude).abs() < 1e-7 && (back.longitude - longitude).abs() < 1e-7);
        }
    }
}
