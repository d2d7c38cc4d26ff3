//! Merges an update into a definition: "what does `PUT _mapping` change, and what can it not change?"

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::flat::Around;
use super::parse::joined;
use super::source::SourceSection;
use super::tree::{Dynamic, Node, Object, Root};
use crate::RequestError;
use crate::field::{Leaf, Update};
use crate::json::java::java_text;
use crate::settings::MappingSettings;

/// Returns `present` with `update` merged in. Conflicts are `illegal_argument_exception` with Elasticsearch's
/// message.
///
/// Source: `RootObjectMapper#merge`, `ObjectMapper#merge`, `FieldMapper#merge`.
pub(crate) fn merge(present: &Root, update: &Root, settings: &MappingSettings) -> Result<Root, RequestError> {
    let outside = Around { path: "", dynamic: Dynamic::True, settings };
    if let (true, Some(false)) = (present.routing_required == Some(true), update.routing_required) {
        return Err(conflicts(
            "_routing",
            &["Cannot update parameter [required] from [true] to [false]".to_owned()],
        ));
    }
    if let (false, Some(true)) = (present.routing_required == Some(true), update.routing_required)
        && !present.object.properties.is_empty()
    {
        return Err(conflicts(
            "_routing",
            &["Cannot update parameter [required] from [false] to [true]".to_owned()],
        ));
    }
    if let (Some(true), Some(false)) = (present.data_stream_timestamp, update.data_stream_timestamp) {
        return Err(conflicts(
            "_data_stream_timestamp",
            &["Cannot update parameter [enabled] from [true] to [false]".to_owned()],
        ));
    }
    let source = match (&present.source, &update.source) {
        (Some(present), Some(update)) => {
            present.check_update(update)?;
            Some(present.clone())
        }
        (None, Some(update)) => {
            SourceSection::default().check_update(update)?;
            None
        }
        (present, None) => present.clone(),
    };
    Ok(Root {
        object: objects(&present.object, &update.object, outside)?,
        date_detection: update.date_detection.or(present.date_detection),
        numeric_detection: update.numeric_detection.or(present.numeric_detection),
        dynamic_date_formats: update
            .dynamic_date_formats
            .clone()
            .or_else(|| present.dynamic_date_formats.clone()),
        // An update gives the whole list. Only the templates of an index merge theirs by name.
        dynamic_templates: update.dynamic_templates.clone().or_else(|| present.dynamic_templates.clone()),
        meta: update.meta.clone().or_else(|| present.meta.clone()),
        routing_required: update.routing_required.or(present.routing_required),
        data_stream_timestamp: update.data_stream_timestamp.or(present.data_stream_timestamp),
        field_names: update.field_names.or(present.field_names),
        source,
        runtime: super::runtime::merge(&present.runtime, &update.runtime),
    })
}

/// Returns `update` with its fields under the names that they have in `present`.
fn renamed<'u>(
    present: &Object,
    update: &'u Object,
    around: Around<'_>,
) -> Result<Cow<'u, Object>, RequestError> {
    let path = around.path;
    if let Some(subobjects) = update.subobjects
        && subobjects == present.is_flat()
    {
        return Err(RequestError::internal(
            "mapper_exception",
            format!(
                "the [subobjects] parameter can't be updated for the object mapping [{}]",
                if path.is_empty() { "_doc" } else { path }
            ),
        ));
    }
    if !present.is_flat() || update.is_flat() {
        return Ok(Cow::Borrowed(update));
    }
    let mut update = update.clone();
    update.flatten(around)?;
    Ok(Cow::Owned(update))
}

/// Refuses a change between nested and other objects, or of what a nested one is included in.
fn check_nested(present: &Object, update: &Object, path: &str) -> Result<(), RequestError> {
    match (&present.nested, &update.nested) {
        (None, None) => {}
        (Some(old), Some(new)) => {
            for (name, changed) in
                [("include_in_parent", old.parent != new.parent), ("include_in_root", old.root != new.root)]
            {
                if changed {
                    return Err(RequestError::internal(
                        "mapper_exception",
                        format!("the [{name}] parameter can't be updated on a nested object mapping"),
                    ));
                }
            }
        }
        _ => {
            return Err(RequestError::illegal_argument(format!(
                "can't merge a non-nested mapping [{path}] with a nested mapping"
            )));
        }
    }
    Ok(())
}

/// `around` are the surroundings of `present`.
fn objects(present: &Object, update: &Object, around: Around<'_>) -> Result<Object, RequestError> {
    let path = around.path;
    let dynamic = update.dynamic.or(present.dynamic).unwrap_or(around.dynamic);
    let update = &*renamed(present, update, Around { dynamic, ..around })?;
    if let Some(enabled) = update.enabled
        && enabled != present.enabled.unwrap_or(true)
    {
        return Err(RequestError::bad_request(
            "mapper_exception",
            format!(
                "the [enabled] parameter can't be updated for the object mapping [{}]",
                if path.is_empty() { "_doc" } else { path }
            ),
        ));
    }
    check_nested(present, update, path)?;
    let mut properties = present.properties.clone();
    for (name, node) in &update.properties {
        let full = joined(path, name);
        let merged = match (properties.get(name), node) {
            (None, node) => node.clone(),
            (Some(Node::Object(old)), Node::Object(new)) => {
                Node::Object(objects(old, new, Around { path: &full, dynamic, ..around })?)
            }
            (Some(Node::Leaf(old)), Node::Leaf(new)) => Node::Leaf(leaves(old, new, &full)?),
            (Some(Node::Alias(_)), Node::Alias(_)) => node.clone(),
            (Some(Node::Alias(_)), _) => {
                return Err(RequestError::illegal_argument(format!(
                    "Cannot merge a field alias mapping [{full}] with a mapping that is not for a field alias."
                )));
            }
            (Some(Node::Leaf(old)), Node::Alias(_)) => {
                return Err(RequestError::illegal_argument(format!(
                    "mapper [{full}] cannot be changed from type [{}] to [Builder]",
                    old.kind.name()
                )));
            }
            (Some(_), _) => {
                return Err(RequestError::illegal_argument(format!(
                    "can't merge a non object mapping [{full}] with an object mapping"
                )));
            }
        };
        properties.insert(name.clone(), merged);
    }
    Ok(Object {
        nested: present.nested,
        dynamic: update.dynamic.or(present.dynamic),
        enabled: present.enabled,
        subobjects: present.subobjects,
        says_disable_objects: present.says_disable_objects,
        keep: update.keep.or(present.keep),
        properties,
    })
}

/// Merges two declarations of a field. An update declares the whole field: a parameter that it omits is reset
/// to its default, which is a conflict if the parameter cannot change.
fn leaves(present: &Leaf, update: &Leaf, path: &str) -> Result<Leaf, RequestError> {
    if present.kind.name() != update.kind.name() {
        return Err(RequestError::illegal_argument(format!(
            "mapper [{path}] cannot be changed from type [{}] to [{}]",
            present.kind.name(),
            update.kind.name()
        )));
    }
    let mut found = Vec::new();
    for param in present.kind.params() {
        let (old, new) = (present.param(param.name), update.param(param.name));
        let is_same = old == new || param.name == "analyzer" && is_default(&old) && is_default(&new);
        let allowed = match param.update {
            Update::Always => true,
            Update::Never => is_same,
            Update::Once => is_same || old.is_null(),
            Update::Off => is_same || old == Value::Bool(true),
        };
        if !allowed {
            found.push(format!(
                "Cannot update parameter [{}] from [{}] to [{}]",
                param.name,
                shown(&old, param.name),
                shown(&new, param.name)
            ));
        }
    }
    if !found.is_empty() {
        return Err(conflicts(path, &found));
    }
    let mut fields: BTreeMap<String, Leaf> = present.fields.clone();
    for (name, new) in &update.fields {
        let merged = match fields.get(name) {
            Some(old) => leaves(old, new, &joined(path, name))?,
            None => new.clone(),
        };
        fields.insert(name.clone(), merged);
    }
    Ok(Leaf { kind: present.kind, params: update.params.clone(), fields, copy_to: update.copy_to.clone() })
}

/// Whether this value of `analyzer` means the index's default one.
fn is_default(analyzer: &Value) -> bool {
    analyzer.is_null() || analyzer == "default"
}

fn shown(value: &Value, name: &str) -> String {
    match value {
        Value::Null if name == "analyzer" => "default".to_owned(),
        Value::Object(_) if name == "script" => crate::definition::field_script::shown(value),
        other => java_text(other),
    }
}

pub(super) fn conflicts(path: &str, found: &[String]) -> RequestError {
    RequestError::illegal_argument(format!(
        "Mapper for [{path}] conflicts with existing mapper:\n\t{}",
        found.join("\n\t")
    ))
}
