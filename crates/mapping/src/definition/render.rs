//! Renders a definition to JSON: the body of `GET _mapping`.

use serde_json::{Map, Value, json};

use super::source::SourceSection;
use super::tree::{Node, Object, Root};
use crate::field::{Leaf, Param};

/// Renders the members in Elasticsearch's order, without defaults, and with properties sorted by name.
pub(crate) fn render(root: &Root) -> Value {
    let mut body = Map::new();
    head(&root.object, &mut body);
    if let Some(meta) = &root.meta {
        body.insert("_meta".into(), meta.clone());
    }
    if let Some(source) = root.source.as_ref().and_then(SourceSection::to_json) {
        body.insert("_source".into(), source);
    }
    if root.routing_required == Some(true) {
        body.insert("_routing".into(), json!({"required": true}));
    }
    if root.data_stream_timestamp == Some(true) {
        body.insert("_data_stream_timestamp".into(), json!({"enabled": true}));
    }
    if let Some(enabled) = root.field_names {
        body.insert("_field_names".into(), json!({"enabled": enabled}));
    }
    if let Some(formats) = &root.dynamic_date_formats {
        body.insert("dynamic_date_formats".into(), json!(formats));
    }
    if let Some(templates) = &root.dynamic_templates {
        body.insert(
            "dynamic_templates".into(),
            templates.iter().map(|template| template.to_json()).collect(),
        );
    }
    if let Some(flag) = root.date_detection {
        body.insert("date_detection".into(), flag.into());
    }
    if let Some(flag) = root.numeric_detection {
        body.insert("numeric_detection".into(), flag.into());
    }
    for (section, is_derived) in [("derived", true), ("runtime", false)] {
        let fields = super::runtime::render(&root.runtime, is_derived);
        if !fields.is_empty() {
            body.insert(section.into(), fields.into());
        }
    }
    properties(&root.object, &mut body);
    Value::Object(body)
}

fn head(object: &Object, body: &mut Map<String, Value>) {
    if let Some(dynamic) = object.dynamic {
        body.insert("dynamic".into(), dynamic.name().into());
    }
    if object.enabled == Some(false) {
        body.insert("enabled".into(), false.into());
    }
    match object.subobjects {
        Some(subobjects) if object.says_disable_objects => {
            body.insert("disable_objects".into(), (!subobjects).into());
        }
        Some(subobjects) => drop(body.insert("subobjects".into(), subobjects.into())),
        None => {}
    }
    if let Some(keep) = object.keep {
        body.insert("synthetic_source_keep".into(), keep.name().into());
    }
}

fn properties(object: &Object, body: &mut Map<String, Value>) {
    if object.properties.is_empty() {
        return;
    }
    let nodes = object
        .properties
        .iter()
        .map(|(name, node)| {
            let json = match node {
                Node::Leaf(leaf) => self::leaf(leaf),
                Node::Alias(path) => json!({"type": "alias", "path": path}),
                Node::Object(object) => {
                    let mut body = Map::new();
                    match &object.nested {
                        Some(includes) => {
                            body.insert("type".into(), "nested".into());
                            for (name, flag) in
                                [("include_in_parent", includes.parent), ("include_in_root", includes.root)]
                            {
                                if flag {
                                    body.insert(name.into(), true.into());
                                }
                            }
                        }
                        None if object.properties.is_empty() => {
                            body.insert("type".into(), "object".into());
                        }
                        None => {}
                    }
                    head(object, &mut body);
                    properties(object, &mut body);
                    Value::Object(body)
                }
            };
            (name.clone(), json)
        })
        .collect();
    body.insert("properties".into(), Value::Object(nodes));
}

fn leaf(leaf: &Leaf) -> Value {
    let mut body = Map::new();
    body.insert("type".into(), leaf.kind.name().into());
    let is_shown = |param: &&Param| !leaf.kind.never_shown().contains(&param.name);
    for param in leaf.kind.params().iter().filter(is_shown) {
        if let Some(value) = leaf.params.get(param.name) {
            body.insert(param.name.into(), value.clone());
        }
    }
    if !leaf.fields.is_empty() {
        let fields = leaf.fields.iter().map(|(name, field)| (name.clone(), self::leaf(field))).collect();
        body.insert("fields".into(), Value::Object(fields));
    }
    if !leaf.copy_to.is_empty() {
        body.insert("copy_to".into(), json!(leaf.copy_to));
    }
    Value::Object(body)
}
