//! The mapping of a destination, deduced from the source fields. Source: Elasticsearch's `SchemaUtil`.

use serde_json::{Map, Value, json};

use super::shape::Shape;

/// Returns the `properties` of the destination. `type_of` returns the type of a source field.
pub(crate) fn deduced(shape: &Shape, type_of: &dyn Fn(&str) -> Option<String>) -> Value {
    let Shape::Pivot { group_by, aggregations } = shape else { return json!({}) };
    let mut properties = json!({});
    for (name, source) in group_by {
        let Some((kind, body)) = source.as_object().and_then(|source| source.iter().next()) else { continue };
        let field = body["field"].as_str().and_then(type_of);
        let mapped = match kind.as_str() {
            "date_histogram" => Some("date".to_owned()),
            "histogram" => Some("double".to_owned()),
            "geotile_grid" => Some("keyword".to_owned()),
            // The key has the type of its field, so that a text's sub-field `keyword` gives a keyword.
            _ => field.or_else(|| body.get("script").map(|_| "keyword".to_owned())),
        };
        if let Some(mapped) = mapped {
            add(&mut properties, name, json!({ "type": mapped }));
        }
    }
    add_aggregations(&mut properties, "", aggregations, type_of);
    properties
}

fn add_aggregations(
    properties: &mut Value,
    prefix: &str,
    aggregations: &Map<String, Value>,
    type_of: &dyn Fn(&str) -> Option<String>,
) {
    for (name, definition) in aggregations {
        let mut members = definition.as_object().into_iter().flatten();
        let Some((kind, body)) =
            members.find(|(kind, _)| !matches!(kind.as_str(), "aggs" | "aggregations" | "meta"))
        else {
            continue;
        };
        let path = format!("{prefix}{name}");
        let inside =
            definition.get("aggs").or_else(|| definition.get("aggregations")).and_then(Value::as_object);
        let field = || body["field"].as_str().and_then(type_of);
        let mapped = match kind.as_str() {
            "min" | "max" => {
                let of_values =
                    field().filter(|kind| !matches!(kind.as_str(), "aggregate_metric_double" | "histogram"));
                of_values.or_else(|| Some("double".to_owned()))
            }
            "sum" | "avg" | "weighted_avg" | "median_absolute_deviation" => Some("double".to_owned()),
            "cardinality" | "value_count" => Some("long".to_owned()),
            "geo_centroid" => Some("geo_point".to_owned()),
            "geo_bounds" => Some("geo_shape".to_owned()),
            "terms" | "rare_terms" | "range" => Some("flattened".to_owned()),
            "filter" | "missing" => match inside {
                None => Some("long".to_owned()),
                Some(inside) => {
                    add_aggregations(properties, &format!("{path}."), inside, type_of);
                    None
                }
            },
            "percentiles" => {
                let percents = body["percents"].as_array().cloned();
                let percents =
                    percents.unwrap_or_else(|| [1, 5, 25, 50, 75, 95, 99].map(Value::from).to_vec());
                for percent in percents {
                    let percent = percent.to_string();
                    let percent = percent.strip_suffix(".0").unwrap_or(&percent).replace('.', "_");
                    add(properties, &format!("{path}.{percent}"), json!({"type": "double"}));
                }
                None
            }
            "stats" => {
                for part in ["count", "min", "max", "avg", "sum"] {
                    let kind = if part == "count" { "long" } else { "double" };
                    add(properties, &format!("{path}.{part}"), json!({ "type": kind }));
                }
                None
            }
            // The results of scripts are mapped dynamically.
            _ => None,
        };
        if let Some(mapped) = mapped {
            add(properties, &path, json!({ "type": mapped }));
        }
    }
}

/// Adds a definition under a dotted name, inside the `properties` of the objects around it.
fn add(properties: &mut Value, path: &str, definition: Value) {
    match path.split_once('.') {
        None => properties[path] = definition,
        Some((object, rest)) => {
            if !properties[object]["properties"].is_object() {
                properties[object] = json!({"properties": {}});
            }
            add(&mut properties[object]["properties"], rest, definition);
        }
    }
}
