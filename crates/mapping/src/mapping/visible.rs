//! A mapping as seen by a user who may not see all fields: "which fields exist for this user, and which part
//! of a source is visible?"
//!
//! Hidden fields are treated as if they had never been mapped, so that queries, sorts, aggregations,
//! highlights and scripts do not find them.

use std::sync::Arc;

use limber_work::{self as work, Stop};
use serde_json::{Map, Value};

use super::Mapping;
use crate::RequestError;

/// Which fields are visible, by full path.
#[derive(Clone)]
pub(super) struct Visible(Arc<dyn Fn(&str) -> bool + Send + Sync>);

impl std::fmt::Debug for Visible {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Visible")
    }
}

impl Mapping {
    /// Returns this mapping without the fields that `is_visible` rejects.
    ///
    /// # Errors
    /// It returns no error that the mapping itself did not return.
    pub fn seen_by(
        &self,
        is_visible: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Result<Mapping, RequestError> {
        let shown = shown_mapping(&self.to_json(), &is_visible);
        let mut mapping = Mapping::restore(&shown, self.settings())?;
        mapping.index_field = self.index_field.clone();
        mapping.has_timestamp = self.has_timestamp;
        mapping.visible = Some(Visible(Arc::new(is_visible)));
        Ok(mapping)
    }

    /// Whether there are hidden fields.
    pub fn hides_fields(&self) -> bool {
        self.visible.is_some()
    }

    /// Whether the field at this full path, which need not be mapped, may be seen.
    pub fn shows(&self, path: &str) -> bool {
        self.visible.as_ref().is_none_or(|visible| (visible.0)(path))
    }

    /// Returns the visible part of a source; `None` if all of it is visible.
    ///
    /// # Errors
    /// The client has disconnected, or there is not enough memory.
    pub fn shown_source(&self, source: &Value) -> Result<Option<Value>, Stop> {
        let Some(visible) = &self.visible else { return Ok(None) };
        let shown = shown(source, &mut String::new(), &*visible.0)?;
        Ok(Some(shown.unwrap_or_else(|| Value::Object(Map::new()))))
    }
}

/// Returns the body of a mapping without hidden fields.
pub fn shown_mapping(body: &Value, is_visible: &dyn Fn(&str) -> bool) -> Value {
    let mut shown = body.clone();
    if let Some(properties) = shown.get_mut("properties").and_then(Value::as_object_mut) {
        keep_fields(properties, "", is_visible);
    }
    for section in ["runtime", "derived"] {
        if let Some(fields) = shown.get_mut(section).and_then(Value::as_object_mut) {
            fields.retain(|path, _| is_visible(path));
        }
    }
    shown
}

fn keep_fields(fields: &mut Map<String, Value>, prefix: &str, is_visible: &dyn Fn(&str) -> bool) {
    fields.retain(|name, field| {
        let path = format!("{prefix}{name}");
        let is_object = field.get("properties").is_some()
            || field.get("type").is_none_or(|kind| kind == "object" || kind == "nested");
        if is_object {
            if let Some(properties) = field.get_mut("properties").and_then(Value::as_object_mut) {
                let had_some = !properties.is_empty();
                keep_fields(properties, &format!("{path}."), is_visible);
                // An object whose fields are all hidden is removed too, because it would reveal that they
                // exist.
                return !had_some || !properties.is_empty() || is_visible(&path);
            }
            return is_visible(&path);
        }
        let target = field.get("path").and_then(Value::as_str).filter(|_| field["type"] == "alias");
        if !is_visible(&path) || target.is_some_and(|target| !is_visible(target)) {
            return false;
        }
        if let Some(fields) = field.get_mut("fields").and_then(Value::as_object_mut) {
            keep_fields(fields, &format!("{path}."), is_visible);
        }
        true
    });
}

/// Returns the values whose full path is visible, within their enclosing objects. Source: Lucene's and
/// Elasticsearch's `FieldSubsetReader#filter`.
fn shown(value: &Value, path: &mut String, is_visible: &dyn Fn(&str) -> bool) -> Result<Option<Value>, Stop> {
    // Rules may be many, and paths long.
    work::check_beyond_deadline()?;
    Ok(match value {
        Value::Object(members) => {
            let (mut kept, above) = (Map::new(), path.len());
            for (name, member) in members {
                if above > 0 {
                    path.push('.');
                }
                path.push_str(name);
                if let Some(member) = shown(member, path, is_visible)? {
                    kept.insert(name.clone(), member);
                }
                path.truncate(above);
            }
            (!kept.is_empty() || members.is_empty() && is_visible(path)).then_some(Value::Object(kept))
        }
        Value::Array(items) => {
            let mut kept = Vec::new();
            for item in items {
                kept.extend(shown(item, path, is_visible)?);
            }
            (!kept.is_empty() || items.is_empty() && is_visible(path)).then_some(Value::Array(kept))
        }
        scalar => is_visible(path).then(|| scalar.clone()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::MappingSettings;
    use serde_json::json;

    #[test]
    fn hidden_fields_are_not_there() {
        let body = json!({"properties": {
            "a": {"type": "text", "fields": {"raw": {"type": "keyword"}}},
            "secret": {"type": "keyword"},
            "o": {"properties": {"x": {"type": "long"}, "y": {"type": "long"}}},
            "gone": {"properties": {"z": {"type": "long"}}},
            "to_secret": {"type": "alias", "path": "secret"}},
            "runtime": {"r": {"type": "long"}}});
        let whole = Mapping::parse(&body, &MappingSettings::default()).expect("valid");
        let seen = whole.seen_by(|path| ["a", "o.x", "to_secret"].contains(&path)).expect("valid");
        for path in ["a", "o.x"] {
            assert!(seen.field(path).is_some(), "{path}");
        }
        for path in ["a.raw", "secret", "o.y", "gone.z", "to_secret", "r"] {
            assert!(seen.field(path).is_none(), "{path}");
        }
        assert!(seen.object("gone").is_none());
        let source = json!({"a": "x", "secret": 1, "o": {"x": [1, 2], "y": 3}, "o.x": 4, "n": [{"secret": 1}], "gone": {"z": 1}});
        assert_eq!(
            seen.shown_source(&source).expect("no request").expect("limited"),
            json!({"a": "x", "o": {"x": [1, 2]}, "o.x": 4})
        );
        assert_eq!(whole.shown_source(&source).expect("no request"), None);
    }

    #[test]
    fn hidden_keys_of_flattened_fields_are_not_there() {
        let body = json!({"properties": {"f": {"type": "flattened"}, "g": {"type": "alias", "path": "f"}}});
        let whole = Mapping::parse(&body, &MappingSettings::default()).expect("valid");
        let seen = whole.seen_by(|path| path != "f.secret").expect("valid");
        for path in ["f", "f.open", "g.open"] {
            assert!(seen.field(path).is_some(), "{path}");
        }
        for path in ["f.secret", "g.secret"] {
            assert!(whole.field(path).is_some() && seen.field(path).is_none(), "{path}");
        }
        assert!(whole.field("_ignored").is_some() && seen.field("_ignored").is_none());
        assert!(seen.shows("f.open") && !seen.shows("f.secret") && whole.shows("f.secret"));
    }
}
