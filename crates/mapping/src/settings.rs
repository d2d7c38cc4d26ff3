//! The index settings that concern the mapping: limits, defaults, analyzers.

use std::sync::Arc;

use crate::RequestError;
use crate::analysis::Analyzers;
use crate::similarity::Similarities;

/// Limits for mappings and documents: Elasticsearch's `index.mapping.*` settings and their defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// `index.mapping.total_fields.limit`: leaf fields, multi-fields and objects together.
    pub total_fields: usize,
    /// `index.mapping.total_fields.ignore_dynamic_beyond_limit`: fields of documents beyond that limit are
    /// left out of the mapping and listed in `_ignored`.
    pub ignores_beyond: bool,
    /// `index.mapping.depth.limit`: nesting levels of objects; the root is the first.
    pub depth: usize,
    /// `index.mapping.field_name_length.limit`: UTF-16 units of one path segment.
    pub field_name_length: usize,
    /// `index.mapping.nested_fields.limit`: objects of type `nested` in a mapping.
    pub nested_fields: usize,
    /// `index.mapping.nested_parents.limit`: levels right above an object of type `nested`, with the root.
    pub nested_parents: usize,
    /// `index.mapping.dimension_fields.limit`: fields that are dimensions of time series.
    pub dimension_fields: usize,
    /// `index.mapping.nested_objects.limit`: nested documents in one document.
    pub nested_objects: usize,
    /// Nesting levels of `{` and `[` in a document (Jackson's `StreamReadConstraints`: 1,000).
    pub json_depth: usize,
}

/// Maximum number of object levels whatever the setting says, because trees are walked by recursion.
const OBJECT_LEVELS_MAX: usize = 200;

impl Limits {
    /// Returns the effective limit of object levels.
    pub(crate) fn object_levels(&self) -> usize {
        self.depth.min(OBJECT_LEVELS_MAX)
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            total_fields: 1000,
            ignores_beyond: false,
            depth: 20,
            field_name_length: usize::MAX,
            nested_fields: 50,
            nested_parents: 50,
            dimension_fields: 32_768,
            nested_objects: 10_000,
            json_depth: 1000,
        }
    }
}

/// Index settings that a mapping is parsed under. Cheap to clone.
#[derive(Debug, Clone)]
pub struct MappingSettings {
    /// `index.mapping.*.limit` and similar settings.
    pub limits: Limits,
    /// `index.mapping.coerce`, the default of `coerce` for numbers.
    pub coerce: bool,
    /// The same setting as the default of `coerce` for shapes, which is off unless the index sets it.
    pub coerce_shapes: bool,
    /// `index.mapping.ignore_malformed`, the default of `ignore_malformed`.
    pub ignore_malformed: bool,
    /// `analysis`: the built-in analyzers plus the index's own.
    pub analyzers: Arc<Analyzers>,
    /// `index.similarity.*`.
    pub similarities: Arc<Similarities>,
    /// `index.mapping.source.mode`.
    pub source_mode: SourceMode,
    /// `index.mapping.ignore_above`, the default of `ignore_above`; `None` is no limit.
    pub ignore_above: Option<u32>,
    /// `index.mapping.synthetic_source_keep`, the default of fields and objects.
    pub keep: Keep,
    /// `index.mode`.
    pub mode: IndexMode,
}

/// `index.mode`: what the documents of an index are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum IndexMode {
    /// Any documents.
    #[default]
    Standard,
    /// Measurements with a timestamp. Those with the same dimensions form a series.
    TimeSeries {
        /// `index.routing_path`: patterns of the dimensions that choose a document's shard.
        routing_path: Arc<[String]>,
    },
    /// Log lines with a timestamp, sorted by host and time.
    LogsDb,
    /// Documents that other indices are joined with, in one shard.
    Lookup,
}

impl IndexMode {
    /// All values of the setting.
    pub const NAMES: [&'static str; 4] = ["standard", "time_series", "logsdb", "lookup"];

    /// Returns the value of the setting.
    pub fn name(&self) -> &'static str {
        match self {
            IndexMode::Standard => "standard",
            IndexMode::TimeSeries { .. } => "time_series",
            IndexMode::LogsDb => "logsdb",
            IndexMode::Lookup => "lookup",
        }
    }

    /// Whether each document must have exactly one `@timestamp`.
    pub fn has_timestamp(&self) -> bool {
        matches!(self, IndexMode::TimeSeries { .. } | IndexMode::LogsDb)
    }

    /// Whether documents form time series.
    pub fn has_series(&self) -> bool {
        matches!(self, IndexMode::TimeSeries { .. })
    }
}

/// What is stored of a document's JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SourceMode {
    /// The JSON is stored unchanged.
    #[default]
    Stored,
    /// Nothing is stored.
    Disabled,
    /// It is reconstructed from columns; the parts that columns cannot provide are stored.
    Synthetic,
}

impl SourceMode {
    /// Parses the setting, ignoring case. An unknown mode gives Elasticsearch's error.
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

    /// Returns the name that `GET _settings` shows.
    pub fn name(self) -> &'static str {
        match self {
            SourceMode::Stored => "stored",
            SourceMode::Disabled => "disabled",
            SourceMode::Synthetic => "synthetic",
        }
    }
}

/// `synthetic_source_keep`: what is stored of the JSON of a field or object besides its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// Nothing.
    #[default]
    None,
    /// Arrays, unchanged.
    Arrays,
    /// Everything.
    All,
}

impl Keep {
    /// Parses the setting; an unknown value is an error.
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

    /// Returns the name that `GET _mapping` shows.
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
            ignore_above: None,
            keep: Keep::default(),
            mode: IndexMode::default(),
        }
    }
}
