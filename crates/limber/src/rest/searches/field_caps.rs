//! `_field_caps`: which fields do these indices have, and what can be done with them?
//!
//! Source: `TransportFieldCapabilitiesAction`, `FieldCapabilities`.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use limber_engine::{IndicesOptions, PresentFields, Result};
use limber_mapping::{Field, Mapping, ObjectParser, RequestError, TSID, plain_text, reserved};
use limber_search::request::read_query;
use limber_text::wildcard;
use limber_work as work;
use serde_json::{Map, Value, json};

use crate::http::pools::PoolName;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::options::{indices_options, with_indices_options};
use crate::rest::{App, Route};

const PARAMETERS: &[&str] =
    with_indices_options!["fields", "include_unmapped", "filters", "types", "include_empty_fields"];
const BOTH: &[Method] = &[Method::Get, Method::Post];

/// The endpoints of this file (`_field_caps`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    Route {
        methods: BOTH,
        path: "/_field_caps",
        parameters: PARAMETERS,
        pool: PoolName::Management,
        handler: field_caps,
    },
    Route {
        methods: BOTH,
        path: "/{index}/_field_caps",
        parameters: PARAMETERS,
        pool: PoolName::Management,
        handler: field_caps,
    },
];

/// Fields of every index: (name, type, searchable, aggregatable).
const METADATA_FIELDS: &[(&str, &str, bool, bool)] = &[
    ("_doc_count", "integer", false, false),
    ("_field_names", "_field_names", true, false),
    ("_id", "_id", true, false),
    ("_ignored", "_ignored", true, true),
    ("_index", "_index", true, true),
    ("_routing", "_routing", true, false),
    ("_seq_no", "_seq_no", true, true),
    ("_source", "_source", false, false),
    ("_tier", "keyword", true, true),
    ("_version", "_version", false, true),
];

/// Whether a metadata field has values in an index with these fields.
fn has_values(name: &str, present: &PresentFields) -> bool {
    match name {
        "_index" | "_tier" => true,
        "_id" | "_seq_no" | "_source" | "_version" => !present.is_empty(),
        other => present.contains(other),
    }
}

/// One field of one type, over all indices that map it to that type. Indices are numbers, because an index is
/// named as often as it has fields.
#[derive(Default)]
struct Capability {
    is_metadata: bool,
    indices: Vec<u32>,
    not_searchable: Vec<u32>,
    not_aggregatable: Vec<u32>,
    /// Indices in which the field is a time series dimension; below, those in which it is not.
    dimension_of: Vec<u32>,
    /// The time series metric of the field in each index; null where it is not a metric.
    metrics: Vec<Value>,
    not_dimension_of: Vec<u32>,
    meta: BTreeMap<String, BTreeSet<String>>,
}

impl Capability {
    /// Adds an index, once.
    fn add(&mut self, index: u32, mapping: &Mapping, path: &str, (searchable, aggregatable): (bool, bool)) {
        if self.indices.last().is_some_and(|last| *last == index) {
            return;
        }
        self.indices.push(index);
        if !searchable {
            self.not_searchable.push(index);
        }
        if !aggregatable {
            self.not_aggregatable.push(index);
        }
        self.metrics.push(mapping.parameter(path, "time_series_metric").unwrap_or_default());
        match mapping.parameter(path, "time_series_dimension") {
            Some(Value::Bool(true)) => self.dimension_of.push(index),
            _ => self.not_dimension_of.push(index),
        }
        let meta = mapping.parameter(path, "meta");
        for (name, value) in meta.as_ref().and_then(Value::as_object).into_iter().flatten() {
            self.meta.entry(name.clone()).or_default().insert(plain_text(value));
        }
    }
}

type Capabilities = BTreeMap<String, BTreeMap<String, Capability>>;

/// The wanted names of fields.
struct Selection {
    names: HashSet<String>,
    patterns: Vec<String>,
}

impl Selection {
    fn of(fields: Vec<String>) -> Selection {
        let is_pattern = |field: &String| field.contains(['*', '?']);
        let (patterns, names): (Vec<String>, Vec<String>) = fields.into_iter().partition(is_pattern);
        Selection { names: names.into_iter().collect(), patterns }
    }

    fn has(&self, path: &str) -> bool {
        self.names.contains(path) || self.patterns.iter().any(|pattern| wildcard::matches(pattern, path))
    }
}

fn field_caps(app: &App, request: &Request) -> Result<Response> {
    let mut patterns = request.list("fields");
    let is_in_url = !patterns.is_empty();
    let (mut filter, mut runtime) = (None, None);
    for (name, value) in request.json()?.as_ref().and_then(Value::as_object).into_iter().flatten() {
        match (name.as_str(), value) {
            ("fields", _) if is_in_url => {
                return Err(RequestError::illegal_argument(
                    "can't specify a request body and [fields] request parameter, either specify a request body or the [fields] request parameter",
                ));
            }
            ("fields", Value::Array(items)) => {
                patterns.extend(items.iter().filter_map(Value::as_str).map(str::to_owned));
            }
            ("fields", Value::String(one)) => patterns.push(one.clone()),
            ("index_filter", value) => filter = Some(read_query(value)?),
            ("runtime_mappings", value) => runtime = Some(value.clone()),
            _ => {
                return Err(ObjectParser::new("field_caps_request").unknown(name));
            }
        }
    }
    let narrowing = Narrowing::of(request)?;
    if patterns.is_empty() {
        // An empty list is refused where it is set, and no list when the request is checked.
        return Err(match request.param("fields") {
            Some(_) => RequestError::illegal_argument("specified fields can't be null or empty"),
            None => RequestError::validation(["no fields specified"]),
        });
    }
    let options = indices_options(request, IndicesOptions::SEARCH)?;
    let expression = request.param("index").unwrap_or("_all");
    let mut indices = app.node.resolve(expression, options)?;
    if let Some(filter) = &filter {
        let left = app.node.indices_that_can_match(expression, options, filter)?;
        indices.retain(|index| left.contains(&index.name.to_string()));
    }
    let mut present = match request.flag_or("include_empty_fields", true)? {
        true => None,
        false => Some(app.node.present_fields(expression, options)?),
    };
    let selection = Selection::of(patterns);
    let mut found = Capabilities::new();
    for (number, index) in indices.iter().enumerate().filter(|(_, index)| index.open) {
        let mut mapping = app.node.mapping(&index.name)?;
        if let Some(runtime) = &runtime {
            mapping = Arc::new(mapping.with_runtime(runtime)?);
        }
        let present = present.as_mut().map(|present| present.remove(&*index.name).unwrap_or_default());
        collect(&mut found, number as u32, &mapping, &selection, &narrowing, present.as_ref())?;
    }
    let names: Vec<&str> = indices.iter().map(|index| &*index.name).collect();
    if request.flag_or("include_unmapped", false)? {
        add_unmapped(&mut found, names.len())?;
    }
    Ok(Response::ok(json!({"indices": names, "fields": render(&found, &names)?})))
}

/// Which fields are wanted besides the selection by name: `filters` and `types`.
///
/// Source: `FieldCapabilitiesFetcher#buildFilter`.
#[derive(Default)]
struct Narrowing {
    types: Vec<String>,
    metadata_only: bool,
    without_metadata: bool,
    without_parents: bool,
    without_nested: bool,
    without_multi_fields: bool,
}

impl Narrowing {
    fn of(request: &Request) -> Result<Narrowing> {
        let mut narrowing = Narrowing { types: request.list("types"), ..Narrowing::default() };
        for filter in request.list("filters") {
            match filter.trim() {
                // An unescaped plus in a URL is decoded to a space.
                "+metadata" | "metadata" => narrowing.metadata_only = true,
                "-metadata" => narrowing.without_metadata = true,
                "-parent" => narrowing.without_parents = true,
                "-nested" => narrowing.without_nested = true,
                "-multifield" => narrowing.without_multi_fields = true,
                other => {
                    return Err(RequestError::illegal_argument(format!(
                        "Unknown field caps filter [{other}]"
                    )));
                }
            }
        }
        Ok(narrowing)
    }

    fn has_type(&self, kind: &str) -> bool {
        self.types.is_empty() || self.types.iter().any(|wanted| wanted == kind)
    }

    /// Whether a mapped field is wanted.
    fn takes(&self, mapping: &Mapping, path: &str, kind: &str) -> bool {
        let parents = || path.match_indices('.').map(|(end, _)| &path[..end]);
        if self.metadata_only || !self.has_type(kind) {
            return false;
        }
        let is_nested = self.without_nested && parents().any(|parent| mapping.nested(parent).is_some());
        let is_multi = self.without_multi_fields && parents().any(|parent| mapping.object(parent).is_none());
        !is_nested && !is_multi
    }
}

/// Whether a field is shown. `present`: the fields that have values, if others are left out.
fn is_shown(field: &Field, present: Option<&PresentFields>) -> bool {
    let is_computed = field.runtime.is_some() || field.constant().is_some();
    is_computed || present.is_none_or(|present| present.contains(&*field.path))
}

/// Adds the capabilities of an index's fields.
fn collect(
    found: &mut Capabilities,
    index: u32,
    mapping: &Mapping,
    selection: &Selection,
    narrowing: &Narrowing,
    present: Option<&PresentFields>,
) -> Result<()> {
    let mut add = |path: &str, kind: &str, is_metadata: bool, searchable: bool, aggregatable: bool| {
        let capability = found.entry(path.to_owned()).or_default().entry(kind.to_owned()).or_default();
        capability.is_metadata = is_metadata;
        capability.add(index, mapping, path, (searchable, aggregatable));
    };
    for (name, kind, searchable, aggregatable) in METADATA_FIELDS {
        let is_shown = present.is_none_or(|present| has_values(name, present));
        if is_shown && selection.has(name) && !narrowing.without_metadata && narrowing.has_type(kind) {
            add(name, kind, true, *searchable, *aggregatable);
        }
    }
    if mapping.has_series() && selection.has(TSID) && !narrowing.without_metadata && narrowing.has_type(TSID)
    {
        add(TSID, TSID, true, false, true);
    }
    let shown = mapping.fields()[reserved::COUNT..]
        .iter()
        .filter(|field| &*field.path != TSID || !mapping.has_series())
        .filter(|field| mapping.field(&field.path).is_some_and(|shown| Arc::ptr_eq(&shown, field)));
    let named = shown.chain(mapping.runtime_fields()).map(|field| (&field.path, field));
    for (name, field) in named.chain(mapping.aliases()) {
        work::check_beyond_deadline()?;
        let is_taken = is_shown(field, present) && narrowing.takes(mapping, name, field.family_name());
        if !is_taken || !selection.has(name) {
            continue;
        }
        let fielddata = mapping.parameter(&field.path, "fielddata") == Some(Value::Bool(true));
        let (searchable, aggregatable) = (field.is_searchable(), field.is_aggregatable(fielddata));
        add(name, field.family_name(), false, searchable, aggregatable);
        if narrowing.without_parents || field.runtime.is_some() {
            continue;
        }
        // The objects around it, whether they are selected or not.
        for (end, _) in name.match_indices('.') {
            let parent = &name[..end];
            if mapping.object(parent).is_some() {
                let is_nested = mapping.nested(parent).is_some();
                add(parent, if is_nested { "nested" } else { "object" }, false, false, false);
            }
        }
    }
    Ok(())
}

fn add_unmapped(found: &mut Capabilities, index_count: usize) -> Result<()> {
    let mut is_mapped = vec![false; index_count];
    for kinds in found.values_mut() {
        work::check_beyond_deadline()?;
        is_mapped.fill(false);
        for index in kinds.values().flat_map(|capability| &capability.indices) {
            is_mapped[*index as usize] = true;
        }
        let missing: Vec<u32> = (0..index_count as u32).filter(|&index| !is_mapped[index as usize]).collect();
        if !missing.is_empty() {
            let capability = Capability {
                not_searchable: missing.clone(),
                not_aggregatable: missing.clone(),
                indices: missing,
                ..Capability::default()
            };
            kinds.insert("unmapped".to_owned(), capability);
        }
    }
    Ok(())
}

/// Lists indices by name. Their memory is claimed, since each field may list all of them.
fn named(indices: &[u32], names: &[&str]) -> Result<Value> {
    let listed = || indices.iter().map(|&index| names[index as usize]);
    work::claim(listed().map(|name| (name.len() + size_of::<Value>()) as u64).sum())?;
    Ok(listed().collect())
}

fn render(found: &Capabilities, names: &[&str]) -> Result<Map<String, Value>> {
    let mut fields = Map::new();
    for (path, kinds) in found {
        work::check_beyond_deadline()?;
        let mut shown = Map::new();
        for (kind, capability) in kinds {
            let mut entry = json!({
                "type": kind,
                "metadata_field": capability.is_metadata,
                "searchable": capability.not_searchable.is_empty(),
                "aggregatable": capability.not_aggregatable.is_empty(),
            });
            if capability.not_dimension_of.is_empty() && !capability.dimension_of.is_empty() {
                entry["time_series_dimension"] = true.into();
            }
            let metric = capability.metrics.first().filter(|metric| !metric.is_null());
            let agree = capability.metrics.iter().all(|other| Some(other) == metric);
            if let Some(metric) = metric.filter(|_| agree) {
                entry["time_series_metric"] = metric.clone();
            }
            if kinds.len() > 1 {
                entry["indices"] = named(&capability.indices, names)?;
            }
            // The indices are listed only if they disagree.
            for (name, without) in [
                ("non_searchable_indices", &capability.not_searchable),
                ("non_aggregatable_indices", &capability.not_aggregatable),
            ] {
                if !without.is_empty() && without.len() < capability.indices.len() {
                    entry[name] = named(without, names)?;
                }
            }
            if !capability.dimension_of.is_empty() && !capability.not_dimension_of.is_empty() {
                entry["non_dimension_indices"] = named(&capability.not_dimension_of, names)?;
            }
            if !agree && capability.metrics.iter().any(|metric| !metric.is_null()) {
                entry["metric_conflicts_indices"] = named(&capability.indices, names)?;
            }
            if !capability.meta.is_empty() {
                entry["meta"] = json!(capability.meta);
            }
            shown.insert(kind.clone(), entry);
        }
        fields.insert(path.clone(), Value::Object(shown));
    }
    Ok(fields)
}
