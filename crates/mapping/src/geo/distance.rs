//! Distances in requests: `200km`, `12 mi`, or a number with a separate unit; and methods of computing
//! distances.
//!
//! Source: Elasticsearch's `DistanceUnit`, `GeoDistance`.

use super::arc::{ArcFrom, EARTH_RADIUS_METERS};
use crate::error::RequestError;

/// A unit, defined by its length in metres.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// The length of the unit in metres.
    pub meters: f64,
}

/// Names of units, in the order in which they are compared with the end of a text.
const UNITS: &[(f64, &[&str])] = &[
    (0.0254, &["in", "inch"]),
    (0.9144, &["yd", "yards"]),
    (0.3048, &["ft", "feet"]),
    (1000.0, &["km", "kilometers"]),
    (1852.0, &["NM", "nmi", "nauticalmiles"]),
    (0.001, &["mm", "millimeters"]),
    (0.01, &["cm", "centimeters"]),
    (1609.344, &["mi", "miles"]),
    (1.0, &["m", "meters"]),
];

impl Unit {
    /// The unit of distances without one.
    pub const METERS: Unit = Unit { meters: 1.0 };

    /// Returns the unit with this name or abbreviation.
    ///
    /// # Errors
    /// `No distance unit match [name]`.
    pub fn parse(name: &str) -> Result<Unit, RequestError> {
        UNITS
            .iter()
            .find(|(_, names)| names.contains(&name))
            .map(|(meters, _)| Unit { meters: *meters })
            .ok_or_else(|| RequestError::illegal_argument(format!("No distance unit match [{name}]")))
    }
}

/// Parses a distance such as `200km` to metres. `default` is the unit if the text has none.
pub fn parse_distance(text: &str, default: Unit) -> Result<f64, RequestError> {
    let found = UNITS.iter().find_map(|(meters, names)| {
        names.iter().find_map(|name| text.strip_suffix(name)).map(|number| (number, *meters))
    });
    let (number, meters) = found.unwrap_or((text, default.meters));
    match number.trim() {
        "" => Err(RequestError::bad_request("number_format_exception", "empty String")),
        number => number
            .parse::<f64>()
            .map(|number| number * meters)
            .map_err(|_| RequestError::number_format(number)),
    }
}

/// `distance_type`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum DistanceKind {
    /// Along the great circle.
    #[default]
    Arc,
    /// On a plane that touches the earth between the points: faster, but wrong over long distances and near
    /// the poles.
    Plane,
}

impl DistanceKind {
    /// Parses `arc` or `plane`, ignoring case; another name is an error.
    pub fn parse(name: &str) -> Result<DistanceKind, RequestError> {
        match name.to_lowercase().as_str() {
            "arc" => Ok(DistanceKind::Arc),
            "plane" => Ok(DistanceKind::Plane),
            _ => Err(RequestError::illegal_argument(format!("No geo distance for [{name}]"))),
        }
    }

    /// Returns the distance in metres from `from` to a point in degrees.
    #[inline]
    pub fn meters(self, from: &ArcFrom, latitude: f64, longitude: f64) -> f64 {
        match self {
            DistanceKind::Arc => from.meters(latitude, longitude),
            DistanceKind::Plane => {
                let middle = ((latitude + from.latitude()) / 2.0).to_radians();
                let x = (longitude - from.longitude()).to_radians() * middle.cos();
                let y = (latitude - from.latitude()).to_radians();
                (x * x + y * y).sqrt() * EARTH_RADIUS_METERS
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_told_by_the_end_of_the_text() {
        for (text, meters) in [
            ("200km", 200_000.0),
            ("1 mi", 1609.344),
            ("2nmi", 3704.0),
            ("2NM", 3704.0),
            ("5", 50.0),
            ("7m", 7.0),
        ] {
            assert_eq!(parse_distance(text, Unit { meters: 10.0 }).unwrap(), meters, "{text}");
        }
        assert_eq!(parse_distance("abc", Unit::METERS).unwrap_err().reason, "For input string: \"abc\"");
        assert_eq!(Unit::parse("foo").unwrap_err().reason, "No distance unit match [foo]");
    }
}
