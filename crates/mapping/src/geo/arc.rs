//! Great-circle distances, computed exactly like Lucene's `SloppyMath`.
//!
//! Cosines and arc sines are computed from tables of values with a Taylor series around the nearest one (the
//! method of the JAFAMA library): cosines to 1e-15, arc sines to about 1e-7 near the antipodes.

use std::f64::consts::PI;
use std::sync::LazyLock;

/// In metres (IUGG's mean radius).
pub const EARTH_RADIUS_METERS: f64 = 6_371_008.771_4;

const COSINE_STEPS: usize = 1 << 10;
/// The first 33 bits of π/2, and the rest.
const HALF_PI_HIGH: f64 = f64::from_bits(0x3ff9_21fb_5440_0000);
const HALF_PI_LOW: f64 = f64::from_bits(0x3dd0_b461_1a62_6331);
const COSINE_STEP_HIGH: f64 = 4.0 * HALF_PI_HIGH / COSINE_STEPS as f64;
const COSINE_STEP_LOW: f64 = 4.0 * HALF_PI_LOW / COSINE_STEPS as f64;
const COSINE_STEPS_A_RADIAN: f64 = 1.0 / (COSINE_STEP_HIGH + COSINE_STEP_LOW);
const SINE_STEPS: usize = 1 << 13;
/// Lower bounds of distances are reduced by this much to stay below rounded distances: more than the error of
/// 1e-7 of an arc sine near the antipodes.
const LEAST_SHARE: f64 = 1.0 - 1e-6;
const LEAST_SLACK_METERS: f64 = 0.5;

struct Tables {
    /// Cosine and sine of each step of a full turn.
    turn: Vec<(f64, f64)>,
    /// Arc sine of each step up to `sine_max`, and the coefficients of its series.
    arc_sines: Vec<[f64; 5]>,
    sine_max: f64,
    sine_step: f64,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let turn = (0..=COSINE_STEPS)
        .map(|at| {
            let at = at as f64;
            let angle = at * COSINE_STEP_HIGH + at * COSINE_STEP_LOW;
            (angle.cos(), angle.sin())
        })
        .collect::<Vec<_>>();
    let mut turn = turn;
    // The values at quarter turns are exact.
    for (quarter, exact) in [(1, (0.0, 1.0)), (2, (-1.0, 0.0)), (3, (0.0, -1.0)), (4, (1.0, 0.0))] {
        turn[quarter * COSINE_STEPS / 4] = exact;
    }
    let sine_max = (73.0 * PI / 180.0).sin();
    let sine_step = sine_max / SINE_STEPS as f64;
    let arc_sines = (0..=SINE_STEPS)
        .map(|at| {
            let x = at as f64 * sine_step;
            let inverse = 1.0 / (1.0 - x * x);
            let root = inverse.sqrt();
            [
                x.asin(),
                root,
                x * root * inverse / 2.0,
                (1.0 + 2.0 * x * x) * root * inverse * inverse / 6.0,
                (5.0 + 2.0 * x * (2.0 + x * (5.0 - 2.0 * x))) * root * inverse * inverse * inverse / 24.0,
            ]
        })
        .collect();
    Tables { turn, arc_sines, sine_max, sine_step }
});

/// Returns the cosine of an angle in radians, of at most a few turns.
#[inline]
fn cosine(tables: &Tables, radians: f64) -> f64 {
    let radians = radians.abs();
    let index = (radians * COSINE_STEPS_A_RADIAN + 0.5) as usize;
    let delta = (radians - index as f64 * COSINE_STEP_HIGH) - index as f64 * COSINE_STEP_LOW;
    let (cosine, sine) = tables.turn[index & (COSINE_STEPS - 1)];
    cosine + delta * (-sine + delta * (-cosine / 2.0 + delta * (sine / 6.0 + delta * cosine / 24.0)))
}

/// Returns the arc sine of a number from 0 to 1.
fn arc_sine(tables: &Tables, sine: f64) -> f64 {
    if sine > tables.sine_max {
        return sine.min(1.0).asin();
    }
    let index = (sine / tables.sine_step + 0.5) as usize;
    let delta = sine - index as f64 * tables.sine_step;
    let [value, first, second, third, fourth] = tables.arc_sines[index];
    value + delta * (first + delta * (second + delta * (third + delta * fourth)))
}

#[inline]
fn radians(degrees: f64) -> f64 {
    degrees * 0.017_453_292_519_943_295
}

/// Converts a key of [`ArcFrom::key`] to metres.
fn meters_of(tables: &Tables, key: f64) -> f64 {
    EARTH_RADIUS_METERS * 2.0 * arc_sine(tables, (key * 0.5).sqrt().min(1.0))
}

/// Computes distances from one point.
#[derive(Debug, Clone, Copy)]
pub struct ArcFrom {
    latitude: f64,
    longitude: f64,
    latitude_radians: f64,
    latitude_cosine: f64,
}

impl ArcFrom {
    /// Creates the starting point from degrees.
    pub fn new(latitude: f64, longitude: f64) -> ArcFrom {
        let latitude_radians = radians(latitude);
        let latitude_cosine = cosine(&TABLES, latitude_radians);
        ArcFrom { latitude, longitude, latitude_radians, latitude_cosine }
    }

    /// Returns a sort key that grows with the distance: twice the haversine, without its lowest three bits,
    /// so that distances that differ only by rounding are equal.
    #[inline]
    pub fn key(&self, latitude: f64, longitude: f64) -> f64 {
        let tables = &*TABLES;
        let other = radians(latitude);
        let across = 1.0 - cosine(tables, self.latitude_radians - other);
        let along = 1.0 - cosine(tables, radians(self.longitude - longitude));
        let key = across + self.latitude_cosine * cosine(tables, other) * along;
        f64::from_bits(key.to_bits() & !7)
    }

    /// Returns the distance in metres along the great circle to a point in degrees.
    #[inline]
    pub fn meters(&self, latitude: f64, longitude: f64) -> f64 {
        meters_of(&TABLES, self.key(latitude, longitude))
    }

    /// Returns a lower bound for the distance of any point within these degrees, limits included.
    pub fn least_meters(&self, latitudes: (f64, f64), longitudes: (f64, f64)) -> f64 {
        let radius = EARTH_RADIUS_METERS * LEAST_SHARE;
        // The distance along the meridian, as if the points were on the same one.
        let off = self.latitude - self.latitude.clamp(latitudes.0, latitudes.1);
        let north_south = off.abs().to_radians() * radius;
        if longitudes.0 <= self.longitude && self.longitude <= longitudes.1 {
            return (north_south - LEAST_SLACK_METERS).max(0.0);
        }
        // Every path crosses one of the two meridians, so the distance is at least that to the meridian's
        // whole great circle.
        let to_meridian = |longitude: f64| {
            let apart = (longitude - self.longitude).to_radians();
            (apart.sin().abs() * self.latitude_radians.cos()).clamp(0.0, 1.0).asin() * radius
        };
        let east_west = to_meridian(longitudes.0).min(to_meridian(longitudes.1));
        (north_south.max(east_west) - LEAST_SLACK_METERS).max(0.0)
    }

    /// Returns the latitude in degrees.
    pub fn latitude(&self) -> f64 {
        self.latitude
    }

    /// Returns the longitude in degrees.
    pub fn longitude(&self) -> f64 {
        self.longitude
    }
}

/// Returns the largest key whose distance is at most `meters`, or the next larger key if none has exactly
/// that distance (`GeoUtils.distanceQuerySortKey`).
pub fn key_of_meters(meters: f64) -> f64 {
    let tables = &*TABLES;
    let largest = meters_of(tables, f64::MAX);
    if meters >= largest {
        return largest;
    }
    let (mut low, mut high) = (0i64, f64::MAX.to_bits() as i64);
    while low <= high {
        let middle = low + (high - low) / 2;
        let key = f64::from_bits(middle as u64);
        let found = meters_of(tables, key);
        if found == meters {
            return key;
        } else if found > meters {
            high = middle - 1;
        } else {
            low = middle + 1;
        }
    }
    f64::from_bits(low as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_textbook() {
        let check = |from: (f64, f64), to: (f64, f64), near: f64| {
            let (lat1, lat2) = (from.0.to_radians(), to.0.to_radians());
            let half = |a: f64| (a / 2.0).sin().powi(2);
            let h = half(lat2 - lat1) + lat1.cos() * lat2.cos() * half((to.1 - from.1).to_radians());
            let expected = 2.0 * EARTH_RADIUS_METERS * h.sqrt().asin();
            assert!(
                (ArcFrom::new(from.0, from.1).meters(to.0, to.1) - expected).abs() <= near,
                "{from:?} {to:?}"
            );
        };
        check((0.0, 0.0), (0.0, 0.0), 0.0);
        check((55.0, 7.0), (48.85, 2.35), 1e-4);
        check((-33.9, 151.2), (51.5, -0.1), 0.5);
        check((90.0, 0.0), (-90.0, 100.0), 1.0);
        check((10.0, 179.9), (10.0, -179.9), 1e-4);
    }

    #[test]
    fn no_place_of_a_rectangle_is_nearer_than_its_least_distance() {
        let mut random = 11u64;
        let mut between = move |low: f64, high: f64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            low + (random >> 11) as f64 / (1u64 << 53) as f64 * (high - low)
        };
        let mut tight = 0;
        for _ in 0..20_000 {
            let from = ArcFrom::new(between(-90.0, 90.0), between(-180.0, 180.0));
            let (south, west) = (between(-90.0, 90.0), between(-180.0, 180.0));
            let size = between(0.0, 1.0).powi(4);
            let north = (south + size * 180.0).min(90.0);
            let east = (west + size * 360.0).min(180.0);
            let least = from.least_meters((south, north), (west, east));
            let mut nearest = f64::MAX;
            for at in 0..16 {
                let (down, along) = (f64::from(at % 4) / 3.0, f64::from(at / 4) / 3.0);
                let (latitude, longitude) = (south + down * (north - south), west + along * (east - west));
                nearest = nearest.min(from.meters(latitude, longitude));
            }
            assert!(least <= nearest, "{from:?} to {south}..{north} {west}..{east}: {least} {nearest}");
            tight += usize::from(least > 0.5 * nearest);
        }
        assert!(tight > 10_000, "{tight}");
    }

    #[test]
    fn the_key_of_a_distance_divides_near_from_far() {
        let from = ArcFrom::new(55.0, 7.0);
        for meters in [1.0, 1000.0, 200_000.0, 5e6, 1.9e7] {
            let key = key_of_meters(meters);
            for degrees in 0..1800 {
                let (latitude, longitude) =
                    (55.0 - f64::from(degrees) / 12.5, 7.0 + f64::from(degrees) / 10.0);
                let is_near = from.key(latitude, longitude) <= key;
                assert_eq!(is_near, from.meters(latitude, longitude) <= meters, "{degrees}");
            }
        }
    }
}
