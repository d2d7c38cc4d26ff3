//! Stores, returns and deletes search pipelines, which survive restarts, and applies them to searches.

use std::sync::Arc;
use std::time::Instant;

use limber_mapping::RequestError;
use limber_search::{CountRequest, SearchRequest, SearchResponse};
use limber_text::wildcard;
use serde_json::{Map, Value};

use super::search::Pinned;
use crate::api::Result;
use crate::node::Node;
use crate::search_pipeline::{PipelineMetrics, PipelineRun, SearchPipeline, SearchPipelineStats};

/// The name that stands for "no pipeline".
const NONE: &str = "_none";
/// Maximum number of pipelines of a node. All of them are in one file.
const PIPELINES_MAX: usize = 1_000;

/// The running pipeline of a search, and the search request as it changed it.
pub(in crate::node) struct Piped(Option<Running>);

struct Running {
    pipeline: SearchPipeline,
    run: PipelineRun,
    changed: SearchRequest,
    /// The totals of the pipeline; `None` if it is not a stored one.
    metrics: Option<Arc<PipelineMetrics>>,
    stats: Arc<SearchPipelineStats>,
}

impl Piped {
    /// Returns the search to run.
    pub(in crate::node) fn request<'r>(&'r self, given: &'r SearchRequest) -> &'r SearchRequest {
        self.0.as_ref().map_or(given, |running| &running.changed)
    }

    /// Returns the routing of the search if the pipeline changed it from `given`.
    pub(in crate::node) fn new_routing(&self, given: Option<&str>) -> Option<&str> {
        self.0.as_ref()?.run.routing().filter(|routing| Some(*routing) != given)
    }

    /// Applies the pipeline to the response.
    pub(in crate::node) fn finish(&mut self, response: &mut SearchResponse) -> Result<()> {
        let Some(running) = self.0.take() else { return Ok(()) };
        let metrics = running.metrics.as_deref();
        let started = Instant::now();
        let outcome = running.pipeline.change_response(response, running.run, metrics);
        running.stats.add_response(metrics, started.elapsed(), outcome.is_err());
        outcome
    }
}

impl Node {
    /// Carries out `PUT _search/pipeline/{id}`: validates and stores a pipeline, replacing one with the same
    /// id.
    pub fn put_search_pipeline(&self, id: &str, body: &Value) -> Result<()> {
        let metrics = SearchPipeline::parse(id, body, &self.scripts)?.metrics();
        let _changing = self.changing.lock();
        self.check_metadata_write_block()?;
        let state = self.state.load_full();
        let count = state.search_pipelines.as_object().map_or(0, Map::len);
        if count >= PIPELINES_MAX && state.search_pipelines.get(id).is_none() {
            let reason = format!("there are [{PIPELINES_MAX}] search pipelines already");
            return Err(RequestError::illegal_argument(reason));
        }
        self.change_state(|state| state.search_pipelines[id] = body.clone())?;
        // From now on the statistics show it.
        self.search_pipeline_stats.of(id, metrics);
        Ok(())
    }

    /// Returns the section `search_pipeline` of `_nodes/stats`.
    pub fn search_pipeline_stats(&self) -> Value {
        self.search_pipeline_stats.to_json()
    }

    /// Returns `{id: body}` of the pipelines that match one of these comma-separated names and patterns.
    pub fn get_search_pipelines(&self, ids: &str) -> Map<String, Value> {
        let state = self.state.load();
        let is_wanted = |id: &str| ids.split(',').any(|pattern| wildcard::matches(pattern, id));
        let all = state.search_pipelines.as_object().into_iter().flatten();
        all.filter(|(id, _)| is_wanted(id)).map(|(id, body)| (id.clone(), body.clone())).collect()
    }

    /// Carries out `DELETE _search/pipeline/{id}` for a name or pattern. As in OpenSearch, nothing is missing
    /// before the first one is stored.
    ///
    /// # Errors
    /// No pipeline matches the pattern, and the pattern is not `*`.
    pub fn delete_search_pipeline(&self, pattern: &str) -> Result<()> {
        let _changing = self.changing.lock();
        self.check_metadata_write_block()?;
        let state = self.state.load_full();
        let mut left = state.search_pipelines.as_object().cloned().unwrap_or_default();
        let count = left.len();
        left.retain(|id, _| !wildcard::matches(pattern, id));
        match left.len() < count {
            true => {
                self.search_pipeline_stats.retain(|id| left.contains_key(id));
                self.change_state(|state| state.search_pipelines = Value::Object(left))
            }
            false if pattern == "*" || left.is_empty() => Ok(()),
            false => {
                let reason = format!("pipeline [{pattern}] is missing");
                Err(RequestError::not_found("resource_not_found_exception", reason))
            }
        }
    }

    /// Returns the pipeline of a search: that of the request, or else the default of its indices. A stored
    /// pipeline comes with its name.
    fn search_pipeline(
        &self,
        given: Option<&Value>,
        pinned: &Pinned,
    ) -> Result<Option<(Option<String>, SearchPipeline)>> {
        let id = match given {
            Some(body @ Value::Object(_)) => {
                let pipeline = SearchPipeline::parse("_ad_hoc_pipeline", body, &self.scripts)?;
                return Ok(Some((None, pipeline)));
            }
            Some(id) => id.as_str().map(str::to_owned),
            None => default_pipeline(pinned),
        };
        let Some(id) = id.filter(|id| id != NONE) else { return Ok(None) };
        let state = self.state.load_full();
        let undefined = || RequestError::illegal_argument(format!("Pipeline {id} is not defined"));
        let body = state.search_pipelines.get(&id).ok_or_else(undefined)?;
        let pipeline = SearchPipeline::parse(&id, body, &self.scripts)?;
        Ok(Some((Some(id), pipeline)))
    }

    /// Applies the pipeline to a search request with this routing. A point in time has no default pipeline,
    /// as in OpenSearch.
    pub(in crate::node) fn apply_pipeline(
        &self,
        request: &SearchRequest,
        routing: Option<&str>,
        pinned: &Pinned,
    ) -> Result<Piped> {
        if request.pipeline.is_none() && request.pit.is_some() {
            return Ok(Piped(None));
        }
        let Some((id, pipeline)) = self.search_pipeline(request.pipeline.as_ref(), pinned)? else {
            return match request.verbose_pipeline {
                true => Err(RequestError::illegal_argument(
                    "The 'verbose pipeline' option requires a search pipeline to be defined.",
                )),
                false => Ok(Piped(None)),
            };
        };
        let charge = self.ledger.request.charge(0, "<search pipeline>");
        let charge = charge.map_err(|error| crate::shard::store_error(&error))?;
        let mut run = PipelineRun::new(charge, routing);
        if let Some(body) = &request.shown_body {
            run.be_verbose(body)?;
        }
        let mut changed = request.clone();
        let metrics = id.map(|id| self.search_pipeline_stats.of(&id, pipeline.metrics()));
        let started = Instant::now();
        let outcome = pipeline.change_request(&mut changed, &mut run, metrics.as_deref());
        let stats = self.search_pipeline_stats.clone();
        stats.add_request(metrics.as_deref(), started.elapsed(), outcome.is_err());
        outcome?;
        Ok(Piped(Some(Running { pipeline, run, changed, metrics, stats })))
    }

    /// Applies the default pipeline of the indices to a count, which it sees as a search without hits. The
    /// second result is the routing, if the pipeline changed it.
    pub(in crate::node) fn counted(
        &self,
        request: &CountRequest,
        routing: Option<&str>,
        pinned: &Pinned,
    ) -> Result<(CountRequest, Option<String>)> {
        let search = SearchRequest {
            query: request.query.clone(),
            min_score: request.min_score,
            terminate_after: request.terminate_after,
            size: Some(0),
            ..SearchRequest::default()
        };
        let piped = self.apply_pipeline(&search, routing, pinned)?;
        let search = piped.request(&search);
        let request = CountRequest {
            query: search.query.clone(),
            min_score: search.min_score,
            terminate_after: search.terminate_after,
        };
        Ok((request, piped.new_routing(routing).map(str::to_owned)))
    }
}

/// Returns the default pipeline of the indices that have one; `None` if they have different ones.
fn default_pipeline(pinned: &Pinned) -> Option<String> {
    let mut found: Option<String> = None;
    for shard in &pinned.shards {
        match (&found, &shard.index.settings.load().search_pipeline) {
            (None, Some(own)) => found = Some(own.clone()),
            (Some(other), Some(own)) if other != own => return None,
            _ => {}
        }
    }
    found
}
