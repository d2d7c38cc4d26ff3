//! `geo_polygon`: documents with a point in a polygon. Elasticsearch deprecates it in favour of `geo_shape`,
//! but still has it.

use limber_mapping::RequestError;
use limber_mapping::geo::{GeoPoint, Position, parse_point};
use limber_mapping::number::java_double;
use limber_work as work;
use serde_json::{Map, Value};

use super::geo::{is_on_map, places};
use crate::error::Error;
use crate::geo::{Polygon, Relation, Shape, Validation};
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::parse::{Common, Parser, Query, QueryNode, does_not_support};
use crate::values::json;

/// Largest number of corners of a polygon.
const POINTS_MAX: usize = 100_000;

#[derive(Debug)]
struct GeoPolygon {
    field: String,
    points: Vec<GeoPoint>,
    validation: Validation,
    ignore_unmapped: bool,
}

pub(in crate::query) fn parse(
    members: &Map<String, Value>,
    _: &mut Parser<'_>,
) -> Result<Query, RequestError> {
    work::warn(
        "Deprecated field [geo_polygon] used, replaced by [[geo_shape] query where polygons are defined in geojson or wkt]",
    );
    let mut common = Common::default();
    let mut found: Option<(String, Vec<GeoPoint>)> = None;
    let (mut validation, mut ignore_unmapped) = (Validation::default(), false);
    for (key, value) in members {
        match (key.as_str(), value) {
            (_, Value::Object(options)) => {
                let mut points = Vec::new();
                for (option, value) in options {
                    match (option.as_str(), value) {
                        ("points", Value::Array(items)) => {
                            points =
                                items.iter().map(|item| parse_point(item, true)).collect::<Result<_, _>>()?;
                        }
                        ("points", other) => {
                            return Err(RequestError::parsing(format!(
                                "[geo_polygon] query does not support token type [{}] under [points]",
                                json::token(other)
                            )));
                        }
                        (other, _) => return Err(does_not_support("geo_polygon", other)),
                    }
                }
                found = Some((key.clone(), points));
            }
            ("validation_method", value) => validation = Validation::parse(value)?,
            ("ignore_unmapped", value) => ignore_unmapped = json::boolean(value)?,
            (key, value) if common.take(key, value)? => {}
            (key, _) => return Err(does_not_support("geo_polygon", key)),
        }
    }
    let refuse = |reason: &str| Err(RequestError::illegal_argument(reason));
    let Some((field, mut points)) = found else { return refuse("fieldName must not be null") };
    if points.is_empty() {
        return refuse("polygon must not be null or empty");
    }
    let is_closed = points.first() == points.last();
    if points.len() < if is_closed { 4 } else { 3 } {
        return refuse("too few points defined for geo_polygon query");
    }
    if points.len() > POINTS_MAX {
        return Err(RequestError::illegal_argument(format!(
            "a polygon of more than {POINTS_MAX} points in [geo_polygon]"
        )));
    }
    if !is_closed {
        points.push(points[0]);
    }
    Ok(common.query(GeoPolygon { field, points, validation, ignore_unmapped }))
}

impl GeoPolygon {
    fn ring(&self, binder: &Binder<'_>) -> Result<Vec<Position>, Error> {
        let mut ring = Vec::with_capacity(self.points.len());
        for point in &self.points {
            let point = match self.validation {
                Validation::Coerce => point.normalized(),
                _ => *point,
            };
            if !is_on_map(&point) {
                let is_latitude = !(-90.0..=90.0).contains(&point.latitude);
                let (what, value, end) = match is_latitude {
                    true => ("latitude", point.latitude, "90.0"),
                    false => ("longitude", point.longitude, "180.0"),
                };
                let value = java_double(value);
                return Err(match self.validation {
                    Validation::Strict => {
                        binder.query_shard(format!("illegal {what} value [{value}] for [geo_polygon]"))
                    }
                    _ => RequestError::illegal_argument(format!(
                        "invalid {what} {value}; must be between -{end} and {end}"
                    )),
                }
                .into());
            }
            ring.push((point.longitude, point.latitude));
        }
        Ok(ring)
    }
}

impl QueryNode for GeoPolygon {
    fn bind(&self, boost: f32, binder: &Binder<'_>) -> Result<BoundQuery, Error> {
        let path = &self.field;
        let Some(field) = binder.searchable_field(path)? else {
            if self.ignore_unmapped {
                return Ok(BoundQuery::nothing(format!("unmapped field [{path}]")));
            }
            return Err(binder.query_shard(format!("failed to find geo_point field [{path}]")).into());
        };
        if !field.is_point() {
            return Err(binder.query_shard(format!("field [{path}] is not a geo_point field")).into());
        }
        let polygon = Polygon::new(&[self.ring(binder)?], 0.0);
        let text = format!("polygon of {} points", self.points.len());
        Ok(places(field, Shape::Polygon(polygon), Relation::Intersects, boost, text))
    }
}
