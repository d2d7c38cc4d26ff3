//! `_ingest/_simulate`: "what would a bulk do with these documents, given pipelines and templates that are
//! not stored?"
//!
//! Source: Elasticsearch's `RestSimulateIngestAction`, `TransportSimulateBulkAction`. Nothing is written.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;

use limber_mapping::document::{self, Parsed, Scratch};
use limber_mapping::{Field, FieldSink, Mapping, Nested, RequestError, SpaceId};
use limber_work as work;
use serde_json::{Map, Value, json};

use super::bulk::runner_over;
use super::bulk_step::ANY_VERSION;
use super::index_pipelines::{IndexPipelines, pipelines_in};
use super::reroute::Rerouted;
use crate::api::Result;
use crate::catalog::{Catalog, WriteTarget, merge_mappings};
use crate::ingest::{
    ChangedMetadata, Metadata, Options, Outcome, Pipelines, SimulatedDocument, ends_request, given_documents,
    tree_of,
};
use crate::node::Node;
use crate::settings::IndexSettings;

/// How many mapping updates a document may need.
const MAPPING_UPDATES_MAX: usize = 100;

/// The parsed request.
struct Simulation {
    documents: Vec<SimulatedDocument>,
    /// The node's pipelines, with the substitutions.
    pipelines: Pipelines,
    /// The node's catalog, with the substitutions among its templates.
    catalog: Catalog,
    /// Whether templates are substituted. The mappings and settings of existing indices are ignored then.
    ignores_indices: bool,
    /// Merged into the mapping of each index.
    mapping_addition: Map<String, Value>,
    /// Whether the addition replaces fields as a later template does, instead of updating an index.
    merges_as_template: bool,
    /// The index of the preceding document and its mapping, which may take long to make.
    last_mapping: RefCell<Option<(String, Arc<Mapping>)>>,
}

/// A document after the pipelines of its indices have run.
struct Ingested {
    index: String,
    id: Option<String>,
    source: Vec<u8>,
    /// Pipelines that ran, in order.
    executed: Vec<String>,
}

/// Checks that the caller may run a pipeline that the request defines. What `enrich` looks up is not limited
/// to the caller's rights, so the caller needs the right to simulate pipelines. The right to write is enough
/// only for stored pipelines.
///
/// # Errors
/// `Forbidden`.
fn check_may_enrich(pipeline: &Value) -> Result<()> {
    fn names_enrich(value: &Value) -> bool {
        match value {
            Value::Object(members) => {
                members.iter().any(|(key, value)| key == "enrich" || names_enrich(value))
            }
            Value::Array(items) => items.iter().any(names_enrich),
            _ => false,
        }
    }
    match limber_access::current().filter(|_| names_enrich(pipeline)) {
        Some(access) => access.check_cluster_action("cluster:admin/ingest/pipeline/simulate"),
        None => Ok(()),
    }
}

impl Node {
    /// Returns the response. `index` and `pipeline` apply to documents that name none. With
    /// `merges_as_template`, a field of `mapping_addition` may have another type than in the index.
    ///
    /// # Errors
    /// Fails when the body is malformed, when a substitution is not valid, or when the request is cancelled.
    /// Errors of single documents are part of the response.
    pub fn simulate_ingest(
        &self,
        index: Option<&str>,
        pipeline: Option<&str>,
        body: &Value,
        merges_as_template: bool,
    ) -> Result<Value> {
        let flag = work::cancelled().unwrap_or_default();
        let _task = self.tasks.register_cancellable("indices:admin/simulate/bulk", "", flag);
        let simulation = Simulation { merges_as_template, ..self.simulation(index, body)? };
        let timestamp = crate::ingest::timestamp(i128::from(self.now_millis()) * 1_000_000);
        let mut shown = Vec::with_capacity(simulation.documents.len());
        for given in &simulation.documents {
            work::check()?;
            let document = match self.run_pipelines(&simulation, given, pipeline, &timestamp) {
                Ok(Some(ingested)) => self.validated(&simulation, &ingested)?,
                Ok(None) => json!({
                    "_index": given.index,
                    "_id": given.id,
                    "_version": -3,
                    "result": "noop",
                    "_shards": {"total": 0, "successful": 0, "failed": 0},
                    "_seq_no": -2,
                    "_primary_term": 0,
                }),
                Err(error) if ends_request(&error) => return Err(error),
                Err(error) => json!({"_id": given.id, "_index": given.index, "error": error.to_json()}),
            };
            shown.push(json!({"doc": document}));
        }
        Ok(json!({"docs": shown}))
    }

    fn simulation(&self, index: Option<&str>, body: &Value) -> Result<Simulation> {
        let Value::Object(body) = body else {
            return Err(RequestError::bad_request("parse_exception", "the request body must be an object"));
        };
        let mut options = Options::new(body.clone(), "");
        let mut substitutes = |key: &str| options.optional_map(key).map(Option::unwrap_or_default);
        let mut pipelines = (*self.pipelines.snapshot()).clone();
        // A pipeline may call one that comes later in the body, as names are resolved only when it runs.
        for (id, body) in substitutes("pipeline_substitutions")? {
            work::check()?;
            check_may_enrich(&body)?;
            let pipeline = pipelines.compile(&id, &body)?;
            pipelines.add(pipeline);
        }
        let mut catalog = (*self.catalog.load_full()).clone();
        let components = substitutes("component_template_substitutions")?;
        let composable = substitutes("index_template_substitutions")?;
        let ignores_indices = !components.is_empty() || !composable.is_empty();
        for (name, body) in components {
            work::check()?;
            catalog.templates.put_component(&name, &body, false)?;
        }
        for (name, mut body) in composable {
            work::check()?;
            // As in Elasticsearch, components that are not there add nothing to a substitute.
            if let Some(components) = body.get("composed_of").cloned() {
                body["ignore_missing_component_templates"] = components;
            }
            catalog.templates.put_composable(&name, &body, false)?;
        }
        let mapping_addition = substitutes("mapping_addition")?;
        let mut documents = given_documents(&mut options)?;
        for document in &mut documents {
            if document.index.is_none() {
                let index = index.ok_or_else(|| RequestError::validation(["index is missing"]))?;
                document.index = Some(index.to_owned());
            }
        }
        Ok(Simulation {
            documents,
            pipelines,
            catalog,
            ignores_indices,
            mapping_addition,
            merges_as_template: false,
            last_mapping: RefCell::default(),
        })
    }

    /// Runs the pipelines of a document; `None` when one dropped the document.
    fn run_pipelines(
        &self,
        simulation: &Simulation,
        given: &SimulatedDocument,
        pipeline: Option<&str>,
        timestamp: &str,
    ) -> Result<Option<Ingested>> {
        let index = given.index.clone().unwrap_or_default();
        let mut way = vec![index.clone()];
        let mut document =
            Ingested { index, id: given.id.clone(), source: given.source.clone(), executed: Vec::new() };
        let mut routing = given.routing.clone();
        let mut asked = pipeline;
        loop {
            simulation.catalog.check_may_touch(&document.index)?;
            let of_index = simulation.pipelines_of(&document.index);
            let first = match asked.take() {
                Some("_none") => None,
                Some(name) => Some(name.to_owned()),
                None => of_index.default,
            };
            let has_last = of_index.last.is_some();
            let ids: Vec<String> = first.into_iter().chain(of_index.last).collect();
            if ids.is_empty() {
                return Ok(Some(document));
            }
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            let metadata = Metadata {
                index: &document.index,
                id: document.id.as_deref(),
                routing: routing.as_deref(),
                version: Some(ANY_VERSION),
                version_type: Some("internal"),
                op_type: Some("index"),
                ..Metadata::default()
            };
            let mut source = Vec::new();
            let mut runner = runner_over(&simulation.pipelines, timestamp);
            let outcome = runner.run(&ids, metadata, &document.source, &mut source);
            // Simulations are not counted in the statistics.
            runner.forget();
            drop(runner);
            let (changed, ran, is_rerouted) = match outcome {
                Outcome::Changed(changed) => (changed, ids.len(), false),
                Outcome::Rerouted { by, changed } => {
                    let is_by_last = has_last && by + 1 == ids.len();
                    let mut rerouted =
                        Rerouted { changed, source, by: ids[by].to_owned(), ran: by + 1, is_by_last };
                    self.next_index(&mut rerouted, &mut way)?;
                    source = rerouted.source;
                    (Some(rerouted.changed), by + 1, true)
                }
                Outcome::Dropped => return Ok(None),
                Outcome::Failed(error) => return Err(*error),
            };
            let executed: Vec<String> = ids[..ran].iter().map(|id| (*id).to_owned()).collect();
            document.executed.extend(executed);
            document.source = source;
            if let Some(changed) = changed {
                let ChangedMetadata { index, id, routing: changed_routing, .. } = *changed;
                document.index = index.unwrap_or(document.index);
                (document.id, routing) = (id, changed_routing);
            }
            if !is_rerouted {
                return Ok(Some(document));
            }
        }
    }

    /// Returns the document with the result of validating it against its index.
    fn validated(&self, simulation: &Simulation, document: &Ingested) -> Result<Value> {
        let mut shown = json!({
            "_id": document.id.as_deref().unwrap_or("<n/a>"),
            "_index": document.index,
            "_version": -3,
            "_source": tree_of(&document.source)?,
            "executed_pipelines": document.executed,
        });
        match self.ignored_fields(simulation, document) {
            Ok(ignored) if ignored.is_empty() => {}
            Ok(ignored) => {
                let fields = ignored.into_iter().map(|field| json!({"field": field}));
                shown["ignored_fields"] = fields.collect();
            }
            Err(error) if work::check().is_err() => return Err(error),
            Err(error) => shown["error"] = error.to_json(),
        }
        Ok(shown)
    }

    /// Parses the document without indexing it. Returns the names of the fields that would be ignored.
    fn ignored_fields(&self, simulation: &Simulation, document: &Ingested) -> Result<Vec<String>> {
        let mut mapping = self.simulated_mapping(simulation, &document.index)?;
        let id = document.id.as_deref().unwrap_or("<n/a>");
        for _ in 0..MAPPING_UPDATES_MAX {
            work::check()?;
            let mut ignored = Ignored::default();
            let mut scratch = Scratch::new();
            scratch.for_document(id);
            match document::parse(&mapping, &document.source, &mut scratch, &mut ignored)? {
                Parsed::Done => return Ok(ignored.names),
                Parsed::NeedsMapping => {
                    let inferred = document::infer(&mapping, &document.source)?;
                    mapping = Arc::new(mapping.merge(&inferred)?);
                }
            }
        }
        let reason = "the document's mapping update did not take effect";
        Err(RequestError::internal("illegal_state_exception", reason))
    }

    /// Returns the mapping of the index, or the one it would be created with.
    fn simulated_mapping(&self, simulation: &Simulation, index: &str) -> Result<Arc<Mapping>> {
        if let Some((last, mapping)) = &*simulation.last_mapping.borrow()
            && last == index
        {
            return Ok(mapping.clone());
        }
        let mapping = self.new_mapping_of(simulation, index)?;
        simulation.last_mapping.replace(Some((index.to_owned(), mapping.clone())));
        Ok(mapping)
    }

    fn new_mapping_of(&self, simulation: &Simulation, index: &str) -> Result<Arc<Mapping>> {
        let there = match simulation.ignores_indices {
            true => None,
            false => match simulation.catalog.write_target(index, false)? {
                WriteTarget::Index { index, .. } => Some(self.live(&index)?),
                WriteTarget::Missing => None,
            },
        };
        let mapping = match there {
            Some(live) => live.core.mapping.load_full(),
            None => {
                let resolved = simulation.catalog.templates.resolve(index);
                let mut settings = resolved.settings;
                settings.retain(|_, value| !value.is_null());
                let typed = IndexSettings::from_flat(&settings)?;
                let settings = typed.mapping_settings(&settings, &self.analysis())?;
                Arc::new(Mapping::parse(&Value::Object(resolved.mappings), &settings)?)
            }
        };
        let addition = &simulation.mapping_addition;
        if addition.is_empty() {
            return Ok(mapping);
        }
        if !simulation.merges_as_template {
            return Ok(Arc::new(mapping.merge(&Value::Object(addition.clone()))?));
        }
        let mut merged = mapping.to_json();
        if let Value::Object(merged) = &mut merged {
            merge_mappings(merged, addition);
        }
        Ok(Arc::new(Mapping::parse(&merged, mapping.settings())?))
    }
}

impl Simulation {
    fn pipelines_of(&self, index: &str) -> IndexPipelines {
        pipelines_in(&self.catalog, index, self.ignores_indices)
    }
}

/// Discards all values and collects the names of the ignored fields.
#[derive(Default)]
struct Ignored {
    /// The names, in the order in which they were met.
    names: Vec<String>,
    known: HashSet<String>,
}

impl FieldSink for Ignored {
    fn term(&mut self, field: &Field, value: &[u8]) {
        if &*field.path == "_ignored" {
            let name = String::from_utf8_lossy(value).into_owned();
            if self.known.insert(name.clone()) {
                self.names.push(name);
            }
        }
    }

    fn number(&mut self, _: &Field, _: i64) {}

    fn text(&mut self, _: &Field, _: &str) {}

    fn shape(&mut self, _: &Field, _: &[i64], _: &[u8]) {}

    fn begin_nested(&mut self, _: &Nested) {}

    fn end_nested(&mut self, _: &Nested) {}

    fn turn_to(&mut self, _: SpaceId) {}
}
