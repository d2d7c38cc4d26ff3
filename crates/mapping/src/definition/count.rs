//! The number of fields that a mapping declares, counted before anything is built from it.

use serde_json::Value;

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
    }
}
