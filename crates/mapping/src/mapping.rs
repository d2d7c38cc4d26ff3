//! One index's mapping, compiled: "which field is this path, and what becomes of its values?"

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use crate::RequestError;
use crate::date::DateFormat;
use crate::definition::{self, Dynamic, Node, Root, SourceRule, Template};
use crate::field::{Field, FieldId, FieldType, Flattened, Nested, RuntimeScript, SpaceId, keyed_path};
use crate::range::RangeKind;
use crate::reserved;
use crate::settings::{MappingSettings, SourceMode};
use crate::synthetic::SyntheticPlan;
use crate::tree::{Intern, ObjectNode, Tree, scalar_of};
use crate::typed::{OwnedScalar, Shape};
use crate::wildcard;

/// The fields of an index. Immutable: an update makes a new one, in which every field keeps its [`FieldId`].
#[derive(Debug, Clone)]
pub struct Mapping {
    settings: MappingSettings,
    root: Arc<Root>,
    /// By id; ids are never reused.
    fields: Vec<Arc<Field>>,
    ids: HashMap<Arc<str>, FieldId>,
    /// By space, from the first on; never reused.
    nested: Vec<Arc<Nested>>,
    /// Runtime fields by path; they stand before mapped ones of the same path.
    runtime: BTreeMap<Arc<str>, Arc<Field>>,
    /// `_index`, as soon as the name of the index is known. No pattern finds it.
    index_field: Option<Arc<Field>>,
    tree: Arc<Tree>,
    date_formats: Vec<Arc<DateFormat>>,
    /// Fields of queries.
    queries: Vec<Arc<Field>>,
    source: SourceRule,
    /// Of an index with synthetic source.
    synthetic: Option<Arc<SyntheticPlan>>,
    identity: u64,
}

/// Formats that `date_detection` tries when `dynamic_date_formats` is not set (Elasticsearch's
/// `RootObjectMapper.Defaults.DYNAMIC_DATE_TIME_FORMATTERS`).
const DYNAMIC_DATE_FORMATS: [&str; 2] =
    ["strict_date_optional_time", "yyyy/MM/dd HH:mm:ss||yyyy/MM/dd||epoch_millis"];

impl Mapping {
    /// The mapping of an index created without one: everything is dynamic.
    pub fn empty(settings: &MappingSettings) -> Mapping {
        Mapping::compile(Root::default(), settings, None).expect("an empty definition exceeds no limit")
    }

    /// Parses the body of `mappings`.
    ///
    /// Errors: `mapper_parsing_exception`, or `illegal_argument_exception` for limits, in Elasticsearch's words.
    pub fn parse(body: &Value, settings: &MappingSettings) -> Result<Mapping, RequestError> {
        Mapping::compile(definition::parse(body, settings)?, settings, None)
    }

    /// This mapping with the body of a `PUT _mapping` (or what [`crate::document::infer`] proposed) merged in.
    pub fn merge(&self, body: &Value) -> Result<Mapping, RequestError> {
        let update = definition::parse(body, &self.settings)?;
        let root = definition::merge(&self.root, &update)?;
        Mapping::compile(root, &self.settings, Some(self))
    }

    /// The same definition under changed index settings (limits, `coerce`, `ignore_malformed`).
    pub fn with_settings(&self, settings: &MappingSettings) -> Result<Mapping, RequestError> {
        Mapping::compile(Root::clone(&self.root), settings, Some(self))
    }

    /// This mapping as that of the index of this name, in which the field `_index` can be asked for.
    pub fn of_index(mut self, index: &str) -> Mapping {
        self.index_field = Some(reserved::index_field(index));
        self
    }

    /// The body of `GET _mapping`: only what differs from the defaults, properties sorted by name.
    pub fn to_json(&self) -> Value {
        definition::render(&self.root)
    }

    /// This mapping with the runtime fields of a request (`runtime_mappings`) before its own.
    ///
    /// Errors: `mapper_parsing_exception` and `illegal_argument_exception` in Elasticsearch's words.
    pub fn with_runtime(&self, section: &Value) -> Result<Mapping, RequestError> {
        let mut mapping = self.clone();
        let fields = definition::runtime::parse(section, false)?;
        mapping.add_runtime(&fields)?;
        Ok(mapping)
    }

    fn add_runtime(&mut self, fields: &definition::RuntimeFields) -> Result<(), RequestError> {
        for field in definition::runtime::compile(fields)? {
            self.runtime.insert(field.path.clone(), field);
        }
        Ok(())
    }

    /// The runtime fields, by path.
    pub fn runtime_fields(&self) -> impl Iterator<Item = &Arc<Field>> {
        self.runtime.values()
    }

    /// The field (runtime fields, multi-fields and reserved ones included) at this full path, or that an alias of this name stands
    /// for.
    pub fn field(&self, path: &str) -> Option<Arc<Field>> {
        let own = self.own_field(path).or_else(|| self.own_field(self.alias(path)?));
        let own = own.filter(|field| field.flattened != Some(Flattened::Keyed));
        let own = own.or_else(|| self.index_field.as_ref().filter(|field| *field.path == *path));
        own.cloned().or_else(|| self.key(path))
    }

    /// The key of a flattened field, or of an alias of one, that has this full path.
    fn key(&self, path: &str) -> Option<Arc<Field>> {
        let parents = path.match_indices('.').map(|(dot, _)| (&path[..dot], &path[dot + 1..]));
        parents.into_iter().find_map(|(parent, key)| {
            let root = self.own_field(parent).or_else(|| self.own_field(self.alias(parent)?))?;
            if !matches!(root.flattened, Some(Flattened::Root { .. })) {
                return None;
            }
            let keyed = self.mapped_field(&keyed_path(&root.path))?;
            Some(Arc::new(Field {
                path: format!("{}.{key}", root.path).into(),
                index: root.index,
                doc_values: root.doc_values,
                splits_queries: root.splits_queries,
                flattened: Some(Flattened::Key),
                ..Field::bare(keyed.id, keyed.path.clone(), FieldType::Keyword)
            }))
        })
    }

    fn own_field(&self, path: &str) -> Option<&Arc<Field>> {
        self.runtime.get(path).or_else(|| self.mapped_field(path))
    }

    /// The path that an alias of this name stands for.
    pub fn alias(&self, name: &str) -> Option<&Arc<str>> {
        self.tree.aliases.get(name)
    }

    /// The aliases by name, and the fields that they stand for.
    pub fn aliases(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<Field>)> {
        self.tree.aliases.iter().filter_map(|(name, path)| Some((name, self.own_field(path)?)))
    }

    /// Source: `FieldAliasMapper#validate`.
    fn check_aliases(&self) -> Result<(), RequestError> {
        for (name, path) in &self.tree.aliases {
            let invalid =
                |why: &str| format!("Invalid [path] value [{path}] for field alias [{name}]: an alias {why}");
            let refused = |why| Err(RequestError::new(400, "mapper_parsing_exception", invalid(why)));
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

    /// The leaf field that documents feed (multi-fields and reserved ones included) at this full path.
    pub fn mapped_field(&self, path: &str) -> Option<&Arc<Field>> {
        self.ids.get(path).map(|id| &self.fields[id.0 as usize])
    }

    /// Panics when the id is of another index.
    pub fn field_by_id(&self, id: FieldId) -> &Arc<Field> {
        &self.fields[id.0 as usize]
    }

    /// All fields, by id; the first [`reserved::COUNT`] are the reserved ones.
    pub fn fields(&self) -> &[Arc<Field>] {
        &self.fields
    }

    /// Stored fields are read from the source, so that there must be one.
    fn check_stored_fields(&self) -> Result<(), RequestError> {
        let lacks_source = self.source.mode == SourceMode::Disabled || self.source.filters();
        let mut own = self.fields.iter().skip(reserved::COUNT);
        match own.find(|field| lacks_source && field.store) {
            None => Ok(()),
            Some(field) => Err(RequestError::unsupported(format!(
                "[store] on field [{}] of an index that does not keep the whole [_source]",
                field.path
            ))),
        }
    }

    /// What is kept of documents' JSON.
    pub fn source(&self) -> &SourceRule {
        &self.source
    }

    /// How documents' JSON is made again; `None` where it is kept or not.
    pub fn synthetic(&self) -> Option<&Arc<SyntheticPlan>> {
        self.synthetic.as_ref()
    }

    /// The fields of type `percolator`: whoever writes a document adds what finds their queries.
    pub fn queries(&self) -> &[Arc<Field>] {
        &self.queries
    }

    fn find_queries(&mut self) -> Result<(), RequestError> {
        let queries = self.fields.iter().filter(|field| field.kind == FieldType::Query);
        self.queries = queries.cloned().collect();
        match self.queries.iter().find(|field| self.nested_around(&field.path).is_some()) {
            None => Ok(()),
            Some(field) => Err(RequestError::unsupported(format!(
                "field [{}] of type [percolator] inside of nested documents",
                field.path
            ))),
        }
    }

    /// The object at this full path; "" is the root.
    pub fn object(&self, path: &str) -> Option<&ObjectNode> {
        self.tree.objects.iter().find(|object| &*object.path == path)
    }

    /// All nested objects; that of [`crate::SpaceId`] `n` is at `n - 1`.
    pub fn nested_objects(&self) -> &[Arc<Nested>] {
        &self.nested
    }

    /// The nested object at this full path.
    pub fn nested(&self, path: &str) -> Option<&Arc<Nested>> {
        self.nested.iter().find(|nested| &*nested.path == path)
    }

    /// The nested objects whose documents hold what lies at this path (of a field or an object); `None` for the root's own.
    pub fn nested_around(&self, path: &str) -> Option<&Arc<Nested>> {
        let is_around = |nested: &&Arc<Nested>| {
            path.strip_prefix(&*nested.path).is_some_and(|rest| rest.starts_with('.'))
        };
        self.nested.iter().filter(is_around).max_by_key(|nested| nested.path.len())
    }

    /// A nested object as an update has to name it.
    pub(crate) fn nested_declaration(&self, path: &str) -> Value {
        let mut object = &self.root.object;
        for segment in path.split('.') {
            match object.properties.get(segment) {
                Some(Node::Object(inner)) => object = inner,
                _ => break,
            }
        }
        let includes = object.nested.unwrap_or_default();
        serde_json::json!({
            "type": "nested", "include_in_parent": includes.parent, "include_in_root": includes.root
        })
    }

    /// The user's fields whose path fits a pattern with `*`: mapped ones by id, then runtime fields by path. Without a `*`, the
    /// field of that path (reserved ones included).
    pub fn matching<'a>(&'a self, pattern: &'a str) -> impl Iterator<Item = Arc<Field>> {
        let is_pattern = pattern.contains('*');
        let exact = if is_pattern { None } else { self.field(pattern) };
        let mapped = if is_pattern { &self.fields[reserved::COUNT..] } else { &[] };
        let is_hidden = |field: &Field| {
            self.runtime.contains_key(&field.path) || field.flattened == Some(Flattened::Keyed)
        };
        let mapped = mapped.iter().filter(move |field| !is_hidden(field));
        let runtime = is_pattern.then(|| self.runtime.values()).into_iter().flatten();
        let fits = move |field: &&Arc<Field>| wildcard::matches(pattern, &field.path);
        exact.into_iter().chain(mapped.chain(runtime).filter(fits).cloned())
    }

    /// As [`Mapping::matching`], with aliases, each under the name that it was asked for by.
    pub fn matching_names<'a>(&'a self, pattern: &'a str) -> impl Iterator<Item = (Arc<str>, Arc<Field>)> {
        let is_pattern = pattern.contains('*');
        let named =
            move |field: Arc<Field>| (if is_pattern { field.path.clone() } else { pattern.into() }, field);
        let aliases = is_pattern.then(|| self.aliases()).into_iter().flatten();
        let fits = move |(name, _): &(&Arc<str>, &Arc<Field>)| wildcard::matches(pattern, name);
        self.matching(pattern)
            .map(named)
            .chain(aliases.filter(fits).map(|(name, field)| (name.clone(), field.clone())))
    }

    /// As [`Mapping::matching_names`], each field once, however many aliases of it fit.
    pub fn matching_distinct<'a>(&'a self, pattern: &'a str) -> impl Iterator<Item = Arc<Field>> {
        let mut seen = HashSet::new();
        self.matching_names(pattern)
            .map(|(_, field)| field)
            .filter(move |field| seen.insert(field.path.clone()))
    }

    /// A declared parameter, or its default, of the field at `path` (`fielddata`, `format`, `meta`, ...); None when the
    /// field or the parameter does not exist.
    pub fn parameter(&self, path: &str, name: &str) -> Option<Value> {
        let leaf = self.definition_of(path)?;
        leaf.kind.param(name)?;
        Some(leaf.param(name))
    }

    fn definition_of(&self, path: &str) -> Option<&definition::Leaf> {
        let mut object = &self.root.object;
        let mut segments = path.split('.').peekable();
        while let Some(segment) = segments.next() {
            match object.properties.get(segment)? {
                Node::Object(inner) => object = inner,
                Node::Alias(path) => return self.definition_of(path),
                Node::Leaf(leaf) => {
                    return match (segments.next(), segments.next()) {
                        (None, _) => Some(leaf),
                        (Some(sub), None) => leaf.fields.get(sub),
                        _ => None,
                    };
                }
            }
        }
        None
    }

    /// `_routing.required`.
    pub fn routing_required(&self) -> bool {
        self.root.routing_required == Some(true)
    }

    /// `_meta`.
    pub fn meta(&self) -> Option<&Value> {
        self.root.meta.as_ref()
    }

    pub fn settings(&self) -> &MappingSettings {
        &self.settings
    }

    /// A number that no other mapping of this process has.
    pub(crate) fn identity(&self) -> u64 {
        self.identity
    }

    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    pub(crate) fn date_detection(&self) -> bool {
        self.root.date_detection.unwrap_or(true)
    }

    pub(crate) fn numeric_detection(&self) -> bool {
        self.root.numeric_detection.unwrap_or(false)
    }

    pub(crate) fn date_formats(&self) -> &[Arc<DateFormat>] {
        &self.date_formats
    }

    pub(crate) fn templates(&self) -> &[Template] {
        self.root.dynamic_templates.as_deref().unwrap_or_default()
    }

    /// Leaf fields, multi-fields and objects together, as `index.mapping.total_fields.limit` counts them.
    pub(crate) fn total_fields(&self) -> usize {
        let tree = &self.tree;
        let keyed = tree.leaves.iter().filter(|leaf| leaf.keyed.is_some()).count();
        tree.leaves.len() - keyed + tree.aliases.len() + tree.objects.len() - 1 + self.root.runtime.len()
    }

    fn compile(
        mut root: Root,
        settings: &MappingSettings,
        previous: Option<&Mapping>,
    ) -> Result<Mapping, RequestError> {
        static IDENTITY: AtomicU64 = AtomicU64::new(1);
        root.object.settle_includes(true);
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
            synthetic: None,
            queries: Vec::new(),
            identity: IDENTITY.fetch_add(1, Ordering::Relaxed),
        };
        mapping.tree = Arc::new(Tree::grow(&root, &mut mapping)?);
        let formats: Vec<String> = match &root.dynamic_date_formats {
            Some(formats) => formats.clone(),
            None => DYNAMIC_DATE_FORMATS.iter().map(|format| (*format).to_owned()).collect(),
        };
        for format in &formats {
            mapping.date_formats.push(Arc::new(DateFormat::parse_list(format)?));
        }
        mapping.add_runtime(&root.runtime)?;
        mapping.find_queries()?;
        mapping.check_stored_fields()?;
        mapping.check_aliases()?;
        if mapping.source.mode == SourceMode::Synthetic {
            let plan = SyntheticPlan::of(&root, &mapping);
            if let Some(before) = previous.and_then(|previous| previous.synthetic.as_deref()) {
                plan.check_update(before)?;
            }
            mapping.synthetic = Some(Arc::new(plan));
        }
        mapping.root = Arc::new(root);
        if mapping.total_fields() > settings.limits.total_fields
            && previous.is_none_or(|previous| mapping.total_fields() > previous.total_fields())
        {
            return Err(definition::total_fields_exceeded(settings.limits.total_fields));
        }
        let nested_count = mapping.nested.len();
        if nested_count > settings.limits.nested_fields
            && previous.is_none_or(|previous| nested_count > previous.nested.len())
        {
            return Err(definition::nested_fields_exceeded(settings.limits.nested_fields));
        }
        Ok(mapping)
    }

    /// The field of a leaf under its old id, or under the next one.
    fn intern(
        &mut self,
        leaf: &definition::Leaf,
        path: &str,
        settings: &MappingSettings,
    ) -> Result<Arc<Field>, RequestError> {
        let id = self.ids.get(path).copied().unwrap_or(FieldId(self.fields.len() as u32));
        let mut field = build(leaf, id, path, settings)?;
        for (name, sub) in &leaf.fields {
            let sub_path = format!("{path}.{name}");
            // The parent takes its id first, so that a field's number is below its multi-fields'.
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
    fn field(&mut self, leaf: &definition::Leaf, path: &str) -> Result<Arc<Field>, RequestError> {
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

/// Whether a leaf can be built at all: its `null_value` in particular.
pub(crate) fn check_leaf(
    leaf: &definition::Leaf,
    path: &str,
    settings: &MappingSettings,
) -> Result<(), RequestError> {
    let field = build(leaf, FieldId(0), path, settings)?;
    if let Some(null) = &field.null_value
        && field.kind != FieldType::GeoPoint
    {
        let scalar = OwnedScalar::from_json(null);
        let shape = Shape::of(&field.kind);
        scalar_of(shape, &field, scalar.borrow()).map_err(|cause| {
            let name = path.rsplit('.').next().unwrap_or(path);
            RequestError::new(
                400,
                "mapper_parsing_exception",
                format!("Error parsing [null_value] on field [{name}]: {}", cause.reason),
            )
            .caused_by(*cause)
        })?;
    }
    Ok(())
}

fn build(
    leaf: &definition::Leaf,
    id: FieldId,
    path: &str,
    settings: &MappingSettings,
) -> Result<Field, RequestError> {
    let kind = match leaf.kind.name {
        "text" | "match_only_text" => FieldType::Text,
        "keyword" | "constant_keyword" | "wildcard" => FieldType::Keyword,
        "long" => FieldType::Long,
        "unsigned_long" => FieldType::UnsignedLong,
        "integer" => FieldType::Integer,
        "short" => FieldType::Short,
        "byte" => FieldType::Byte,
        "double" => FieldType::Double,
        "float" => FieldType::Float,
        "half_float" => FieldType::HalfFloat,
        "scaled_float" => {
            FieldType::ScaledFloat { scaling_factor: leaf.param("scaling_factor").as_f64().unwrap_or(1.0) }
        }
        "boolean" => FieldType::Boolean,
        "date" => {
            let format = leaf.param("format");
            FieldType::Date { format: Arc::new(DateFormat::parse_list(format.as_str().unwrap_or_default())?) }
        }
        "ip" => FieldType::Ip,
        "geo_point" => FieldType::GeoPoint,
        "geo_shape" => {
            FieldType::GeoShape { is_clockwise: leaf.params.get("orientation") == Some(&"LEFT".into()) }
        }
        "integer_range" => FieldType::Range(RangeKind::Integer),
        "long_range" => FieldType::Range(RangeKind::Long),
        "float_range" => FieldType::Range(RangeKind::Float),
        "double_range" => FieldType::Range(RangeKind::Double),
        "date_range" => {
            let format = leaf.param("format");
            let format = DateFormat::parse_list(format.as_str().unwrap_or_default())?;
            FieldType::Range(RangeKind::Date { format: Arc::new(format) })
        }
        "ip_range" => FieldType::Range(RangeKind::Ip),
        "binary" => FieldType::Binary,
        "percolator" => FieldType::Query,
        "flattened" | "flattened keys" => FieldType::Keyword,
        other => return Err(RequestError::unsupported(format!("field type [{other}]"))),
    };
    let is_text = kind == FieldType::Text;
    let is_shape = matches!(kind, FieldType::GeoShape { .. });
    let is_constant = leaf.kind.name == "constant_keyword";
    let match_only = leaf.kind.name == "match_only_text";
    let is_wildcard = leaf.kind.name == "wildcard";
    let is_query = kind == FieldType::Query;
    let analyzer =
        |name: &str| leaf.param(name).as_str().and_then(|name| settings.analyzers.get(name).cloned());
    let index_analyzer =
        is_text.then(|| analyzer("analyzer").unwrap_or_else(|| settings.analyzers.default_index()));
    let search_analyzer = is_text.then(|| {
        analyzer("search_analyzer")
            .or_else(|| analyzer("analyzer"))
            .unwrap_or_else(|| settings.analyzers.default_search())
    });
    let index_options = leaf.param("index_options");
    let explicit = |name: &str, default: bool| match leaf.params.get(name).and_then(Value::as_bool) {
        Some(flag) => flag,
        None => leaf.kind.param(name).is_some() && default,
    };
    Ok(Field {
        id,
        path: Arc::from(path),
        index: match_only || is_wildcard || is_query || leaf.flag("index"),
        doc_values: is_constant || is_wildcard || is_query || leaf.flag("doc_values"),
        store: leaf.flag("store"),
        match_only,
        is_wildcard,
        norms: leaf.flag("norms"),
        positions: index_options == "positions",
        frequencies: index_options == "positions"
            || (index_options == "freqs" && !leaf.kind.name.starts_with("flattened")),
        analyzer: index_analyzer,
        search_analyzer,
        normalizer: leaf
            .param("normalizer")
            .as_str()
            .and_then(|name| settings.analyzers.normalizer(name).cloned()),
        flattened: match leaf.kind.name {
            "flattened" => {
                Some(Flattened::Root { depth_max: leaf.param("depth_limit").as_u64().unwrap_or(0) as u32 })
            }
            "flattened keys" => Some(Flattened::Keyed),
            _ => None,
        },
        splits_queries: leaf.flag("split_queries_on_whitespace"),
        position_increment_gap: leaf.param("position_increment_gap").as_u64().unwrap_or(if match_only {
            100
        } else {
            0
        }) as u32,
        ignore_above: leaf.params.get("ignore_above").and_then(Value::as_u64).map(|count| count as u32),
        null_value: leaf.params.get("null_value").cloned(),
        coerce: explicit("coerce", if is_shape { settings.coerce_shapes } else { settings.coerce }),
        ignore_malformed: explicit("ignore_malformed", settings.ignore_malformed),
        ignore_z: explicit("ignore_z_value", true),
        copy_to: leaf.copy_to.iter().map(|path| Arc::from(path.as_str())).collect(),
        multi_fields: Vec::new(),
        runtime: is_constant.then(|| RuntimeScript {
            constant: Some(leaf.param("value").as_str().map(Arc::from)),
            ..RuntimeScript::default()
        }),
        kind,
    })
}

impl ObjectNode {
    /// What becomes of a field that this object does not know (inherited from the objects above when not set here).
    pub fn dynamic(&self) -> Dynamic {
        self.dynamic
    }

    /// `enabled`: false where the object's contents are kept in `_source` only.
    pub fn enabled(&self) -> bool {
        self.enabled
    }
}
