//! Objects without objects (`subobjects: false`, OpenSearch's `disable_objects: true`): "under which names do
//! their fields stand?"
//!
//! Such an object takes names with dots as they are: `time` and `time.min` are two fields of it. An object
//! that is declared below it is taken apart, and its fields get its name before their own.
//!
//! Source: `ObjectMapper#asFlattenedFieldMappers`, `ObjectMapper.Subobjects`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::parse::{depth_exceeded, joined};
use super::tree::{Dynamic, Node, Object};
use crate::RequestError;
use crate::json::java::{boolean, java_text, mapper_parsing};
use crate::settings::MappingSettings;

/// Parses `subobjects` of an object's declaration.
pub(super) fn parse(value: &Value) -> Result<bool, RequestError> {
    boolean(value).map_err(|_| {
        let reason = format!("unknown subobjects value: {}", java_text(value));
        RequestError::bad_request("parse_exception", reason)
    })
}

/// Parses `disable_objects` of an object's declaration.
fn parse_disabled(value: &Value) -> Result<bool, RequestError> {
    boolean(value).map_err(|_| {
        mapper_parsing(format!(
            "Configuration error: Parameter [disable_objects] must be a boolean value (true or false), but got [{}]. Could not convert \
             [disable_objects.disable_objects] to boolean",
            java_text(value)
        ))
    })
}

/// Whether the declaration says `subobjects: false`; known before its properties are read.
pub(super) fn is_flat(body: &serde_json::Map<String, Value>) -> Result<bool, RequestError> {
    match (body.get("subobjects"), body.get("disable_objects")) {
        (Some(value), _) => parse(value).map(|subobjects| !subobjects),
        (None, Some(value)) => parse_disabled(value),
        (None, None) => Ok(false),
    }
}

/// Refuses a name in a flat object that has too many dots, because each beginning of the name becomes an
/// object for the walker. `name` is the form that the definition stores and that is read when the index is
/// opened.
fn check_name(name: &str, around: Around<'_>) -> Result<(), RequestError> {
    if name.split('.').any(|part| part.trim().is_empty()) {
        let what = if name.is_empty() { "be an empty string" } else { "contain only whitespaces" };
        return Err(RequestError::illegal_argument(format!("field name cannot {what}")));
    }
    match name.bytes().filter(|byte| *byte == b'.').count() < around.settings.limits.object_levels() {
        true => Ok(()),
        false => Err(depth_exceeded(&joined(around.path, name), around.settings)),
    }
}

/// The surroundings of an object.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    /// Full path of the object; "" for the root.
    pub path: &'a str,
    /// The setting in force inside of it.
    pub dynamic: Dynamic,
    /// The index's settings, which limit names.
    pub settings: &'a MappingSettings,
}

impl Object {
    /// Sets `disable_objects`.
    pub(super) fn disable_objects(&mut self, value: &Value) -> Result<(), RequestError> {
        self.subobjects = Some(!parse_disabled(value)?);
        self.says_disable_objects = true;
        Ok(())
    }

    /// Whether its fields have names with dots and no objects around them.
    pub fn is_flat(&self) -> bool {
        self.subobjects == Some(false)
    }

    /// Takes the objects apart that lie in objects without objects, at any depth.
    pub(super) fn settle_flat(&mut self, around: Around<'_>) -> Result<(), RequestError> {
        let dynamic = self.dynamic.unwrap_or(around.dynamic);
        if self.is_flat() {
            return self.flatten(Around { dynamic, ..around });
        }
        for (name, node) in &mut self.properties {
            if let Node::Object(inner) = node {
                inner.settle_flat(Around { path: &joined(around.path, name), dynamic, ..around })?;
            }
        }
        Ok(())
    }

    /// Gives the fields of the objects in this one names of this one.
    pub(super) fn flatten(&mut self, around: Around<'_>) -> Result<(), RequestError> {
        if around.dynamic.needs_template() {
            return Err(RequestError::unsupported(format_args!(
                "[subobjects: false] with [dynamic: {}]",
                around.dynamic.name()
            )));
        }
        let mut flat = BTreeMap::new();
        for (name, node) in std::mem::take(&mut self.properties) {
            put(&mut flat, name, node, around)?;
        }
        self.properties = flat;
        Ok(())
    }
}

/// Adds a property under a name in the flat object; if the property is an object, adds its properties
/// instead.
fn put(
    flat: &mut BTreeMap<String, Node>,
    name: String,
    node: Node,
    around: Around<'_>,
) -> Result<(), RequestError> {
    check_name(&name, around)?;
    let Node::Object(object) = node else {
        flat.insert(name, node);
        return Ok(());
    };
    check(&name, &object, around)?;
    for (inner, node) in object.properties {
        put(flat, format!("{name}.{inner}"), node, around)?;
    }
    Ok(())
}

/// Refuses an object that means more than names for its fields.
fn check(name: &str, object: &Object, around: Around<'_>) -> Result<(), RequestError> {
    if object.nested.is_some() {
        let parent = around.path.rsplit('.').next().unwrap_or_default();
        let parent = if parent.is_empty() { "_doc" } else { parent };
        return Err(mapper_parsing(format!(
            "Tried to add nested object [{name}] to object [{parent}] which does not support subobjects"
        )));
    }
    let failed = |why: String| {
        let path = joined(around.path, name);
        Err(RequestError::illegal_argument(format!(
            "Object mapper [{path}] was found in a context where subobjects is set to false. Auto-flattening \
             [{path}] failed because {why}"
        )))
    };
    let shown = |dynamic: Dynamic| dynamic.name().to_ascii_uppercase();
    match object.dynamic.filter(|dynamic| *dynamic != around.dynamic) {
        Some(dynamic) => {
            return failed(format!(
                "the value of [dynamic] ({}) is not compatible with the value from its parent context ({})",
                shown(dynamic),
                shown(around.dynamic)
            ));
        }
        None if object.enabled == Some(false) => {
            return failed("the value of [enabled] is [false]".to_owned());
        }
        None if object.subobjects == Some(true) => {
            return failed("the value of [subobjects] is [true]".to_owned());
        }
        None => {}
    }
    Ok(())
}
