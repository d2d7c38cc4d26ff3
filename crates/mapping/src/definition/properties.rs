//! `properties` of an object: "which fields and objects does it hold, and under which names?"

use std::collections::BTreeMap;

use serde_json::Value;

use super::parse::{depth_exceeded, joined, node};
use super::tree::{Node, Object};
use crate::RequestError;
use crate::json::java::mapper_parsing;
use crate::settings::MappingSettings;
use limber_work as work;

/// The inside of an object.
#[derive(Clone, Copy)]
pub(super) struct Inside<'a> {
    /// Its full path; "" for the root.
    pub path: &'a str,
    /// Its level; the root is the first.
    pub depth: usize,
    /// Names with dots are names of fields.
    pub is_flat: bool,
}

/// Parses the `properties` of an object.
pub(super) fn properties(
    value: &Value,
    inside: Inside<'_>,
    settings: &MappingSettings,
) -> Result<BTreeMap<String, Node>, RequestError> {
    let fields = match value {
        Value::Object(fields) => fields,
        // Elasticsearch takes an empty list for "no properties".
        Value::Array(list) if list.is_empty() => return Ok(BTreeMap::new()),
        _ => return Err(mapper_parsing("properties must be a map type")),
    };
    if inside.depth > settings.limits.object_levels() {
        return Err(depth_exceeded(inside.path, settings));
    }
    let mut nodes = BTreeMap::new();
    for (name, value) in fields {
        work::check()?;
        add(&mut nodes, name, value, inside, settings)?;
    }
    Ok(nodes)
}

/// Adds one property; a dotted name opens the objects on its way, if there may be any.
fn add(
    nodes: &mut BTreeMap<String, Node>,
    name: &str,
    value: &Value,
    inside: Inside<'_>,
    settings: &MappingSettings,
) -> Result<(), RequestError> {
    let Inside { path, depth, is_flat } = inside;
    let (head, rest) = match name.split_once('.') {
        Some((head, rest)) if !is_flat => (head, Some(rest)),
        _ => (name, None),
    };
    if head.is_empty() || rest.is_some_and(str::is_empty) {
        return Err(RequestError::illegal_argument("field name cannot be an empty string"));
    }
    if head.trim().is_empty() {
        return Err(RequestError::illegal_argument("field name cannot contain only whitespaces"));
    }
    if head.encode_utf16().count() > settings.limits.field_name_length {
        return Err(RequestError::illegal_argument(format!(
            "Field name [{head}] is longer than the limit of [{}] characters",
            settings.limits.field_name_length
        )));
    }
    let full = joined(path, head);
    match rest {
        Some(rest) => {
            if depth + 1 > settings.limits.object_levels() {
                return Err(depth_exceeded(&full, settings));
            }
            let parent = nodes.entry(head.to_owned()).or_insert_with(|| Node::Object(Object::default()));
            match parent {
                Node::Object(object) => {
                    let inside = Inside { path: &full, depth: depth + 1, is_flat: object.is_flat() };
                    add(&mut object.properties, rest, value, inside, settings)
                }
                Node::Leaf(_) | Node::Alias(_) => Err(RequestError::illegal_argument(format!(
                    "can't merge a non object mapping [{full}] with an object mapping"
                ))),
            }
        }
        None => {
            let node = node(value, &full, depth, settings)?;
            match (nodes.get_mut(head), node) {
                (Some(Node::Object(present)), Node::Object(object)) => {
                    present.nested = object.nested.or(present.nested);
                    present.dynamic = object.dynamic.or(present.dynamic);
                    present.enabled = object.enabled.or(present.enabled);
                    present.subobjects = object.subobjects.or(present.subobjects);
                    present.says_disable_objects |= object.says_disable_objects;
                    present.properties.extend(object.properties);
                }
                (Some(Node::Object(_)), Node::Leaf(_) | Node::Alias(_)) => {
                    let kind = value["type"].as_str().unwrap_or_default();
                    return Err(RequestError::illegal_argument(format!(
                        "mapper [{full}] cannot be changed from type [{kind}] to [ObjectMapper]"
                    )));
                }
                (_, node) => {
                    nodes.insert(head.to_owned(), node);
                }
            }
            Ok(())
        }
    }
}
