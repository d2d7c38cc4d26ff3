//! What an index's settings say about its mapping: limits, defaults, analyzers.

use std::sync::Arc;

use crate::analysis::Analyzers;

/// Limits on what a mapping or a document may ask for; Elasticsearch's `index.mapping.*` settings and their defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// `index.mapping.total_fields.limit`: leaf fields, multi-fields and objects together.
    pub total_fields: usize,
    /// `index.mapping.depth.limit`: levels of objects, the root is the first.
    pub depth: usize,
    /// `index.mapping.field_name_length.limit`: UTF-16 units of one path segment.
    pub field_name_length: usize,
    /// `index.mapping.nested_fields.limit`: objects of type `nested` in a mapping.
    pub nested_fields: usize,
    /// `index.mapping.nested_objects.limit`: nested documents that one document may hold.
    pub nested_objects: usize,
    /// Levels of `{` and `[` in a document (Jackson's `StreamReadConstraints`: 1,000).
    pub json_depth: usize,
}

/// Levels of objects that may be had whatever the setting says: trees are walked by recursion.
const OBJECT_LEVELS_MAX: usize = 200;

impl Limits {
    /// Levels of objects in force.
    pub(crate) fn object_levels(&self) -> usize {
        self.depth.min(OBJECT_LEVELS_MAX)
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            total_fields: 1000,
            depth: 20,
            field_name_length: usize::MAX,
            nested_fields: 50,
            nested_objects: 10_000,
            json_depth: 1000,
        }
    }
}

/// Index settings that a mapping is parsed under. Cheap to clone.
#[derive(Debug, Clone)]
pub struct MappingSettings {
    pub limits: Limits,
    /// `index.mapping.coerce`, the default of numbers' `coerce`.
    pub coerce: bool,
    /// `index.mapping.ignore_malformed`, the default of `ignore_malformed`.
    pub ignore_malformed: bool,
    /// `analysis`: the built-in analyzers plus the index's own.
    pub analyzers: Arc<Analyzers>,
}

impl Default for MappingSettings {
    fn default() -> MappingSettings {
        MappingSettings {
            limits: Limits::default(),
            coerce: true,
            ignore_malformed: false,
            analyzers: Arc::new(Analyzers::built_in()),
        }
    }
}
