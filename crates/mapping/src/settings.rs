//! What an index's settings say about its mapping: limits, defaults, analyzers.

use std::sync::Arc;

use crate::RequestError;
use crate::analysis::Analyzers;
use crate::similarity::Similarities;

/// Limits on what a mapping or a document may ask for; Elasticsearch's `index.mapping.*` settings and their
/// defaults.
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
    /// `index.mapping.*.limit` and its like.
    pub limits: Limits,
    /// `index.mapping.coerce`, the default of numbers' `coerce`.
    pub coerce: bool,
    /// The same setting as the default of shapes' `coerce`, which is off unless the index says otherwise.
    pub coerce_shapes: bool,
    /// `index.mapping.ignore_malformed`, the default of `ignore_malformed`.
    pub ignore_malformed: bool,
    /// `analysis`: the built-in analyzers plus the index's own.
    pub analyzers: Arc<Analyzers>,
    /// `index.similarity.*`.
    pub similarities: Arc<Similarities>,
    /// `index.mapping.source.mode`.
    pub source_mode: SourceMode,
    /// `index.mapping.synthetic_source_keep`, the default of fields and objects.
    pub keep: Keep,
}

/// What becomes of a document's JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SourceMode {
    /// It is kept as it came.
    #[default]
    Stored,
    /// Nothing is kept.
    Disabled,
    /// It is made again from columns; what they cannot give is kept.
    Synthetic,
}

impl SourceMode {
    /// Reads the setting, in any case. An unknown mode is an error in Elasticsearch's words.
    pub fn parse(text: &str) -> Result<SourceMode, RequestError> {
        match text.to_ascii_uppercase().as_str() {
            "STORED" => Ok(SourceMode::Stored),
            "DISABLED" => Ok(SourceMode::Disabled),
            "SYNTHETIC" => Ok(SourceMode::Synthetic),
            other => Err(RequestError::illegal_argument(format!(
                "No enum constant org.elasticsearch.index.mapper.SourceFieldMapper.Mode.{other}"
            ))),
        }
    }

    /// As `GET _settings` shows it.
    pub fn name(self) -> &'static str {
        match self {
            SourceMode::Stored => "stored",
            SourceMode::Disabled => "disabled",
            SourceMode::Synthetic => "synthetic",
        }
    }
}

/// `synthetic_source_keep`: what is kept of the JSON of a field or object beside its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// Nothing.
    #[default]
    None,
    /// Arrays, as they came.
    Arrays,
    /// All of it.
    All,
}

impl Keep {
    /// Reads the setting; an unknown value is an error.
    pub fn parse(text: &str) -> Result<Keep, RequestError> {
        match text {
            "none" => Ok(Keep::None),
            "arrays" => Ok(Keep::Arrays),
            "all" => Ok(Keep::All),
            other => Err(RequestError::illegal_argument(format!(
                "Unknown synthetic_source_keep value [{other}], accepted values are [none,arrays,all]"
            ))),
        }
    }

    /// As `GET _mapping` shows it.
    pub fn name(self) -> &'static str {
        match self {
            Keep::None => "none",
            Keep::Arrays => "arrays",
            Keep::All => "all",
        }
    }
}

impl Default for MappingSettings {
    fn default() -> MappingSettings {
        MappingSettings {
            limits: Limits::default(),
            coerce: true,
            coerce_shapes: false,
            ignore_malformed: false,
            analyzers: Arc::new(Analyzers::built_in()),
            similarities: Arc::default(),
            source_mode: SourceMode::default(),
            keep: Keep::default(),
        }
    }
}
