//! The definition of a field with the parameters that it does not state (`include_defaults`).

use serde_json::{Map, Value, json};

use crate::field::Check;
use crate::field_type;

/// Returns a field's definition as `GET _mapping` shows it, with the defaults of its other parameters.
/// Parameters that follow a setting of the index are shown with the setting's default.
pub fn with_defaults(definition: &Value) -> Value {
    let Some(given) = definition.as_object() else { return definition.clone() };
    let kind = given.get("type").and_then(Value::as_str).and_then(field_type::find);
    let Some(kind) = kind else { return definition.clone() };
    let mut shown = Map::new();
    shown.insert("type".to_owned(), kind.name().into());
    for param in kind.params() {
        let value = match (given.get(param.name), param.check) {
            (Some(value), _) => value.clone(),
            // 7.x and OpenSearch have these parameters.
            (None, _) if matches!(param.name, "boost" | "skip_list") => continue,
            (None, Check::Analyzer) if param.default.is_empty() => {
                let of_index = || json!("default");
                given.get("analyzer").filter(|_| param.name != "analyzer").cloned().unwrap_or_else(of_index)
            }
            (None, _) if param.default.is_empty() => match param.name {
                "meta" => json!({}),
                "null_value" => Value::Null,
                "coerce" | "ignore_z_value" => json!(true),
                "ignore_malformed" => json!(false),
                _ => continue,
            },
            (None, _) => kind.default_of(param.name),
        };
        shown.insert(param.name.to_owned(), value);
    }
    // `fields`, `copy_to` and whatever else is not a parameter of the type.
    for (name, value) in given {
        shown.entry(name.clone()).or_insert_with(|| value.clone());
    }
    Value::Object(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_stated_is_shown_with_its_default() {
        let shown =
            with_defaults(&json!({"type": "text", "store": true, "fields": {"k": {"type": "keyword"}}}));
        for (name, value) in [
            ("type", json!("text")),
            ("store", json!(true)),
            ("index", json!(true)),
            ("index_options", json!("positions")),
            ("analyzer", json!("default")),
            ("search_analyzer", json!("default")),
            ("meta", json!({})),
            ("boost", Value::Null),
            ("fields", json!({"k": {"type": "keyword"}})),
        ] {
            assert_eq!(shown[name], value, "{name}");
        }
        let shown = with_defaults(&json!({"type": "long"}));
        assert_eq!(shown["coerce"], json!(true));
        assert_eq!(shown["ignore_malformed"], json!(false));
        assert!(shown.as_object().is_some_and(|shown| shown.contains_key("null_value")));
        assert_eq!(with_defaults(&json!({"type": "nothing"})), json!({"type": "nothing"}));
    }
}
