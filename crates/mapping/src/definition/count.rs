//! How much a mapping declares: its fields and their paths, counted before anything is built from it, and
//! what is said when it declares too much.

use serde_json::Value;

use crate::RequestError;

/// Returns how many fields the body of a mapping declares: objects, their members, multi-fields and runtime
/// fields. It may be any JSON, and is not validated.
pub fn field_count(body: &Value) -> usize {
    let (mut count, mut open) = (0, vec![body]);
    while let Some(declared) = open.pop() {
        for section in ["properties", "fields", "runtime"] {
            if let Some(Value::Object(fields)) = declared.get(section) {
                count += fields.len();
                open.extend(fields.values());
            }
        }
    }
    count
}

/// Returns the bytes of the paths of all fields that the body of a mapping declares: the name of an object is
/// part of the path of each field in it.
pub fn path_bytes(body: &Value) -> u64 {
    let (mut bytes, mut open) = (0_u64, vec![(body, 0_u64)]);
    while let Some((declared, above)) = open.pop() {
        for section in ["properties", "fields", "runtime"] {
            let Some(Value::Object(fields)) = declared.get(section) else { continue };
            for (name, field) in fields {
                let path = above + name.len() as u64 + 1;
                bytes = bytes.saturating_add(path);
                open.push((field, path));
            }
        }
    }
    bytes
}

pub(crate) fn total_fields_exceeded(limit: usize) -> RequestError {
    RequestError::illegal_argument(format!("Limit of total fields [{limit}] has been exceeded"))
}

pub(crate) fn nested_fields_exceeded(limit: usize) -> RequestError {
    RequestError::illegal_argument(format!("Limit of nested fields [{limit}] has been exceeded"))
}

pub(crate) fn nested_parents_exceeded(limit: usize) -> RequestError {
    RequestError::illegal_argument(format!("Limit of nested parents [{limit}] has been exceeded"))
}

pub(crate) fn dimension_fields_exceeded(limit: usize) -> RequestError {
    RequestError::illegal_argument(format!("Limit of total dimension fields [{limit}] has been exceeded"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn objects_multi_fields_and_runtime_fields_are_counted() {
        assert_eq!(field_count(&json!(null)), 0);
        assert_eq!(field_count(&json!({"properties": ["a"]})), 0);
        let body = json!({
            "runtime": {"r": {"type": "long"}},
            "properties": {
                "o": {"properties": {"a": {"type": "text", "fields": {"raw": {"type": "keyword"}}}}},
                "properties": {"type": "long", "meta": {"properties": "x"}},
            },
        });
        assert_eq!(field_count(&body), 5);
        let paths = ["r", "o", "o.a", "o.a.raw", "properties"];
        assert_eq!(path_bytes(&body), paths.iter().map(|path| path.len() as u64 + 1).sum::<u64>());
    }
}
