//! Converts settings as users write them (dotted, nested, mixed) to one flat map and back.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use crate::api::Result;

/// Flat keys and their values. A value is a string, an array of strings, or `null` ("reset to the default").
pub type FlatSettings = Map<String, Value>;

/// How deeply a settings body may be nested, and how many dots a key may have: keys are shown nested, and
/// trees are walked by recursion.
const DEPTH_MAX: usize = 20;
const KEYS_MAX: usize = 10_000;
/// Longest key, in bytes. The key of an object is part of the key of everything in it.
const KEY_BYTES_MAX: usize = 4_096;
/// How much of a refused key an error shows.
const SHOWN_CHARS: usize = 100;

/// Flattens `{"index": {"a.b": 1, "c": {"d": true}}}` to `index.a.b: "1"`, `index.c.d: "true"`.
pub fn flatten(settings: &Value) -> Result<FlatSettings> {
    let mut flat = Map::new();
    match settings {
        Value::Null => {}
        Value::Object(object) => flatten_into(object, "", &mut flat, 0)?,
        other => {
            return Err(RequestError::parsing(format!(
                "malformed settings content, expected an object but found [{other}]"
            )));
        }
    }
    Ok(flat)
}

fn flatten_into(
    object: &Map<String, Value>,
    prefix: &str,
    flat: &mut FlatSettings,
    depth: usize,
) -> Result<()> {
    if depth > DEPTH_MAX {
        return Err(RequestError::illegal_argument(format!(
            "settings are nested deeper than [{DEPTH_MAX}] levels"
        )));
    }
    for (name, value) in object {
        if !prefix.is_empty() && prefix.len() + name.len() > KEY_BYTES_MAX {
            let shown: String = prefix.chars().chain(name.chars()).take(SHOWN_CHARS).collect();
            return Err(RequestError::illegal_argument(format!(
                "the setting [{shown}...] has more than [{KEY_BYTES_MAX}] bytes"
            )));
        }
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Value::Object(inner) => flatten_into(inner, &key, flat, depth + 1)?,
            Value::Array(items) => {
                let items = items.iter().map(|item| scalar(&key, item)).collect::<Result<Vec<_>>>()?;
                insert(flat, key, Value::Array(items))?;
            }
            other => {
                let value = scalar(&key, other)?;
                insert(flat, key, value)?;
            }
        }
    }
    Ok(())
}

fn insert(flat: &mut FlatSettings, key: String, value: Value) -> Result<()> {
    if flat.len() >= KEYS_MAX {
        return Err(RequestError::illegal_argument(format!(
            "more than [{KEYS_MAX}] settings in one request"
        )));
    }
    // A key that was stored before this limit existed can still be reset.
    if !value.is_null() && key.bytes().filter(|byte| *byte == b'.').count() > DEPTH_MAX {
        let shown: String = key.chars().take(SHOWN_CHARS).collect();
        return Err(RequestError::illegal_argument(format!(
            "the setting [{shown}...] has more than [{DEPTH_MAX}] levels"
        )));
    }
    if flat.contains_key(&key) {
        return Err(RequestError::parsing(format!("duplicate settings key [{key}] found")));
    }
    flat.insert(key, value);
    Ok(())
}

/// Converts numbers and booleans to strings, as Elasticsearch prints them.
fn scalar(key: &str, value: &Value) -> Result<Value> {
    match value {
        Value::Null => Ok(Value::Null),
        Value::String(text) => Ok(Value::String(text.clone())),
        Value::Bool(flag) => Ok(Value::String(flag.to_string())),
        Value::Number(number) => Ok(Value::String(number.to_string())),
        _ => Err(RequestError::parsing(format!("malformed value for setting [{key}]"))),
    }
}

/// Adds the prefix `index.` to keys that lack it.
pub fn normalize_index_keys(flat: FlatSettings) -> FlatSettings {
    let with_prefix = |key: String| match key.starts_with("index.") || key == "*" {
        true => key,
        false => format!("index.{key}"),
    };
    flat.into_iter().map(|(key, value)| (with_prefix(key), value)).collect()
}

/// Nests flat settings: `index.number_of_shards: "1"` becomes `{"index": {"number_of_shards": "1"}}`. If a
/// key has a value and is also the prefix of other keys, the rest of those keys stays dotted, as does the
/// rest of a key with more levels than [`flatten`] accepts.
pub fn nest(flat: &FlatSettings) -> Value {
    let mut root = Map::new();
    for (key, value) in flat {
        insert_nested(&mut root, key, value, 0);
    }
    Value::Object(root)
}

fn insert_nested(object: &mut Map<String, Value>, key: &str, value: &Value, depth: usize) {
    if let Some((head, rest)) = key.split_once('.').filter(|_| depth < DEPTH_MAX) {
        let slot = object.entry(head).or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(inner) = slot {
            return insert_nested(inner, rest, value, depth + 1);
        }
    }
    object.insert(key.to_owned(), value.clone());
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn dotted_and_nested_forms_are_one() {
        let flat = flatten(&json!({"index": {"number_of_shards": 1, "a.b": true}, "number_of_replicas": "0", "x": null, "l": [1, "b"]}))
            .expect("valid");
        let flat = normalize_index_keys(flat);
        assert_eq!(
            Value::Object(flat.clone()),
            json!({"index.number_of_shards": "1", "index.a.b": "true", "index.number_of_replicas": "0", "index.x": null, "index.l": ["1", "b"]})
        );
        assert_eq!(
            nest(&flat),
            json!({"index": {"number_of_shards": "1", "a": {"b": "true"}, "number_of_replicas": "0", "x": null, "l": ["1", "b"]}})
        );
    }

    #[test]
    fn depth_is_limited() {
        let mut deep = json!({"a": 1});
        for _ in 0..30 {
            deep = json!({"a": deep});
        }
        assert!(flatten(&deep).is_err());
        assert!(flatten(&json!([])).is_err());
    }

    #[test]
    fn the_key_of_an_object_is_not_repeated_without_end() {
        let of = |length: usize| flatten(&json!({"k".repeat(length): {"a": "x", "b": "y"}}));
        assert_eq!(of(KEY_BYTES_MAX - 1).expect("short enough").len(), 2);
        assert!(of(KEY_BYTES_MAX).expect_err("too long").reason.len() < 1_000);
    }

    #[test]
    fn keys_have_few_levels() {
        let deep = format!("{}b", "a.".repeat(100_000));
        let error = flatten(&json!({ &deep: "x" })).expect_err("too many levels");
        assert!(error.reason.len() < 1_000, "the key is shown shortened");
        assert!(flatten(&json!({ &deep: null })).is_ok(), "a stored one can be reset");
        // One that was stored before is shown, and ends nothing.
        let stored = Map::from_iter([(deep, Value::from("x"))]);
        assert!(nest(&stored).to_string().len() > 200_000);
        let longest = format!("{}b", "a.".repeat(DEPTH_MAX));
        let flat = flatten(&json!({ &longest: "x" })).expect("not too many");
        assert_eq!(flatten(&nest(&flat)).expect("flat"), flat, "what is shown can be read");
    }
}
