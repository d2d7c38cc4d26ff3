//! A search pipeline as the user put it, and its compiled processors.
//!
//! Source: OpenSearch's `Pipeline` and `PipelineWithMetrics`.

use std::sync::Arc;
use std::time::Instant;

use limber_mapping::RequestError;
use limber_script::Scripts;
use limber_search::{SearchRequest, SearchResponse};
use serde_json::{Map, Value};

use super::PipelineRun;
use super::processor::{self, REQUEST, RESPONSE, UNSUPPORTED};
use super::stats::{PipelineMetrics, SideMetrics};
use super::verbose::Named;
use crate::api::Result;
use crate::ingest::Options;

/// Maximum number of processors in one pipeline.
const STEPS_MAX: usize = 100;

/// A processor with the options that every processor has.
struct Step<P: ?Sized> {
    ignores_failure: bool,
    named: Named,
    processor: Box<P>,
}

/// A compiled pipeline.
pub(crate) struct SearchPipeline {
    request: Vec<Step<dyn processor::ChangesRequest>>,
    response: Vec<Step<dyn processor::ChangesResponse>>,
}

impl SearchPipeline {
    /// Compiles the body of `PUT _search/pipeline/{id}`, or a pipeline in a search request.
    ///
    /// # Errors
    /// `parse_exception` and `illegal_argument_exception` with OpenSearch's messages. Errors of queries and
    /// scripts are returned unchanged.
    pub(crate) fn parse(id: &str, body: &Value, scripts: &Arc<Scripts>) -> Result<SearchPipeline> {
        let Value::Object(members) = body else {
            return Err(RequestError::bad_request("parse_exception", "a search pipeline must be an object"));
        };
        let mut options = Options::new(members.clone(), "");
        options.optional_string("description")?;
        options.optional_int("version")?;
        let request = options.optional_list("request_processors")?.unwrap_or_default();
        let response = options.optional_list("response_processors")?.unwrap_or_default();
        let phase = options.optional_list("phase_results_processors")?.unwrap_or_default();
        let count = request.len() + response.len() + phase.len();
        if count > STEPS_MAX {
            let reason = format!("pipeline [{id}] has [{count}] processors, and may have [{STEPS_MAX}]");
            return Err(RequestError::illegal_argument(reason));
        }
        let pipeline = SearchPipeline {
            request: steps(request, REQUEST, scripts)?,
            response: steps(response, RESPONSE, scripts)?,
        };
        steps::<dyn processor::ChangesResponse>(phase, &[], scripts)?;
        options.finish_pipeline(id)?;
        Ok(pipeline)
    }

    /// Returns totals of zero for its processors.
    pub(crate) fn metrics(&self) -> PipelineMetrics {
        PipelineMetrics {
            request: SideMetrics::new(self.request.iter().map(|step| &step.named)),
            response: SideMetrics::new(self.response.iter().map(|step| &step.named)),
        }
    }

    /// Applies the request processors to a search, and adds to the totals of the pipeline.
    pub(crate) fn change_request(
        &self,
        request: &mut SearchRequest,
        run: &mut PipelineRun,
        metrics: Option<&PipelineMetrics>,
    ) -> Result<()> {
        for (place, step) in self.request.iter().enumerate() {
            let input = run.shown_body()?;
            let started = Instant::now();
            let outcome = step.processor.change(request, run);
            let took = started.elapsed();
            if let Some(metrics) = metrics {
                metrics.request.add_step(place, took, outcome.is_err());
            }
            let (Some(input), Some(verbose)) = (input, run.verbose()) else {
                step.judge(outcome)?;
                continue;
            };
            if outcome.is_ok() {
                step.processor.show(request, verbose.body_mut());
            }
            let output = verbose.body().json()?;
            verbose.add(&step.named, took, &input, outcome.as_ref().map(|()| &*output))?;
            unless_it_ends_the_request(outcome)?;
        }
        Ok(())
    }

    /// Applies the response processors to a response, adds to the totals of the pipeline, and moves the
    /// memory charge of what they added to the response.
    pub(crate) fn change_response(
        &self,
        response: &mut SearchResponse,
        mut run: PipelineRun,
        metrics: Option<&PipelineMetrics>,
    ) -> Result<()> {
        for (place, step) in self.response.iter().enumerate() {
            let input = run.shown_hits(response)?;
            let started = Instant::now();
            let outcome = step.processor.change(response, &mut run);
            let took = started.elapsed();
            if let Some(metrics) = metrics {
                metrics.response.add_step(place, took, outcome.is_err());
            }
            let output = if input.is_some() { run.shown_hits(response)? } else { None };
            let (Some(input), Some(output), Some(verbose)) = (input, output, run.verbose()) else {
                step.judge(outcome)?;
                continue;
            };
            verbose.add(&step.named, took, &input, outcome.as_ref().map(|()| &*output))?;
            unless_it_ends_the_request(outcome)?;
        }
        let (charge, results) = run.finish()?;
        response.charges.push(Arc::new(charge));
        response.processor_results = results;
        Ok(())
    }
}

impl<P: ?Sized> Step<P> {
    /// Passes over a failure where the step says so. Changes that it made before it failed stay, as in
    /// OpenSearch.
    fn judge(&self, outcome: Result<()>) -> Result<()> {
        if self.ignores_failure { unless_it_ends_the_request(outcome) } else { outcome }
    }
}

/// Passes over failures but those that end every request, such as a cancellation. A verbose pipeline shows
/// them instead.
fn unless_it_ends_the_request(outcome: Result<()>) -> Result<()> {
    match outcome {
        Err(error) if crate::ingest::ends_request(&error) => Err(error),
        _ => Ok(()),
    }
}

fn steps<P: ?Sized>(
    list: Vec<Value>,
    table: &[(&str, processor::Parse<P>)],
    scripts: &Arc<Scripts>,
) -> Result<Vec<Step<P>>> {
    let mut steps = Vec::with_capacity(list.len());
    for entry in list {
        for (kind, config) in object(entry)? {
            let known = table.iter().find(|(name, _)| *name == kind);
            let Some((_, parse)) = known else { return Err(unknown(&kind)) };
            let mut options = Options::new(object(config)?, &kind);
            let tag = options.take_tag()?;
            options.optional_string("description")?;
            let ignores_failure = options.bool_or("ignore_failure", false)?;
            let processor = parse(&mut options, scripts)?;
            let rest: Vec<String> = options.take_rest().keys().cloned().collect();
            if !rest.is_empty() {
                let reason = format!(
                    "processor [{kind}] doesn't support one or more provided configuration parameters: [{}]",
                    rest.join(", ")
                );
                return Err(RequestError::bad_request("parse_exception", reason));
            }
            let named = Named { kind: kind.clone(), tag };
            steps.push(Step { ignores_failure, named, processor });
        }
    }
    Ok(steps)
}

/// Returns the members of an object. For other values OpenSearch answers 500 with the name of a Java class;
/// here it is the user's error.
fn object(value: Value) -> Result<Map<String, Value>> {
    match value {
        Value::Object(members) => Ok(members),
        other => {
            let token = limber_mapping::token(&other);
            let reason = format!("processors must be objects, but one is a {token}");
            Err(RequestError::bad_request("parse_exception", reason))
        }
    }
}

fn unknown(kind: &str) -> RequestError {
    match UNSUPPORTED.contains(&kind) {
        true => RequestError::unsupported(format_args!("processor [{kind}] of search pipelines")),
        false => RequestError::illegal_argument(format!("Invalid processor type {kind}")),
    }
}
