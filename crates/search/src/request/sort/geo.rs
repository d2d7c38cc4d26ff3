//! `_geo_distance` in `sort`: "from where, and in which unit?"
//!
//! Source: Elasticsearch's `GeoDistanceSortBuilder`.

use limber_mapping::RequestError;
use limber_mapping::geo::{DistanceKind, GeoPoint, Unit, parse_point};
use serde_json::Value;

use super::key::{Missing, Sort, parse_mode, parse_order};
use super::nested::NestedSort;
use crate::geo::Validation;
use crate::values::json;
use crate::values::mode::MultiValueMode;

/// Maximum number of points of one sort.
const POINTS_MAX: usize = 1000;

/// The origin of a sort by distance.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GeoSort {
    pub path: String,
    /// At least one point.
    pub points: Vec<GeoPoint>,
    pub unit: Unit,
    pub kind: DistanceKind,
    pub validation: Validation,
    pub ignore_unmapped: bool,
}

fn refused(reason: impl Into<String>) -> RequestError {
    RequestError::illegal_argument(reason)
}

pub(super) fn parse(name: &str, options: &Value) -> Result<Sort, RequestError> {
    let Value::Object(members) = options else {
        if json::scalar_text(options).is_some() {
            return Err(refused("Geo distance sorting needs at least one point."));
        }
        return Err(RequestError::parsing(format!(
            "[_geo_distance] Expected START_OBJECT but was: {}",
            json::token(options)
        )));
    };
    let mut sort = Sort::by(name);
    let mut path: Option<&str> = None;
    let mut points = Vec::new();
    let (mut unit, mut kind) = (Unit::METERS, DistanceKind::default());
    let (mut validation, mut ignore_unmapped) = (Validation::default(), false);
    for (key, value) in members {
        let text = || json::scalar_text(value).unwrap_or_default();
        match (key.as_str(), value) {
            ("nested", Value::Object(_)) => sort.nested = Some(NestedSort::parse(value)?),
            (_, Value::Array(items)) => {
                path = Some(key);
                parse_points(items, &mut points)?;
            }
            ("order", _) => sort.order = parse_order(&text())?,
            ("unit", _) => unit = Unit::parse(&text())?,
            ("distance_type", _) => kind = DistanceKind::parse(&text())?,
            ("validation_method", _) => validation = Validation::parse(value)?,
            ("ignore_unmapped", _) => ignore_unmapped = json::boolean(value)?,
            ("mode" | "sort_mode", _) => sort.mode = Some(parse_mode(&text())?),
            (_, Value::Object(_) | Value::String(_)) => {
                if let Some(other) = path.filter(|path| *path != key) {
                    return Err(RequestError::parsing(format!(
                        "Trying to reset fieldName to [{key}], already set to [{other}]."
                    )));
                }
                path = Some(key);
                points.push(parse_point(value, true)?);
            }
            _ => {
                return Err(RequestError::parsing(format!("[_geo_distance] does not support [{key}]")));
            }
        }
    }
    if points.is_empty() {
        return Err(refused("Geo distance sorting needs at least one point."));
    }
    if points.len() > POINTS_MAX {
        return Err(refused(format!("more than {POINTS_MAX} points in [_geo_distance]")));
    }
    if sort.mode == Some(MultiValueMode::Sum) {
        return Err(refused("sort_mode [sum] isn't supported for sorting by geo distance"));
    }
    let path = path.unwrap_or_default().to_owned();
    sort.missing = Missing::Last;
    sort.geo = Some(GeoSort { path, points, unit, kind, validation, ignore_unmapped }.into());
    Ok(sort)
}

/// Parses `[lon, lat]`, or a list of points in any notation.
fn parse_points(items: &[Value], points: &mut Vec<GeoPoint>) -> Result<(), RequestError> {
    match items {
        [Value::Number(_)] => Err(RequestError::bad_request(
            "parse_exception",
            "geo point parsing: expected second number but got [END_ARRAY] instead",
        )),
        [Value::Number(_), ..] => {
            points.push(parse_point(&Value::Array(items.to_vec()), true)?);
            Ok(())
        }
        items => {
            for item in items {
                points.push(parse_point(item, true)?);
            }
            Ok(())
        }
    }
}
