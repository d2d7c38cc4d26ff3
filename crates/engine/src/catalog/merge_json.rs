//! Merging the mappings of templates: later ones win field by field.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Merges `over` into `base`. Objects with `properties` merge field by field, and a leaf definition replaces
/// the previous one. A dynamic template takes the place of one with the same name, also in the same list; the
/// others come last.
///
/// Source: `MetadataCreateIndexService#collectV2Mappings` (merge reason INDEX_TEMPLATE).
pub(crate) fn merge_mappings(base: &mut Map<String, Value>, over: &Map<String, Value>) {
    for (key, value) in over {
        match (base.get_mut(key), value) {
            (Some(Value::Object(below)), Value::Object(above)) if key == "properties" => {
                merge_fields(below, above)
            }
            (below, Value::Array(above)) if key == "dynamic_templates" => {
                let mut templates = match below {
                    Some(Value::Array(below)) => std::mem::take(below),
                    _ => Vec::new(),
                };
                merge_templates(&mut templates, above);
                base.insert(key.clone(), templates.into());
            }
            (Some(Value::Object(below)), Value::Object(above)) if key == "_meta" => {
                below.extend(above.iter().map(|(name, value)| (name.clone(), value.clone())));
            }
            _ => drop(base.insert(key.clone(), value.clone())),
        }
    }
}

fn merge_templates(base: &mut Vec<Value>, over: &[Value]) {
    let named = base.iter().enumerate().filter_map(|(place, one)| Some((name_of(one)?.clone(), place)));
    let mut places: HashMap<String, usize> = named.collect();
    for template in over {
        let name = name_of(template);
        if let Some(place) = name.and_then(|name| places.get(name).copied()) {
            base[place] = template.clone();
            continue;
        }
        if let Some(name) = name {
            places.insert(name.clone(), base.len());
        }
        base.push(template.clone());
    }
}

fn merge_fields(base: &mut Map<String, Value>, over: &Map<String, Value>) {
    for (name, value) in over {
        match (base.get_mut(name), value) {
            (Some(Value::Object(below)), Value::Object(above))
                if is_object_field(below) && is_object_field(above) =>
            {
                merge_mappings(below, above);
            }
            _ => drop(base.insert(name.clone(), value.clone())),
        }
    }
}

fn is_object_field(field: &Map<String, Value>) -> bool {
    field.contains_key("properties") || field.get("type").is_none_or(|kind| kind == "object")
}

fn name_of(template: &Value) -> Option<&String> {
    template.as_object().and_then(|object| object.keys().next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn later_definitions_win_field_by_field() {
        let check = |base: Value, over: Value, expected: Value| {
            let (Value::Object(mut base), Value::Object(over)) = (base, over) else { panic!("objects") };
            merge_mappings(&mut base, &over);
            assert_eq!(Value::Object(base), expected);
        };
        check(
            json!({"properties": {"a": {"type": "keyword", "ignore_above": 5}, "o": {"properties": {"x": {"type": "long"}}}}}),
            json!({"properties": {"a": {"type": "text"}, "o": {"properties": {"y": {"type": "ip"}}}}, "dynamic": "strict"}),
            json!({"properties": {"a": {"type": "text"}, "o": {"properties": {"x": {"type": "long"}, "y": {"type": "ip"}}}}, "dynamic": "strict"}),
        );
        check(
            json!({"dynamic_templates": [{"a": {"m": 1}}, {"b": {}}]}),
            json!({"dynamic_templates": [{"a": {"m": 2}}]}),
            json!({"dynamic_templates": [{"a": {"m": 2}}, {"b": {}}]}),
        );
        check(
            json!({"dynamic_templates": [{"a": {"m": 1}}, {"b": {}}]}),
            json!({"dynamic_templates": [{"d": {"m": 3}}, {"b": {"m": 4}}, {"d": {"m": 5}}]}),
            json!({"dynamic_templates": [{"a": {"m": 1}}, {"b": {"m": 4}}, {"d": {"m": 5}}]}),
        );
        check(
            json!({}),
            json!({"dynamic_templates": [{"a": {"m": 1}}, {"b": {}}, {"a": {"m": 2}}]}),
            json!({"dynamic_templates": [{"a": {"m": 2}}, {"b": {}}]}),
        );
    }
}
