//! Merges an operation's `settings` into the body of an index or template.

use serde_json::{Map, Value};

use crate::error::Error;

/// Returns `body` with `settings` merged over the value at `path`. Absent or empty settings change nothing.
///
/// If the path has several keys, nested objects are merged. If it has one key, they are replaced, as Rally
/// does for indices and legacy templates.
pub(in crate::drive::operation) fn with_settings(
    body: Option<Value>,
    settings: Option<&Value>,
    path: &[&str],
) -> Result<Option<Value>, Error> {
    let settings = match settings {
        None | Some(Value::Null) => return Ok(body),
        Some(Value::Object(settings)) if settings.is_empty() => return Ok(body),
        Some(Value::Object(settings)) => settings,
        Some(_) => return Err(Error::parameter("parameter 'settings' must be an object")),
    };
    let mut body = body.unwrap_or_else(|| Value::Object(Map::new()));
    let mut at = &mut body;
    for key in path {
        let object =
            at.as_object_mut().ok_or_else(|| Error::parameter("'settings' need a body that is an object"))?;
        at = object.entry(*key).or_insert_with(|| Value::Object(Map::new()));
    }
    match (at, path.len()) {
        (Value::Object(at), 1) => at.extend(settings.clone()),
        (at, _) => merge(at, &Value::Object(settings.clone())),
    }
    Ok(Some(body))
}

fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                match into.get_mut(key) {
                    Some(known @ Value::Object(_)) if value.is_object() => merge(known, value),
                    _ => {
                        into.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (into, from) => *into = from.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(body: Value, settings: Value, path: &[&str], expected: Value) {
        let body = Some(body).filter(|body| !body.is_null());
        assert_eq!(with_settings(body, Some(&settings), path).unwrap().unwrap_or(Value::Null), expected);
    }

    #[test]
    fn settings() {
        check(json!(null), json!({}), &["settings"], json!(null));
        check(json!(null), json!({"a": 1}), &["settings"], json!({"settings": {"a": 1}}));
        check(
            json!({"settings": {"a": 1, "b": {"c": 1}}, "mappings": {}}),
            json!({"a": 2, "b": {"d": 2}}),
            &["settings"],
            json!({"settings": {"a": 2, "b": {"d": 2}}, "mappings": {}}),
        );
        check(
            json!({"template": {"settings": {"b": {"c": 1}}}}),
            json!({"b": {"d": 2}}),
            &["template", "settings"],
            json!({"template": {"settings": {"b": {"c": 1, "d": 2}}}}),
        );
        check(
            json!({}),
            json!({"a": 1}),
            &["template", "settings"],
            json!({"template": {"settings": {"a": 1}}}),
        );
        assert!(with_settings(Some(json!([])), Some(&json!({"a": 1})), &["settings"]).is_err());
    }
}
