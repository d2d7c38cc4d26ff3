//! Flattens a nested answer into the fields of one document.

use serde_json::Value;

use crate::model::Params;

/// Adds the numbers of `stats` to `fields`, with their keys joined by `_` after `prefix`
/// (`flatten_stats_fields`). Strings, flags and lists are left out: a value that is written with a unit is
/// also there as a number.
pub(super) fn flatten_into(fields: &mut Params, prefix: &str, stats: &Value) {
    let Some(object) = stats.as_object() else { return };
    for (name, value) in object {
        match value {
            Value::Object(_) => flatten_into(fields, &format!("{prefix}_{name}"), value),
            Value::Number(_) => {
                fields.insert(format!("{prefix}_{name}"), value.clone());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_only() {
        let mut fields = Params::new();
        let stats = json!({"parent": {"limit_size": "1gb", "limit_size_in_bytes": 7, "on": true}, "x": 1.5, "list": [1]});
        flatten_into(&mut fields, "breakers", &stats);
        flatten_into(&mut fields, "none", &Value::Null);
        assert_eq!(Value::from(fields), json!({"breakers_parent_limit_size_in_bytes": 7, "breakers_x": 1.5}));
    }
}
