//! Statistics of search pipelines: "how often did each processor run, how long did it take, how often did it
//! fail?"
//!
//! Source: OpenSearch's `SearchPipelineStats`.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use limber_store::sync::Mutex;
use serde_json::{Map, Value, json};

use super::verbose::Named;
use crate::ingest::{Metric, Tally};

/// The totals of one side of a pipeline: its processors of requests, or those of responses.
#[derive(Debug, Default)]
pub(super) struct SideMetrics {
    whole: Metric,
    /// For every processor: its name in the statistics, its type and its metric.
    steps: Vec<(String, String, Metric)>,
}

/// The totals of one stored pipeline.
#[derive(Debug, Default)]
pub(crate) struct PipelineMetrics {
    pub(super) request: SideMetrics,
    pub(super) response: SideMetrics,
}

/// The totals of all search pipelines since the node started.
#[derive(Debug, Default)]
pub(crate) struct SearchPipelineStats {
    request: Metric,
    response: Metric,
    /// By name of the pipeline.
    pipelines: Mutex<HashMap<String, Arc<PipelineMetrics>>>,
}

fn add(metric: &Metric, took: Duration, has_failed: bool) {
    let nanos = took.as_nanos() as u64;
    metric.add(&Tally { count: 1, failed: has_failed.into(), timed_count: 1, timed_nanos: nanos });
}

impl SideMetrics {
    pub(super) fn new<'n>(steps: impl Iterator<Item = &'n Named>) -> SideMetrics {
        let named = |named: &Named| {
            let name = match &named.tag {
                Some(tag) => format!("{}:{tag}", named.kind),
                None => named.kind.clone(),
            };
            (name, named.kind.clone(), Metric::default())
        };
        SideMetrics { whole: Metric::default(), steps: steps.map(named).collect() }
    }

    /// Notes that the processor at an index ran.
    pub(super) fn add_step(&self, place: usize, took: Duration, has_failed: bool) {
        if let Some((_, _, metric)) = self.steps.get(place) {
            add(metric, took, has_failed);
        }
    }

    fn inherit(&self, old: &SideMetrics) {
        self.whole.inherit(&old.whole);
        for (new, old) in self.steps.iter().zip(&old.steps).filter(|(new, old)| new.0 == old.0) {
            new.2.inherit(&old.2);
        }
    }

    fn has_steps_of(&self, other: &SideMetrics) -> bool {
        self.steps.iter().map(|step| &step.0).eq(other.steps.iter().map(|step| &step.0))
    }

    fn steps_json(&self) -> Value {
        let steps = self
            .steps
            .iter()
            .map(|(name, kind, metric)| json!({ name: { "type": kind, "stats": metric.to_json() } }));
        steps.collect()
    }
}

impl SearchPipelineStats {
    /// Returns the totals of a pipeline. If it has other processors than before, those that stayed keep their
    /// totals. `fresh` are totals of zero.
    pub(crate) fn of(&self, id: &str, fresh: PipelineMetrics) -> Arc<PipelineMetrics> {
        let mut pipelines = self.pipelines.lock();
        if let Some(known) = pipelines.get(id) {
            let is_same =
                known.request.has_steps_of(&fresh.request) && known.response.has_steps_of(&fresh.response);
            if is_same {
                return known.clone();
            }
            fresh.request.inherit(&known.request);
            fresh.response.inherit(&known.response);
        }
        let fresh = Arc::new(fresh);
        pipelines.insert(id.to_owned(), fresh.clone());
        fresh
    }

    /// Forgets the pipelines that are not stored any more.
    pub(crate) fn retain(&self, is_stored: impl Fn(&str) -> bool) {
        self.pipelines.lock().retain(|id, _| is_stored(id));
    }

    /// Notes that the processors of requests ran. `own` is `None` for a pipeline that is not stored.
    pub(crate) fn add_request(&self, own: Option<&PipelineMetrics>, took: Duration, has_failed: bool) {
        let own = own.map(|own| &own.request.whole);
        own.into_iter().chain([&self.request]).for_each(|metric| add(metric, took, has_failed));
    }

    /// Notes that the processors of responses ran.
    pub(crate) fn add_response(&self, own: Option<&PipelineMetrics>, took: Duration, has_failed: bool) {
        let own = own.map(|own| &own.response.whole);
        own.into_iter().chain([&self.response]).for_each(|metric| add(metric, took, has_failed));
    }

    /// Renders the section `search_pipeline` of `_nodes/stats`.
    pub(crate) fn to_json(&self) -> Value {
        let pipelines = self.pipelines.lock();
        let mut shown: Vec<(&String, Value)> = pipelines
            .iter()
            .map(|(id, own)| {
                let own = json!({
                    "request": own.request.whole.to_json(),
                    "response": own.response.whole.to_json(),
                    "request_processors": own.request.steps_json(),
                    "response_processors": own.response.steps_json(),
                });
                (id, own)
            })
            .collect();
        shown.sort_unstable_by_key(|(id, _)| *id);
        let pipelines: Map<String, Value> = shown.into_iter().map(|(id, own)| (id.clone(), own)).collect();
        json!({
            "total_request": self.request.to_json(),
            "total_response": self.response.to_json(),
            "pipelines": pipelines,
        })
    }
}
