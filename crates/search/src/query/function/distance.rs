//! Distances on the earth: "how many metres is this text, and how far are these points apart?"

use limber_mapping::RequestError;
use limber_mapping::geo::GeoPoint;

use crate::json;

/// Lucene's `SloppyMath`: the mean radius, in metres.
const EARTH_RADIUS_METRES: f64 = 6_371_008.771_4;

/// Suffixes of Elasticsearch's `DistanceUnit` with their length in metres; a longer suffix comes before the one it ends with.
const UNITS: &[(&str, f64)] = &[
    ("nauticalmiles", 1852.0),
    ("nmi", 1852.0),
    ("NM", 1852.0),
    ("miles", 1609.344),
    ("mi", 1609.344),
    ("kilometers", 1000.0),
    ("km", 1000.0),
    ("centimeters", 0.01),
    ("cm", 0.01),
    ("millimeters", 0.001),
    ("mm", 0.001),
    ("meters", 1.0),
    ("inch", 0.0254),
    ("in", 0.0254),
    ("yards", 0.9144),
    ("yd", 0.9144),
    ("feet", 0.3048),
    ("ft", 0.3048),
    ("m", 1.0),
];

/// `500km`, `50mi`; a number alone is in metres.
pub(crate) fn parse_metres(text: &str) -> Result<f64, RequestError> {
    let (number, unit) = UNITS
        .iter()
        .find_map(|(suffix, metres)| Some((text.strip_suffix(suffix)?, *metres)))
        .unwrap_or((text, 1.0));
    Ok(number.trim().parse::<f64>().map_err(|_| json::number_format(number))? * unit)
}

/// Great-circle distance in metres by the haversine formula, as Lucene's `SloppyMath#haversinMeters`, whose tables of sine and cosine
/// differ from ours in the last digits.
#[inline]
pub(crate) fn haversine_metres(from: GeoPoint, to: GeoPoint) -> f64 {
    let (from_latitude, to_latitude) = (from.latitude.to_radians(), to.latitude.to_radians());
    let latitudes = 1.0 - (from_latitude - to_latitude).cos();
    let longitudes = 1.0 - (from.longitude - to.longitude).to_radians().cos();
    let key = latitudes + from_latitude.cos() * to_latitude.cos() * longitudes;
    2.0 * EARTH_RADIUS_METRES * (key * 0.5).sqrt().min(1.0).asin()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_have_units() {
        for (text, metres) in
            [("500km", 500_000.0), ("50mi", 80_467.2), ("5", 5.0), ("1nmi", 1852.0), ("2 m", 2.0)]
        {
            assert_eq!(parse_metres(text).unwrap(), metres, "{text}");
        }
        assert!(parse_metres("5xx").is_err());
    }
}
