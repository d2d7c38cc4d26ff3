//! `geo_distance`: documents with a point within a distance from a point.

use limber_mapping::RequestError;
use limber_mapping::geo::{DistanceKind, GeoPoint, Unit, parse_distance, parse_point};
use serde_json::{Map, Value};

use super::geo::{geo_field, is_on_map, near};
use crate::error::Error;
use crate::geo::{Circle, Shape, Target, Validation};
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::parse::{Common, Parser, Query, QueryNode, does_not_support};
use crate::values::json;

#[derive(Debug)]
struct Distance {
    field: String,
    center: GeoPoint,
    meters: f64,
    validation: Validation,
    ignore_unmapped: bool,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    let mut common = Common::default();
    let (mut field, mut center) = (None, GeoPoint { latitude: f64::NAN, longitude: f64::NAN });
    let (mut distance, mut unit) = (None, Unit::METERS);
    let (mut validation, mut ignore_unmapped) = (Validation::default(), false);
    for (key, value) in members {
        match (key.as_str(), value) {
            ("distance", Value::String(_) | Value::Number(_)) => distance = Some(value),
            ("distance", _) => {}
            // An empty array has no coordinates, so the centre stays invalid.
            (_, Value::Array(items)) if items.is_empty() => field = Some(key.clone()),
            (_, Value::Array(_)) => (field, center) = (Some(key.clone()), parse_point(value, true)?),
            (_, Value::Object(place)) => {
                field = Some(key.clone());
                read_object(key, place, &mut center)?;
            }
            (_, Value::Null) => {}
            ("unit", value) => unit = Unit::parse(&json::scalar_text(value).unwrap_or_default())?,
            // The index always measures arc distances, whatever type is requested; so does Elasticsearch
            // since 5.0.
            ("distance_type", value) => {
                DistanceKind::parse(&json::scalar_text(value).unwrap_or_default())?;
            }
            ("ignore_unmapped", value) => ignore_unmapped = json::boolean(value)?,
            ("validation_method", value) => validation = Validation::parse(value)?,
            (key, value) if common.take(key, value)? => {}
            (key, value) => match (key.rsplit_once('.'), json::scalar_text(value)) {
                (Some((path, "lat")), Some(text)) => {
                    center.latitude = text.parse().map_err(|_| json::number_format(&text))?;
                    field = Some(path.to_owned());
                }
                (Some((path, "lon")), Some(text)) => {
                    center.longitude = text.parse().map_err(|_| json::number_format(&text))?;
                    field = Some(path.to_owned());
                }
                (_, Some(text)) if field.is_none() => {
                    (field, center) = (Some(key.to_owned()), parse_point(&Value::String(text), true)?);
                }
                _ => return Err(unexpected(key)),
            },
        }
    }
    let meters = match distance {
        None => return Err(RequestError::parsing("geo_distance requires 'distance' to be specified")),
        Some(distance) => {
            if field.is_none() {
                return Err(RequestError::illegal_argument("fieldName must not be null or empty"));
            }
            match distance {
                Value::Number(number) => number.as_f64().unwrap_or(0.0) * unit.meters,
                other => match json::scalar_text(other).unwrap_or_default().as_str() {
                    "" => {
                        return Err(RequestError::illegal_argument("distance must not be null or empty"));
                    }
                    text => parse_distance(text, unit)?,
                },
            }
        }
    };
    if meters.is_nan() || meters <= 0.0 {
        return Err(RequestError::illegal_argument("distance must be greater than zero"));
    }
    let field = field.unwrap_or_default();
    Ok(common.query(Distance { field, center, meters, validation, ignore_unmapped }))
}

/// Parses `{"lat", "lon"}` or `{"geohash"}`. A coordinate that is not given is not changed.
fn read_object(field: &str, place: &Map<String, Value>, center: &mut GeoPoint) -> Result<(), RequestError> {
    for (name, value) in place {
        let Some(text) = json::scalar_text(value) else {
            match value {
                Value::Null => continue,
                _ => return Err(unexpected(name)),
            }
        };
        let number = || text.parse().map_err(|_| json::number_format(&text));
        match name.as_str() {
            "lat" => center.latitude = number()?,
            "lon" => center.longitude = number()?,
            "geohash" => *center = parse_point(value, true)?,
            _ => return Err(does_not_support("geo_distance", field)),
        }
    }
    Ok(())
}

fn unexpected(field: &str) -> RequestError {
    RequestError::parsing(format!("failed to parse [geo_distance] query. unexpected field [{field}]"))
}

impl QueryNode for Distance {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let Some(field) = geo_field(binder, &self.field, "geo_distance", self.ignore_unmapped)? else {
            return Ok(BoundQuery::nothing(format!("unmapped field [{}]", self.field)));
        };
        if self.validation == Validation::Strict && !is_on_map(&self.center) {
            return Err(binder.query_shard("couldn't validate latitude/ longitude values").into());
        }
        let center = self.center.normalized();
        let text = format!("{},{} +/- {} meters", center.latitude, center.longitude, self.meters);
        let circle = || Circle::new(center, self.meters);
        Ok(near(field, boost, text, || Shape::Circle(circle()), || Target::circle(circle())))
    }
}
