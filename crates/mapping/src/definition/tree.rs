//! The nodes of a definition.

use std::collections::BTreeMap;

use serde_json::Value;

use super::runtime::RuntimeFields;
use super::source::SourceSection;
use super::templates::Template;
use crate::field::Leaf;
use crate::settings::Keep;

/// `dynamic`: what to do with a field that the mapping does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dynamic {
    /// Add it to the mapping.
    True,
    /// Keep it in `_source` only.
    False,
    /// Refuse the document.
    Strict,
    /// Add it to the section `runtime`.
    Runtime,
}

impl Dynamic {
    /// As `GET _mapping` shows it.
    pub fn name(self) -> &'static str {
        match self {
            Dynamic::True => "true",
            Dynamic::False => "false",
            Dynamic::Strict => "strict",
            Dynamic::Runtime => "runtime",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Object {
    /// Of an object of type `nested`.
    pub nested: Option<Includes>,
    pub dynamic: Option<Dynamic>,
    pub enabled: Option<bool>,
    /// `subobjects`: false where names with dots are names of fields.
    pub subobjects: Option<bool>,
    /// `synthetic_source_keep`.
    pub keep: Option<Keep>,
    pub properties: BTreeMap<String, Node>,
}

/// Which documents around a nested object get its values as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Includes {
    /// `include_in_parent`: to the document around.
    pub parent: bool,
    /// `include_in_root`: to the document that holds everything.
    pub root: bool,
}

impl Object {
    /// Drops `include_in_root` from the nested objects below whose values come to the root through their
    /// parents anyway. `is_included`: those of this object do.
    ///
    /// Source: `NestedObjectMapper`, `RootObjectMapper#fixRedundantIncludes`.
    pub fn settle_includes(&mut self, is_included: bool) {
        for node in self.properties.values_mut() {
            let Node::Object(object) = node else { continue };
            let mut reaches_root = is_included;
            if let Some(includes) = &mut object.nested {
                let by_parent = is_included && includes.parent;
                reaches_root = by_parent || includes.root;
                includes.root &= !by_parent;
            }
            object.settle_includes(reaches_root);
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Object(Object),
    Leaf(Leaf),
    /// Another name for the field of this full path (type `alias`).
    Alias(String),
}

/// The whole of `mappings`.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Root {
    pub object: Object,
    pub date_detection: Option<bool>,
    pub numeric_detection: Option<bool>,
    pub dynamic_date_formats: Option<Vec<String>>,
    pub dynamic_templates: Option<Vec<Template>>,
    pub meta: Option<Value>,
    pub routing_required: Option<bool>,
    /// `_data_stream_timestamp`: each document has exactly one `@timestamp`.
    pub data_stream_timestamp: Option<bool>,
    pub source: Option<SourceSection>,
    pub runtime: RuntimeFields,
}
