//! `_ingest/_simulate`: "what would a bulk make of these documents, with pipelines and templates that are not there yet?"
//!
//! Source: Elasticsearch's `RestSimulateIngestAction`, `TransportSimulateBulkAction`. Nothing is written.

use std::sync::Arc;

use limber_mapping::document::{self, Parsed, Scratch};
use limber_mapping::{Field, FieldSink, Mapping, Nested, RequestError, SpaceId};
use limber_work as work;
use serde_json::{Map, Value, json};

use super::Node;
use super::bulk::{ANY_VERSION, IndexPipelines, pipelines_in, runner_over};
use crate::api::Result;
use crate::catalog::{Catalog, WriteTarget};
use crate::ingest::{ChangedMetadata, Metadata, Outcome, Pipelines};
use crate::settings::IndexSettings;

/// Documents of one simulation.
const DOCUMENT_COUNT_MAX: usize = 10_000;
/// A document may ask for mapping updates this often.
const MAPPING_UPDATES_MAX: usize = 100;

/// The request.
struct Simulation {
    documents: Vec<Given>,
    /// Those of the node, with the substitutes.
    pipelines: Pipelines,
    /// That of the node, with the substitutes among its templates.
    catalog: Catalog,
    /// There are substitutes for templates: what an index has of its own does not count.
    ignores_indices: bool,
    /// Laid over the mapping of each index.
    mapping_addition: Value,
}

struct Given {
    index: String,
    id: Option<String>,
    routing: Option<String>,
    source: String,
}

/// Where a document is after the pipelines of its indices.
struct Ingested {
    index: String,
    id: Option<String>,
    source: Vec<u8>,
    /// Pipelines that ran, in their order.
    executed: Vec<String>,
}

impl Node {
    /// The answer. `index` and `pipeline` stand for documents that name none.
    ///
    /// # Errors
    /// The body is malformed, a substitute is not valid, or the request is cancelled. What is wrong with one document is part of the answer.
    pub fn simulate_ingest(
        &self,
        index: Option<&str>,
        pipeline: Option<&str>,
        body: &Value,
    ) -> Result<Value> {
        let flag = work::cancelled().unwrap_or_default();
        let _task = self.tasks.register_cancellable("indices:admin/simulate/bulk", "", flag);
        let simulation = self.simulation(index, body)?;
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
                Err(error) => json!({"_id": given.id, "_index": given.index, "error": error.to_json()}),
            };
            work::claim(document["_source"].as_str().map_or(0, str::len) as u64)?;
            shown.push(json!({"doc": document}));
        }
        Ok(json!({"docs": shown}))
    }

    fn simulation(&self, index: Option<&str>, body: &Value) -> Result<Simulation> {
        let Value::Object(body) = body else {
            return Err(RequestError::new(400, "parse_exception", "the request body must be an object"));
        };
        let substitutes = |key: &str| match body.get(key) {
            None | Some(Value::Null) => Ok(Map::new()),
            Some(Value::Object(members)) => Ok(members.clone()),
            Some(_) => Err(wrong_type(key)),
        };
        let mut pipelines = (*self.pipelines.snapshot()).clone();
        // A pipeline may call another one that stands further down.
        for (id, body) in substitutes("pipeline_substitutions")? {
            pipelines = pipelines.with(pipelines.compile(&id, &body)?);
        }
        let mut catalog = (*self.catalog.load_full()).clone();
        let components = substitutes("component_template_substitutions")?;
        let composable = substitutes("index_template_substitutions")?;
        let ignores_indices = !components.is_empty() || !composable.is_empty();
        for (name, body) in components {
            catalog.templates.put_component(&name, &body, false)?;
        }
        for (name, body) in composable {
            catalog.templates.put_composable(&name, &body, false)?;
        }
        let mapping_addition = Value::Object(substitutes("mapping_addition")?);
        let documents = documents(index, body.get("docs"))?;
        Ok(Simulation { documents, pipelines, catalog, ignores_indices, mapping_addition })
    }

    /// `None`: a pipeline dropped the document.
    fn run_pipelines(
        &self,
        simulation: &Simulation,
        given: &Given,
        pipeline: Option<&str>,
        timestamp: &str,
    ) -> Result<Option<Ingested>> {
        let mut document = Ingested {
            index: given.index.clone(),
            id: given.id.clone(),
            source: given.source.clone().into_bytes(),
            executed: Vec::new(),
        };
        let mut routing = given.routing.clone();
        let mut way = vec![given.index.clone()];
        let mut asked = pipeline;
        loop {
            simulation.catalog.check_may_touch(&document.index)?;
            let of_index = simulation.pipelines_of(&document.index);
            let first = match asked.take() {
                Some("_none") => None,
                Some(name) => Some(name.to_owned()),
                None => of_index.default,
            };
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
            // What was only tried is not counted.
            runner.forget();
            drop(runner);
            let (changed, ran, is_rerouted) = match outcome {
                Outcome::Changed(changed) => (changed, ids.len(), false),
                Outcome::Rerouted { by, changed } => (Some(changed), by + 1, true),
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
            if way.contains(&document.index) {
                way.push(document.index);
                let reason = format!("index cycle detected while processing pipelines: [{}]", way.join(", "));
                return Err(RequestError::new(500, "illegal_state_exception", reason));
            }
            way.push(document.index.clone());
        }
    }

    /// The document with what its index would say of it.
    fn validated(&self, simulation: &Simulation, document: &Ingested) -> Result<Value> {
        let source: Value = serde_json::from_slice(&document.source)
            .map_err(|error| RequestError::new(500, "illegal_state_exception", error.to_string()))?;
        let mut shown = json!({
            "_id": document.id.as_deref().unwrap_or("<n/a>"),
            "_index": document.index,
            "_version": -3,
            "_source": source,
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

    /// Indexes the document into nothing: the names of the fields that are left out.
    fn ignored_fields(&self, simulation: &Simulation, document: &Ingested) -> Result<Vec<String>> {
        let mut mapping = self.mapping_of(simulation, &document.index)?;
        let id = document.id.as_deref().unwrap_or("<n/a>");
        for _ in 0..MAPPING_UPDATES_MAX {
            let mut ignored = Ignored::default();
            let mut scratch = Scratch::new();
            scratch.for_document(id);
            match document::parse(&mapping, &document.source, &mut scratch, &mut ignored)? {
                Parsed::Done => return Ok(ignored.0),
                Parsed::NeedsMapping => {
                    let inferred = document::infer(&mapping, &document.source)?;
                    mapping = Arc::new(mapping.merge(&inferred)?);
                }
            }
        }
        let reason = "the document's mapping update did not take effect";
        Err(RequestError::new(500, "illegal_state_exception", reason))
    }

    /// That of the index, or the one that it would be created with.
    fn mapping_of(&self, simulation: &Simulation, index: &str) -> Result<Arc<Mapping>> {
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
        match &simulation.mapping_addition {
            Value::Object(addition) if addition.is_empty() => Ok(mapping),
            addition => Ok(Arc::new(mapping.merge(addition)?)),
        }
    }
}

impl Simulation {
    fn pipelines_of(&self, index: &str) -> IndexPipelines {
        pipelines_in(&self.catalog, index, self.ignores_indices)
    }
}

fn documents(index: Option<&str>, given: Option<&Value>) -> Result<Vec<Given>> {
    let Some(given) = given else { return Err(missing("docs")) };
    let documents = given.as_array().ok_or_else(|| wrong_type("docs"))?;
    if documents.is_empty() {
        return Err(RequestError::illegal_argument("must specify at least one document in [docs]"));
    }
    if documents.len() > DOCUMENT_COUNT_MAX {
        let reason = format!("[docs] may hold at most {DOCUMENT_COUNT_MAX} documents");
        return Err(RequestError::illegal_argument(reason));
    }
    let one = |document: &Value| {
        let Value::Object(members) = document else {
            let reason = "malformed [docs] section, should include an inner object";
            return Err(RequestError::illegal_argument(reason));
        };
        let text = |key: &str| match members.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Number(number)) if number.is_i64() => Ok(Some(number.to_string())),
            Some(_) => Err(wrong_type(key)),
        };
        let source = match members.get("_source") {
            None | Some(Value::Null) => return Err(missing("_source")),
            Some(source @ Value::Object(_)) => source.to_string(),
            Some(_) => return Err(wrong_type("_source")),
        };
        let index = text("_index")?.or_else(|| index.map(str::to_owned));
        Ok(Given {
            index: index.ok_or_else(|| RequestError::validation(["index is missing"]))?,
            id: text("_id")?,
            routing: text("_routing")?,
            source,
        })
    };
    documents.iter().map(one).collect()
}

fn missing(property: &str) -> RequestError {
    let error =
        RequestError::new(400, "parse_exception", format!("[{property}] required property is missing"));
    error.with("property_name", property)
}

fn wrong_type(property: &str) -> RequestError {
    let error =
        RequestError::new(400, "parse_exception", format!("[{property}] has a value of the wrong type"));
    error.with("property_name", property)
}

/// Takes values to nowhere and notes the fields of which some were left out.
#[derive(Default)]
struct Ignored(Vec<String>);

impl FieldSink for Ignored {
    fn term(&mut self, field: &Field, value: &[u8]) {
        if &*field.path == "_ignored" {
            let name = String::from_utf8_lossy(value).into_owned();
            if !self.0.contains(&name) {
                self.0.push(name);
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
