//! The values in a group's document. Source: Elasticsearch's `AggregationResultUtils`, `IDGenerator`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// Returns the names and values of a composite bucket's key.
pub(super) fn group_keys(key: &Value) -> Vec<(String, Value)> {
    key.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Returns the id of a group's document, which is always the same for the same group.
pub(super) fn group_id(keys: &[(String, Value)]) -> String {
    let mut sorted: Vec<&(String, Value)> = keys.iter().collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    let mut hash = Sha256::new();
    for (_, value) in sorted {
        let text = value.to_string();
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    URL_SAFE_NO_PAD.encode(&hash.finalize()[..16])
}

/// Sets a value under a dotted name, creating the objects around it.
pub(super) fn put(document: &mut Value, name: &str, value: Value) {
    match name.split_once('.') {
        None => document[name] = value,
        Some((object, rest)) => {
            if !document[object].is_object() {
                document[object] = json!({});
            }
            put(&mut document[object], rest, value);
        }
    }
}

/// Returns the value of an aggregation's result in a document; `None` if it is not a field.
pub(super) fn value_of(definition: &Value, result: &Value) -> Option<Value> {
    let members = definition.as_object()?;
    let is_inside = |kind: &&String| matches!(kind.as_str(), "aggs" | "aggregations" | "meta");
    let kind = members.keys().find(|kind| !is_inside(kind))?;
    let inside = members.get("aggs").or_else(|| members.get("aggregations")).and_then(Value::as_object);
    Some(match kind.as_str() {
        "bucket_selector" => return None,
        "percentiles" => by_percent(&result["values"]),
        "percentile_ranks" => by_percent(&result["values"]),
        "terms" | "rare_terms" | "range" => buckets(&result["buckets"], inside),
        "filter" | "missing" => match inside {
            None => result["doc_count"].clone(),
            Some(inside) => below(result, inside),
        },
        "geo_centroid" => match &result["location"] {
            Value::Null => Value::Null,
            place => json!(format!("{}, {}", place["lat"], place["lon"])),
        },
        "geo_bounds" => envelope(&result["bounds"]),
        "top_metrics" => result["top"][0]["metrics"].clone(),
        "stats" | "extended_stats" | "boxplot" => {
            let numbers = result.as_object()?.iter().filter(|(name, _)| !name.ends_with("_as_string"));
            Value::Object(numbers.map(|(name, value)| (name.clone(), value.clone())).collect())
        }
        // The string is present for dates, formatted by their field.
        "min" | "max" if result["value_as_string"].is_string() => result["value_as_string"].clone(),
        _ => result["value"].clone(),
    })
}

/// Turns `{"50.0": 1}` into `{"50": 1}`, and `{"99.5": 1}` into `{"99_5": 1}`, because a dot would make an
/// object.
fn by_percent(values: &Value) -> Value {
    let name = |name: &str| name.strip_suffix(".0").unwrap_or(name).replace('.', "_");
    let members = values.as_object().into_iter().flatten().filter(|(key, _)| !key.ends_with("_as_string"));
    Value::Object(members.map(|(key, value)| (name(key), value.clone())).collect())
}

fn buckets(buckets: &Value, inside: Option<&Map<String, Value>>) -> Value {
    let mut shown = Map::new();
    let one = |bucket: &Value| match inside {
        None => bucket["doc_count"].clone(),
        Some(inside) => below(bucket, inside),
    };
    for bucket in buckets.as_array().into_iter().flatten() {
        let key = bucket.get("key_as_string").unwrap_or(&bucket["key"]);
        let name = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
        shown.insert(name.replace('.', "_"), one(bucket));
    }
    for (name, bucket) in buckets.as_object().into_iter().flatten() {
        shown.insert(name.clone(), one(bucket));
    }
    Value::Object(shown)
}

fn below(bucket: &Value, inside: &Map<String, Value>) -> Value {
    let mut document = json!({});
    for (name, definition) in inside {
        if let Some(value) = value_of(definition, &bucket[name]) {
            put(&mut document, name, value);
        }
    }
    document
}

/// Converts a bounding box to a shape.
fn envelope(bounds: &Value) -> Value {
    let corner = |name: &str| json!([bounds[name]["lon"], bounds[name]["lat"]]);
    match bounds {
        Value::Null => Value::Null,
        _ => json!({"type": "envelope", "coordinates": [corner("top_left"), corner("bottom_right")]}),
    }
}
