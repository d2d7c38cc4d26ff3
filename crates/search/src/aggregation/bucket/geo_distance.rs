//! `geo_distance`: documents by ranges of their distance from a point, collected like `range`.
//!
//! Source: Elasticsearch's `GeoDistanceAggregationBuilder`.

use limber_mapping::geo::{ArcFrom, DistanceKind, Unit, parse_point};
use limber_mapping::number::java_double;
use limber_mapping::{ObjectParser, RequestError};
use serde_json::Value;

use super::super::options::{Options, ValuesOptions};
use super::super::tree::Kind;
use super::range::{Origin, Range, Ranges, ranges_of};
use crate::values::json;

type Result<T> = std::result::Result<T, RequestError>;

pub(crate) fn parse_geo_distance(options: &mut Options) -> Result<Kind> {
    let origin = match options.take_typed("origin")? {
        None => None,
        Some(value) => Some(parse_point(&value, true).map_err(|cause| options.failed("origin", cause))?),
    };
    let unit = match options.text("unit")? {
        None => Unit::METERS,
        Some(name) => Unit::parse(&name).map_err(|cause| options.failed("unit", cause))?,
    };
    let kind = match options.text("distance_type")? {
        None => DistanceKind::default(),
        Some(name) => DistanceKind::parse(&name).map_err(|cause| options.failed("distance_type", cause))?,
    };
    let mut ranges = Vec::new();
    for range in ranges_of(options)? {
        ranges.push(parse_range(range).map_err(|cause| options.failed("ranges", cause))?);
    }
    let keyed = options.boolean("keyed")?.unwrap_or(false);
    let values = ValuesOptions::parse_places(options, "field, script")?;
    let name = options.name.clone();
    let Some(origin) = origin else {
        return Err(RequestError::illegal_argument(format!("Aggregation [{name}] must define an [origin].")));
    };
    let from = ArcFrom::new(origin.latitude, origin.longitude);
    let origin = Some(Origin { from, kind, unit });
    Ok(Kind::own(Ranges { name, has_dates: false, values, ranges, keyed, origin }))
}

/// Reads one range. Without `from` it starts at 0, and the key of such a range is `*-to`.
fn parse_range(range: Value) -> Result<Range> {
    let Value::Object(members) = range else {
        return Err(RequestError::parsing(format!("Failed to parse object: {}", json::token(&range))));
    };
    let (mut key, mut from, mut to) = (None, 0.0, f64::INFINITY);
    for (name, value) in &members {
        let number = || {
            let text = json::scalar_text(value).unwrap_or_default();
            text.trim().parse::<f64>().map_err(|_| json::number_format(text))
        };
        match name.as_str() {
            _ if value.is_null() => {}
            "key" | "from" | "to" if value.is_array() || value.is_object() => {
                return Err(RequestError::parsing(format!(
                    "Failed to parse object: unexpected token [{}] found",
                    json::token(value)
                )));
            }
            "key" => key = json::scalar_text(value),
            "from" => from = number()?,
            "to" => to = number()?,
            other => {
                return Err(RequestError::parsing(format!(
                    "Failed to parse object: {} found",
                    ObjectParser::unknown_words(other)
                )));
            }
        }
    }
    let shown = |end: f64, is_open: bool| if is_open { "*".to_owned() } else { java_double(end) };
    let key = key.unwrap_or_else(|| format!("{}-{}", shown(from, from == 0.0), shown(to, to.is_infinite())));
    let to = to.is_finite().then(|| Value::from(to));
    Ok(Range { key: Some(key), from: Some(from.into()), to })
}
