//! The nodes of a definition.

use std::collections::BTreeMap;

use serde_json::Value;

use super::runtime::RuntimeFields;
use super::source::SourceSection;
use super::templates::Template;
use crate::field::Leaf;
use crate::settings::Keep;

/// `dynamic`: how unmapped fields are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dynamic {
    /// They are added to the mapping.
    True,
    /// They are only kept in `_source`.
    False,
    /// The document is refused.
    Strict,
    /// They are added to the section `runtime`.
    Runtime,
    /// They are added if a dynamic template matches them; otherwise the document is refused (OpenSearch's).
    StrictAllowTemplates,
    /// They are added if a dynamic template matches them; otherwise they are only kept in `_source`
    /// (OpenSearch's).
    FalseAllowTemplates,
}

impl Dynamic {
    /// Returns the name that `GET _mapping` shows.
    pub fn name(self) -> &'static str {
        match self {
            Dynamic::True => "true",
            Dynamic::False => "false",
            Dynamic::Strict => "strict",
            Dynamic::Runtime => "runtime",
            Dynamic::StrictAllowTemplates => "strict_allow_templates",
            Dynamic::FalseAllowTemplates => "false_allow_templates",
        }
    }

    /// Whether fields are only added if a dynamic template matches them.
    pub(crate) fn needs_template(self) -> bool {
        matches!(self, Dynamic::StrictAllowTemplates | Dynamic::FalseAllowTemplates)
    }

    /// Whether fields may be added to the properties.
    pub(crate) fn adds_fields(self) -> bool {
        self == Dynamic::True || self.needs_template()
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Object {
    /// Set for an object of type `nested`.
    pub nested: Option<Includes>,
    pub dynamic: Option<Dynamic>,
    pub enabled: Option<bool>,
    /// `subobjects`: false where names with dots are names of fields.
    pub subobjects: Option<bool>,
    /// Whether the declaration says `disable_objects` instead, OpenSearch's name for the opposite.
    pub says_disable_objects: bool,
    /// `synthetic_source_keep`.
    pub keep: Option<Keep>,
    pub properties: BTreeMap<String, Node>,
}

/// The enclosing documents that also get the values of a nested object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Includes {
    /// `include_in_parent`: the enclosing document.
    pub parent: bool,
    /// `include_in_root`: the top-level document.
    pub root: bool,
}

impl Object {
    /// Removes `include_in_root` from the nested objects below whose values reach the root through their
    /// parents anyway. `is_included` says whether those of this object do.
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
    /// An alias for the field with this full path (type `alias`).
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
    /// `_field_names.enabled` (7.x, OpenSearch): whether the names of fields are indexed that have neither a
    /// column nor norms.
    pub field_names: Option<bool>,
    pub source: Option<SourceSection>,
    pub runtime: RuntimeFields,
}
