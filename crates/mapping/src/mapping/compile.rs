//! Compiles a definition to the fields of an index. Fields keep their previous ids.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use super::series_plan::{SeriesPlan, TSID};
use super::visible::Visible;
use crate::date::DateFormat;
use crate::definition::field_build::build;
use crate::definition::{self, Root, SourceRule};
use crate::field::{Field, FieldId, Flattened, Leaf, Nested, SpaceId};
use crate::mapping::tree::{Intern, Tree};
use crate::settings::{MappingSettings, SourceMode};
use crate::synthetic::SyntheticPlan;
use crate::{RequestError, reserved};

/// The mapping of an index. Immutable: an update creates a new one, in which every field keeps its
/// [`FieldId`].
#[derive(Debug, Clone)]
pub struct Mapping {
    pub(super) settings: MappingSettings,
    pub(super) root: Arc<Root>,
    /// Keyed by id; ids are never reused.
    pub(super) fields: Vec<Arc<Field>>,
    pub(super) ids: HashMap<Arc<str>, FieldId>,
    /// Indexed by space, starting with the first nested one; never reused.
    pub(super) nested: Vec<Arc<Nested>>,
    /// Runtime fields by path; they take precedence over mapped fields with the same path.
    pub(super) runtime: BTreeMap<Arc<str>, Arc<Field>>,
    /// `_index`, once the name of the index is known. No pattern matches it.
    pub(super) index_field: Option<Arc<Field>>,
    pub(super) tree: Arc<Tree>,
    pub(super) date_formats: Vec<Arc<DateFormat>>,
    /// Fields of type `percolator`.
    pub(super) queries: Vec<Arc<Field>>,
    /// Fields with a script, by path.
    pub(super) scripted: Vec<Arc<Field>>,
    /// This mapping as the scripts of those fields see it.
    pub(super) seen_by_scripts: Option<Arc<Mapping>>,
    pub(super) source: SourceRule,
    /// Paths that are stored for stored fields besides the source.
    pub(super) stored: Arc<[String]>,
    /// The paths of the fields that are copied to a field, by its path.
    pub(super) copies: Arc<HashMap<Arc<str>, Vec<Arc<str>>>>,
    /// How the source is rebuilt; `Some` if the index has synthetic source.
    pub(super) synthetic: Option<Arc<SyntheticPlan>>,
    /// Whether each document must have exactly one `@timestamp`, as in a data stream.
    pub(super) has_timestamp: bool,
    /// How documents form series; `Some` in an index of time series.
    pub(crate) series: Option<Arc<SeriesPlan>>,
    pub(super) identity: u64,
    /// Which fields are visible; `Some` for a user who may not see all fields.
    pub(super) visible: Option<Visible>,
    /// See [`Mapping::longest_root`].
    pub(super) root_bytes_max: usize,
}

/// Formats that `date_detection` tries when `dynamic_date_formats` is not set (Elasticsearch's
/// `RootObjectMapper.Defaults.DYNAMIC_DATE_TIME_FORMATTERS`).
const DYNAMIC_DATE_FORMATS: [&str; 2] =
    ["strict_date_optional_time", "yyyy/MM/dd HH:mm:ss||yyyy/MM/dd||epoch_millis"];

/// Bytes that building a mapping takes for each field of the body: its definition, the field, its node in the
/// tree and its names. Measured: 3,600 for `text` with a multi-field, 2,900 for numbers.
const BUILT_BYTES_A_FIELD: u64 = 4_000;

/// Copies of the path of a field: its own, its node's and those of the tables by path.
const COPIES_OF_A_PATH: u64 = 6;

/// Checks that there is enough memory to build the fields of `body`.
fn claim_fields(body: &Value) -> Result<(), RequestError> {
    let paths = definition::path_bytes(body).saturating_mul(COPIES_OF_A_PATH);
    let fields = definition::field_count(body) as u64 * BUILT_BYTES_A_FIELD;
    Ok(limber_work::claim(fields.saturating_add(paths))?)
}

impl Mapping {
    /// Returns the mapping of an index that was created without one: everything is dynamic.
    pub fn empty(settings: &MappingSettings) -> Mapping {
        Mapping::compile(Root::default(), settings, None).expect("an empty definition exceeds no limit")
    }

    /// Parses the body of `mappings`.
    ///
    /// Errors: Elasticsearch's `mapper_parsing_exception`, or `illegal_argument_exception` for limits;
    /// `TooManyRequests` if there is not enough memory for its fields.
    pub fn parse(body: &Value, settings: &MappingSettings) -> Result<Mapping, RequestError> {
        claim_fields(body)?;
        let root = definition::parse(body, settings)?;
        definition::check_additions(&root, None, settings)?;
        let mapping = Mapping::compile(root, settings, None)?;
        mapping.check_copy_targets()?;
        mapping.check_shadows()?;
        Ok(mapping)
    }

    /// Like [`Mapping::parse`], for a body that was accepted earlier. Limits that have been lowered since
    /// apply to additions, not to its present content.
    ///
    /// Source: Elasticsearch, `MapperService.MergeReason#MAPPING_RECOVERY`.
    pub fn restore(body: &Value, settings: &MappingSettings) -> Result<Mapping, RequestError> {
        let mut unlimited = settings.clone();
        unlimited.limits.total_fields = usize::MAX;
        unlimited.limits.nested_fields = usize::MAX;
        unlimited.limits.nested_parents = usize::MAX;
        unlimited.limits.dimension_fields = usize::MAX;
        unlimited.limits.field_name_length = usize::MAX;
        unlimited.limits.depth = usize::MAX;
        let restored = Mapping::compile(definition::parse(body, &unlimited)?, &unlimited, None)?;
        restored.with_settings(settings)
    }

    /// Returns this mapping with the body of a `PUT _mapping` (or what [`crate::document::infer`] proposed)
    /// merged in. Fails as [`Mapping::parse`].
    pub fn merge(&self, body: &Value) -> Result<Mapping, RequestError> {
        claim_fields(body)?;
        let update = definition::parse(body, &self.settings)?;
        definition::check_additions(&update, Some(&self.root), &self.settings)?;
        let root = definition::merge(&self.root, &update, &self.settings)?;
        let merged = Mapping::compile(root, &self.settings, Some(self))?;
        if self.check_copy_targets().is_ok() {
            merged.check_copy_targets()?;
        }
        if self.check_shadows().is_ok() {
            merged.check_shadows()?;
        }
        Ok(merged)
    }

    /// Returns the same definition under changed index settings (limits, `coerce`, `ignore_malformed`).
    pub fn with_settings(&self, settings: &MappingSettings) -> Result<Mapping, RequestError> {
        Mapping::compile(Root::clone(&self.root), settings, Some(self))
    }

    /// Returns this mapping for the index with this name, so that the field `_index` can be queried.
    pub fn of_index(mut self, index: &str) -> Mapping {
        self.index_field = Some(reserved::index_field(index));
        self
    }

    /// Returns the body of `GET _mapping`: only what differs from the defaults, with properties sorted by
    /// name.
    pub fn to_json(&self) -> Value {
        definition::render(&self.root)
    }

    /// Returns this mapping with the runtime fields of a request (`runtime_mappings`), which take precedence
    /// over its own.
    ///
    /// Errors: Elasticsearch's `mapper_parsing_exception` and `illegal_argument_exception`.
    pub fn with_runtime(&self, section: &Value) -> Result<Mapping, RequestError> {
        let mut mapping = self.clone();
        let fields = definition::runtime::parse(section, false)?;
        self.check_runtime_of_request(&fields)?;
        mapping.add_runtime(&fields)?;
        Ok(mapping)
    }

    fn add_runtime(&mut self, fields: &definition::RuntimeFields) -> Result<(), RequestError> {
        for field in definition::runtime::compile(fields)? {
            self.runtime.insert(field.path.clone(), field);
        }
        Ok(())
    }

    /// Checks the targets of aliases. Source: `FieldAliasMapper#validate`.
    fn check_aliases(&self) -> Result<(), RequestError> {
        for (name, path) in &self.tree.aliases {
            let invalid =
                |why: &str| format!("Invalid [path] value [{path}] for field alias [{name}]: an alias {why}");
            let refused = |why| Err(RequestError::bad_request("mapper_parsing_exception", invalid(why)));
            if name == path {
                return refused("cannot refer to itself.");
            }
            if self.tree.aliases.contains_key(path) {
                return refused("cannot refer to another alias.");
            }
            if self.own_field(path).is_none() {
                return refused("must refer to an existing field in the mappings.");
            }
            let scope = |path: &str| self.nested_around(path).map(|nested| nested.path.clone());
            let why = match (scope(name), scope(path)) {
                (own, other) if own == other => continue,
                (None, Some(other)) => {
                    format!("The alias is not nested, but the target's nested scope is [{other}].")
                }
                (Some(own), None) => {
                    format!("The alias's nested scope is [{own}], but the target is not nested.")
                }
                (own, other) => format!(
                    "The alias's nested scope is [{}], but the target's nested scope is [{}].",
                    own.unwrap_or_default(),
                    other.unwrap_or_default()
                ),
            };
            return Err(RequestError::illegal_argument(invalid(&format!(
                "must have the same nested scope as its target. {why}"
            ))));
        }
        Ok(())
    }

    /// Returns the paths of values that must be stored for stored fields (`store: true`), if the whole source
    /// is not stored.
    fn find_stored(&self) -> Arc<[String]> {
        let lacks_source = self.source.mode == SourceMode::Disabled || self.source.filters();
        let own = self.fields.iter().skip(reserved::COUNT);
        let stored = own.filter(|field| lacks_source && field.store);
        let path = |field: &Arc<Field>| match field.path.rsplit_once('.') {
            // A multi-field has the values of its parent field.
            Some((parent, _))
                if self
                    .mapped_field(parent)
                    .is_some_and(|parent| parent.multi_fields.contains(&field.id)) =>
            {
                parent.to_owned()
            }
            _ => field.path.to_string(),
        };
        stored.map(path).collect()
    }

    /// Refuses `copy_to` to objects and multi-fields. Source: `FieldMapper#validateCopyTo`.
    fn check_copy_targets(&self) -> Result<(), RequestError> {
        for target in self.tree.leaves.iter().flat_map(|leaf| &leaf.field.copy_to) {
            let parent = target.rsplit_once('.').and_then(|(parent, _)| self.mapped_field(parent));
            let is_part = |id: &FieldId| parent.is_some_and(|parent| parent.multi_fields.contains(id));
            let why = if self.ids.get(target).is_some_and(is_part) {
                format!("[copy_to] may not be used to copy to a multi-field: [{target}]")
            } else if self.tree.is_object(target) {
                format!("Cannot copy to field [{target}] since it is mapped as an object")
            } else {
                continue;
            };
            return Err(RequestError::illegal_argument(why));
        }
        Ok(())
    }

    fn find_copies(&self) -> Arc<HashMap<Arc<str>, Vec<Arc<str>>>> {
        let mut copies: HashMap<Arc<str>, Vec<Arc<str>>> = HashMap::new();
        for leaf in &self.tree.leaves {
            for target in &leaf.field.copy_to {
                copies.entry(target.clone()).or_default().push(leaf.field.path.clone());
            }
        }
        Arc::new(copies)
    }

    /// Checks `join` fields. Source: `ParentJoinFieldMapper.TypeParser#checkIndexCompatibility`.
    fn check_joins(&self) -> Result<(), RequestError> {
        let joins = self.tree.leaves.iter().filter(|leaf| leaf.field.relations.is_some());
        let paths: Vec<&str> = joins.map(|leaf| &*leaf.field.path).collect();
        match paths.len() {
            0 | 1 => Ok(()),
            _ => Err(RequestError::illegal_argument(format!(
                "Only one [parent-join] field can be defined per index, got [{}]",
                paths.join(", ")
            ))),
        }
    }

    /// Finds how documents form series, in an index of time series.
    fn find_series(&mut self, root: &Root) -> Result<(), RequestError> {
        let settings = self.settings.clone();
        if settings.mode.has_series() {
            let tsid = Intern::field(self, &definition::tsid(), TSID)?;
            self.series = SeriesPlan::of(root, &self.tree, Some(tsid), &settings)?.map(Arc::new);
        }
        Ok(())
    }

    fn find_queries(&mut self) -> Result<(), RequestError> {
        let queries = self.fields.iter().filter(|field| field.has_queries());
        self.queries = queries.cloned().collect();
        match self.queries.iter().find(|field| self.nested_around(&field.path).is_some()) {
            None => Ok(()),
            Some(field) => Err(RequestError::unsupported(format!(
                "field [{}] of type [percolator] inside of nested documents",
                field.path
            ))),
        }
    }

    /// Finds the fields with a script. Their scripts see the whole document and no runtime fields.
    fn find_scripted(&mut self) -> Result<(), RequestError> {
        let mut scripted: Vec<Arc<Field>> = self
            .tree
            .leaves
            .iter()
            .map(|leaf| &leaf.field)
            .filter(|field| field.script.is_some())
            .cloned()
            .collect();
        scripted.sort_by(|left, right| left.path.cmp(&right.path));
        if let Some(field) = scripted.iter().find(|field| self.nested_around(&field.path).is_some()) {
            return Err(RequestError::unsupported(format!(
                "[script] on field [{}] inside of nested documents",
                field.path
            )));
        }
        if scripted.is_empty() {
            return Ok(());
        }
        self.seen_by_scripts = Some(Arc::new(Mapping {
            runtime: BTreeMap::new(),
            source: SourceRule { mode: SourceMode::Stored, includes: Vec::new(), excludes: Vec::new() },
            synthetic: None,
            ..self.clone()
        }));
        self.scripted = scripted;
        Ok(())
    }

    fn compile(
        mut root: Root,
        settings: &MappingSettings,
        previous: Option<&Mapping>,
    ) -> Result<Mapping, RequestError> {
        static IDENTITY: AtomicU64 = AtomicU64::new(1);
        root.object.settle_includes(true);
        definition::data_stream::check(&root, settings)?;
        let (fields, ids) = match previous {
            Some(previous) => (previous.fields.clone(), previous.ids.clone()),
            None => {
                let fields = reserved::fields();
                let ids = fields.iter().map(|field| (field.path.clone(), field.id)).collect();
                (fields, ids)
            }
        };
        let mut mapping = Mapping {
            settings: settings.clone(),
            root: Arc::default(),
            fields,
            ids,
            nested: previous.map_or_else(Vec::new, |previous| previous.nested.clone()),
            runtime: BTreeMap::new(),
            index_field: previous.and_then(|previous| previous.index_field.clone()),
            tree: Arc::default(),
            date_formats: Vec::new(),
            source: root.source.clone().unwrap_or_default().rule(settings).map_err(definition::wrapped)?,
            stored: Arc::from([]),
            copies: Arc::default(),
            synthetic: None,
            queries: Vec::new(),
            has_timestamp: root.data_stream_timestamp == Some(true),
            series: None,
            scripted: Vec::new(),
            seen_by_scripts: None,
            identity: IDENTITY.fetch_add(1, Ordering::Relaxed),
            visible: None,
            root_bytes_max: 0,
        };
        mapping.tree = Arc::new(Tree::grow(&root, &mut mapping)?);
        mapping.find_series(&root)?;
        mapping.root_bytes_max = mapping.longest_root();
        let formats: Vec<String> = match &root.dynamic_date_formats {
            Some(formats) => formats.clone(),
            None => DYNAMIC_DATE_FORMATS.iter().map(|format| (*format).to_owned()).collect(),
        };
        for format in &formats {
            mapping.date_formats.push(Arc::new(DateFormat::parse_list(format)?));
        }
        mapping.add_runtime(&root.runtime)?;
        mapping.find_queries()?;
        mapping.check_joins()?;
        (mapping.stored, mapping.copies) = (mapping.find_stored(), mapping.find_copies());
        mapping.check_aliases()?;
        if mapping.source.mode == SourceMode::Synthetic {
            if mapping.tree.objects.iter().any(|object| object.is_flat) {
                let what = "[subobjects: false] in an index with synthetic source";
                return Err(RequestError::unsupported(what));
            }
            let plan = SyntheticPlan::of(&root, &mapping);
            if let Some(before) = previous.and_then(|previous| previous.synthetic.as_deref()) {
                plan.check_update(before)?;
            }
            mapping.synthetic = Some(Arc::new(plan));
        }
        mapping.root = Arc::new(root);
        mapping.check_limits(previous)?;
        mapping.find_scripted()?;
        Ok(mapping)
    }

    /// Returns the length in bytes of the longest name of a flattened field or an alias; 0 if no flattened
    /// field exists.
    fn longest_root(&self) -> usize {
        let is_root = |field: &&Arc<Field>| matches!(field.flattened, Some(Flattened::Root { .. }));
        let roots = self.fields.iter().filter(is_root).map(|field| field.path.len());
        match roots.max() {
            None => 0,
            Some(longest) => self.tree.aliases.keys().map(|name| name.len()).max().unwrap_or(0).max(longest),
        }
    }

    /// Checks the limits. A count may exceed its limit if it did so before.
    fn check_limits(&self, previous: Option<&Mapping>) -> Result<(), RequestError> {
        let limits = &self.settings.limits;
        let (field_count, nested_count) = (self.total_fields(), self.nested.len());
        if field_count > limits.total_fields
            && previous.is_none_or(|previous| field_count > previous.total_fields())
        {
            return Err(definition::total_fields_exceeded(limits.total_fields));
        }
        if nested_count > limits.nested_fields
            && previous.is_none_or(|previous| nested_count > previous.nested.len())
        {
            return Err(definition::nested_fields_exceeded(limits.nested_fields));
        }
        let parent_count = self.nested_parents();
        if parent_count > limits.nested_parents
            && previous.is_none_or(|previous| parent_count > previous.nested_parents())
        {
            return Err(definition::nested_parents_exceeded(limits.nested_parents));
        }
        let dimension_count = self.dimension_fields();
        if dimension_count > limits.dimension_fields
            && previous.is_none_or(|previous| dimension_count > previous.dimension_fields())
        {
            return Err(definition::dimension_fields_exceeded(limits.dimension_fields));
        }
        Ok(())
    }

    /// Assigns a leaf its previous id, or the next free one.
    fn intern(
        &mut self,
        leaf: &Leaf,
        path: &str,
        settings: &MappingSettings,
    ) -> Result<Arc<Field>, RequestError> {
        let id = self.ids.get(path).copied().unwrap_or(FieldId(self.fields.len() as u32));
        let mut field = build(leaf, id, path, settings)?;
        for (name, sub) in &leaf.beside() {
            let sub_path = format!("{path}.{name}");
            // The parent gets its id first, so that it is lower than its multi-fields' ids.
            if !self.ids.contains_key(path) {
                self.ids.insert(field.path.clone(), id);
                self.fields.push(Arc::new(build(leaf, id, path, settings)?));
            }
            field.multi_fields.push(self.intern(sub, &sub_path, settings)?.id);
        }
        let field = Arc::new(field);
        match self.fields.get_mut(id.0 as usize) {
            Some(slot) => *slot = field.clone(),
            None => {
                self.ids.insert(field.path.clone(), id);
                self.fields.push(field.clone());
            }
        }
        Ok(field)
    }
}

impl Intern for Mapping {
    fn field(&mut self, leaf: &Leaf, path: &str) -> Result<Arc<Field>, RequestError> {
        let settings = self.settings.clone();
        self.intern(leaf, path, &settings)
    }

    fn nested(&mut self, path: &str, parent: SpaceId, include_in_root: bool) -> Arc<Nested> {
        if let Some(nested) = Mapping::nested(self, path) {
            return nested.clone();
        }
        let space = SpaceId(self.nested.len() as u32 + 1);
        let nested = Arc::new(Nested { space, path: Arc::from(path), parent, include_in_root });
        self.nested.push(nested.clone());
        nested
    }
}
