//! Time series: "which fields identify a series, and which of them choose its shard?"
//!
//! In an index of the mode `time_series`, documents with the same dimensions form a series. The index is
//! sorted by the id of the series, `_tsid`. The id of a document consists of the series, the timestamp, and a
//! hash of the dimensions that choose its shard.

use std::collections::HashSet;
use std::sync::Arc;

use limber_text::wildcard;

use super::Mapping;
use crate::definition::data_stream::TIMESTAMP;
use crate::definition::{Root, RuntimeFields};
use crate::field::{Field, Flattened};
use crate::json::java::mapper_parsing;
use crate::mapping::tree::{SingleValued, Tree};
use crate::settings::{IndexMode, MappingSettings};
use crate::{RequestError, definition};

/// The field that holds the id of a document's series.
pub const TSID: &str = "_tsid";

impl Mapping {
    /// Refuses runtime fields of the mapping with the names of dimensions or metrics.
    pub(super) fn check_shadows(&self) -> Result<(), RequestError> {
        self.runtime.keys().try_for_each(|name| self.check_shadow(name))
    }

    /// Refuses runtime fields of a request that would change what a series is. Source:
    /// `SearchExecutionContext#parseRuntimeMappings`.
    pub(super) fn check_runtime_of_request(&self, fields: &RuntimeFields) -> Result<(), RequestError> {
        let is_routing = |name: &&String| self.series.as_ref().is_some_and(|plan| plan.is_routing(name));
        if let Some(name) = fields.keys().find(is_routing) {
            return Err(RequestError::illegal_argument(format!(
                "runtime fields may not match [routing_path] but [{name}] matched"
            )));
        }
        fields.keys().try_for_each(|name| self.check_shadow(name))
    }

    /// Source: `MappingLookup#validateDoesNotShadow`.
    fn check_shadow(&self, name: &str) -> Result<(), RequestError> {
        let is_key = self.series.as_ref().is_some_and(|plan| plan.dimensions.contains(name));
        let what = if is_key || self.parameter(name, "time_series_dimension") == Some(true.into()) {
            "time_series_dimension"
        } else if self.parameter(name, "time_series_metric").is_some_and(|metric| !metric.is_null()) {
            "time_series_metric"
        } else {
            return Ok(());
        };
        Err(mapper_parsing(format!("Field [{name}] attempted to shadow a {what}")))
    }
}

/// What the mapping of an index of time series says about series.
#[derive(Debug)]
pub(crate) struct SeriesPlan {
    /// Paths of the dimensions. A key of a flattened field has the path `field.key`.
    pub dimensions: HashSet<Arc<str>>,
    /// `index.routing_path`: patterns of the dimensions that choose the shard.
    pub routing_path: Arc<[String]>,
    /// The field `@timestamp`.
    pub timestamp: Arc<Field>,
    /// The field `_tsid`.
    pub tsid: Arc<Field>,
    /// Whether a field that is not mapped yet may become a dimension.
    pub may_grow: bool,
}

impl SeriesPlan {
    /// Returns the plan of an index of time series, or `None` for an index of another mode.
    ///
    /// # Errors
    /// The mapping has nested fields, requires a routing, has no timestamp, or its routing path matches a
    /// field that is no dimension. The messages are Elasticsearch's.
    pub fn of(
        root: &Root,
        tree: &Tree,
        tsid: Option<Arc<Field>>,
        settings: &MappingSettings,
    ) -> Result<Option<SeriesPlan>, RequestError> {
        let (IndexMode::TimeSeries { routing_path }, Some(tsid)) = (&settings.mode, tsid) else {
            return Ok(None);
        };
        let refused = |why: &str| Err(RequestError::illegal_argument(why));
        if tree.objects.iter().any(|object| object.nested.is_some()) {
            return refused("cannot have nested fields when index is in [index.mode=time_series]");
        }
        if root.routing_required == Some(true) {
            return refused(
                "routing is forbidden on CRUD operations that target indices in [index.mode=time_series]",
            );
        }
        let mut timestamp = None;
        let mut dimensions = HashSet::new();
        for leaf in &tree.leaves {
            let field = &leaf.field;
            if *field.path == *TIMESTAMP {
                timestamp = Some(field.clone());
            }
            if leaf.single_valued == SingleValued::Dimension {
                dimensions.insert(field.path.clone());
            }
            let is_keyed = matches!(field.flattened, Some(Flattened::Root { .. }));
            let keys = definition::series_keys(root, &field.path).into_iter().filter(|_| is_keyed);
            dimensions.extend(keys.map(|key| Arc::from(format!("{}.{key}", field.path))));
        }
        let Some(timestamp) = timestamp else {
            return refused("data stream timestamp field [@timestamp] does not exist");
        };
        let plan = SeriesPlan {
            dimensions,
            routing_path: routing_path.clone(),
            timestamp,
            tsid,
            may_grow: root.dynamic_templates.iter().flatten().any(|template| template.makes_dimensions()),
        };
        plan.check_routing(tree)?;
        Ok(Some(plan))
    }

    /// Source: `IndexMode#TIME_SERIES`, `FieldMapper#validateMatchedRoutingPath`.
    fn check_routing(&self, tree: &Tree) -> Result<(), RequestError> {
        let refused = |what: String| {
            Err(RequestError::illegal_argument(format!(
                "All fields that match routing_path must be configured with [time_series_dimension: true] or flattened fields with a list of \
                 dimensions in [time_series_dimensions] and without the [script] parameter. {what}"
            )))
        };
        for leaf in tree.leaves.iter().filter(|leaf| !leaf.field.is_part && !leaf.field.is_hidden) {
            let field = &leaf.field;
            if !self.is_routing(&field.path) || matches!(field.flattened, Some(Flattened::Keyed)) {
                continue;
            }
            let has_keys = self
                .dimensions
                .iter()
                .any(|path| path.strip_prefix(&*field.path).is_some_and(|rest| rest.starts_with('.')));
            if leaf.is_scripted {
                return refused(format!("[{}] has a [script] parameter.", field.path));
            }
            if !self.dimensions.contains(&field.path) && !has_keys {
                let type_name = field.type_name();
                return refused(match type_name {
                    "keyword" | "ip" | "long" | "integer" | "short" | "byte" | "boolean"
                    | "unsigned_long" => {
                        format!("[{}] was not a dimension.", field.path)
                    }
                    _ => format!("[{}] was [{type_name}].", field.path),
                });
            }
        }
        Ok(())
    }

    /// Whether the value at this path chooses the shard.
    pub fn is_routing(&self, path: &str) -> bool {
        self.routing_path.iter().any(|pattern| wildcard::matches(pattern, path))
    }
}
