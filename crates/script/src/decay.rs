//! Decay functions: "what is the value at this distance from the origin?"
//!
//! Source: Elasticsearch's `DecayFunctionBuilder` and its three `DecayFunction`s, `ScoreScriptUtils`.

use limber_mapping::geo::{ArcFrom, GeoPoint};
use limber_mapping::number::java_double;

/// How the value falls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// `exp(-distance² / (2 σ²))`, with σ such that the curve gives `decay` at `scale`.
    Gauss,
    /// `exp(λ distance)`, with λ such that the curve gives `decay` at `scale`.
    Exp,
    /// A straight line down to 0, through `decay` at `scale`.
    Linear,
}

/// A shape, and the constant that makes its value `decay` at the requested scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curve {
    shape: Shape,
    scale: f64,
}

impl Curve {
    /// Creates the curve of a shape that is `decay` at `scale`.
    pub fn new(shape: Shape, scale: f64, decay: f64) -> Curve {
        let scale = match shape {
            Shape::Gauss => 0.5 * scale.powi(2) / decay.ln(),
            Shape::Exp => decay.ln() / scale,
            Shape::Linear => scale / (1.0 - decay),
        };
        Curve { shape, scale }
    }

    /// Returns the value at a distance.
    #[inline]
    pub fn at(&self, distance: f64) -> f64 {
        match self.shape {
            Shape::Gauss => (0.5 * (distance * distance) / self.scale).exp(),
            Shape::Exp => (self.scale * distance).exp(),
            Shape::Linear => ((self.scale - distance) / self.scale).max(0.0),
        }
    }

    /// Returns the formula, as explanations print it.
    pub fn explain(&self, distance: &str) -> String {
        let scale = |value: f64| java_double(value);
        match self.shape {
            Shape::Gauss => format!("exp(-0.5*pow({distance},2.0)/{})", scale(-self.scale)),
            Shape::Exp => format!("exp(- {distance} * {})", scale(-self.scale)),
            Shape::Linear => {
                format!("max(0.0, (({0} - {distance})/{0})", scale(self.scale))
            }
        }
    }
}

/// The position at which a curve is highest.
#[derive(Debug, Clone, Copy)]
pub enum Origin {
    /// A number, or a date in milliseconds since 1970.
    Number(f64),
    /// A point.
    Point(ArcFrom),
}

/// A curve around an origin, level up to `offset` away from it.
#[derive(Debug, Clone, Copy)]
pub struct Falloff {
    /// The position at which the curve is 1.
    pub origin: Origin,
    /// Up to this distance from the origin the value stays 1. In the unit of the numbers, in milliseconds,
    /// or in metres.
    pub offset: f64,
    /// How the value falls from there on.
    pub curve: Curve,
}

impl Falloff {
    #[inline]
    /// Returns the part of a distance that exceeds the offset.
    pub fn beyond_offset(&self, distance: f64) -> f64 {
        (distance - self.offset).max(0.0)
    }

    #[inline]
    /// Returns the value at a distance from the origin.
    pub fn of_distance(&self, distance: f64) -> f64 {
        self.curve.at(self.beyond_offset(distance))
    }

    /// Returns the value at a number; the greatest value where the origin is a point.
    #[inline]
    pub fn of_number(&self, number: f64) -> f64 {
        match self.origin {
            Origin::Number(origin) => self.of_distance((number - origin).abs()),
            Origin::Point(_) => self.of_distance(0.0),
        }
    }

    /// Returns the value at a point; the greatest value where the origin is a number.
    #[inline]
    pub fn of_point(&self, point: GeoPoint) -> f64 {
        match self.origin {
            Origin::Point(origin) => self.of_distance(origin.meters(point.latitude, point.longitude)),
            Origin::Number(_) => self.of_distance(0.0),
        }
    }

    /// Returns the greatest and the least value over the numbers `least..=most`: at the number nearest to
    /// the origin, and at the one furthest from it.
    pub fn most_and_least(&self, least: f64, most: f64) -> (f64, f64) {
        match self.origin {
            Origin::Number(origin) => {
                let furthest = (least - origin).abs().max((most - origin).abs());
                (self.of_number(origin.clamp(least, most)), self.of_distance(furthest))
            }
            Origin::Point(_) => (self.of_distance(0.0), self.of_distance(0.0)),
        }
    }

    /// Returns the greatest value that a point between these degrees can have.
    pub fn most_in(&self, longitudes: (f64, f64), latitudes: (f64, f64)) -> f64 {
        match self.origin {
            Origin::Point(origin) => self.of_distance(origin.least_meters(latitudes, longitudes)),
            Origin::Number(_) => self.of_distance(0.0),
        }
    }
}
