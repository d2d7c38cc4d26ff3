//! The node's pipelines: "which pipeline has this id?"

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use limber_mapping::RequestError;
use limber_store::sync::Mutex;
use limber_text::wildcard;
use serde_json::{Map, Value, json};

use super::pipeline::Pipeline;
use super::resources::Resources;
use super::stats::{Metric, PipelineMetrics};

/// One pipeline of a snapshot.
#[derive(Debug)]
pub struct Entry {
    /// The compiled pipeline.
    pub pipeline: Pipeline,
    /// Its statistics.
    pub metrics: PipelineMetrics,
}

/// All pipelines at one moment, immutable. A bulk request uses one snapshot from start to end.
#[derive(Debug, Default, Clone)]
pub struct Pipelines {
    by_id: BTreeMap<Box<str>, Arc<Entry>>,
    total: Arc<Metric>,
    resources: Arc<Resources>,
}

impl Pipelines {
    /// Returns the pipeline with this id.
    pub fn get(&self, id: &str) -> Option<&Arc<Entry>> {
        self.by_id.get(id)
    }

    /// Returns the ids of all pipelines, sorted.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.by_id.keys().map(|id| &**id)
    }

    /// Compiles a pipeline without storing it.
    pub fn compile(&self, id: &str, body: &Value) -> Result<Pipeline, RequestError> {
        Pipeline::parse(id, body, &self.resources)
    }

    pub(super) fn total(&self) -> &Metric {
        &self.total
    }

    /// Returns the entries whose id matches one of the comma-separated patterns (an empty string, `_all` and
    /// `*` match all).
    pub fn matching(&self, patterns: &str) -> Vec<&Arc<Entry>> {
        let all = patterns.is_empty() || patterns == "_all";
        let is_wanted = |id: &str| all || patterns.split(',').any(|pattern| wildcard::matches(pattern, id));
        self.by_id.iter().filter(|(id, _)| is_wanted(id)).map(|(_, entry)| entry).collect()
    }

    /// Renders the response of `GET _ingest/pipeline/{patterns}`; with `summary`, only the ids. For named ids
    /// an empty object means that none exists.
    pub fn to_json(&self, patterns: &str, summary: bool) -> Value {
        let body = |entry: &Arc<Entry>| if summary { json!({}) } else { entry.pipeline.body.clone() };
        let members =
            self.matching(patterns).into_iter().map(|entry| (entry.pipeline.id.to_string(), body(entry)));
        Value::Object(members.collect())
    }

    /// Renders the `ingest` object of `_nodes/stats`.
    pub fn stats(&self) -> Value {
        let pipelines: Map<String, Value> =
            self.by_id.iter().map(|(id, entry)| (id.to_string(), entry.metrics.to_json())).collect();
        json!({ "total": self.total.to_json(), "pipelines": pipelines })
    }

    /// Returns a snapshot that also has `pipeline`.
    pub fn with(&self, pipeline: Pipeline) -> Pipelines {
        let (by_id, total) = (self.by_id.clone(), self.total.clone());
        let mut next = Pipelines { by_id, total, resources: self.resources.clone() };
        next.add(pipeline);
        next
    }

    /// Adds a pipeline to this snapshot; used by simulations.
    pub fn add(&mut self, pipeline: Pipeline) {
        let names = pipeline.steps.iter().map(|step| (step.statistics_name(), step.kind));
        let metrics = PipelineMetrics::new(names);
        if let Some(old) = self.by_id.get(&pipeline.id) {
            metrics.inherit(&old.metrics);
        }
        self.by_id.insert(pipeline.id.clone(), Arc::new(Entry { pipeline, metrics }));
    }
}

/// The current pipelines. Writers take turns; readers get a snapshot without waiting.
#[derive(Debug, Default)]
pub struct Registry {
    current: ArcSwap<Pipelines>,
    writer: Mutex<()>,
}

impl Registry {
    /// Returns the names of the databases for `geoip` processors.
    pub fn database_names(&self) -> Vec<String> {
        self.current.load().resources.databases.names()
    }

    /// Starts without pipelines. They will be compiled with `resources`.
    pub fn new(resources: Resources) -> Registry {
        let empty = Pipelines { resources: Arc::new(resources), ..Pipelines::default() };
        Registry { current: ArcSwap::from_pointee(empty), writer: Mutex::default() }
    }

    /// Returns the current pipelines.
    pub fn snapshot(&self) -> Arc<Pipelines> {
        self.current.load_full()
    }

    /// Adds or replaces a pipeline. A replaced pipeline's statistics continue.
    pub fn put(&self, id: &str, body: &Value) -> Result<(), RequestError> {
        let pipeline = self.current.load().compile(id, body)?;
        self.keep(pipeline);
        Ok(())
    }

    /// Adds or replaces a compiled pipeline.
    pub fn keep(&self, pipeline: Pipeline) {
        let _turn = self.writer.lock();
        self.current.store(Arc::new(self.current.load().with(pipeline)));
    }

    /// Removes every pipeline whose id matches. Fails with `resource_not_found_exception` (`NotFound`) when
    /// none does, unless the pattern is `*`.
    pub fn delete(&self, pattern: &str) -> Result<(), RequestError> {
        let _turn = self.writer.lock();
        let current = self.current.load();
        let doomed: Vec<Box<str>> =
            current.by_id.keys().filter(|id| wildcard::matches(pattern, id)).cloned().collect();
        if doomed.is_empty() && pattern != "*" {
            return Err(RequestError::not_found(
                "resource_not_found_exception",
                format!("pipeline [{pattern}] is missing"),
            ));
        }
        let mut by_id = current.by_id.clone();
        by_id.retain(|id, _| !doomed.contains(id));
        self.current.store(Arc::new(Pipelines {
            by_id,
            total: current.total.clone(),
            resources: current.resources.clone(),
        }));
        Ok(())
    }

    /// Renders everything to be stored across restarts: `{id: body}`.
    pub fn to_json(&self) -> Value {
        self.current.load().to_json("", false)
    }

    /// Restores what [`Self::to_json`] rendered. A pipeline that cannot be compiled any more fails all of its
    /// documents.
    pub fn restore(&self, bodies: &Value) {
        for (id, body) in bodies.as_object().into_iter().flatten() {
            let restored = Pipeline::restore(id, body, &self.current.load().resources);
            self.keep(restored.unwrap_or_else(|error| {
                tracing::error!(pipeline = id, %error, "a stored pipeline cannot be used");
                Pipeline::lost(id, body, &error)
            }));
        }
    }
}
