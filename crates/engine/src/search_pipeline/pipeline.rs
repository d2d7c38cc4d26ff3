//! A search pipeline as the user put it, and its compiled processors.
//!
//! Source: OpenSearch's `Pipeline` and `PipelineWithMetrics`.

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_script::Scripts;
use limber_search::{SearchRequest, SearchResponse};
use serde_json::{Map, Value};

use super::PipelineRun;
use super::processor::{self, REQUEST, RESPONSE, UNSUPPORTED};
use crate::api::Result;
use crate::ingest::Options;

/// Maximum number of processors in one pipeline.
const STEPS_MAX: usize = 100;

/// A processor with the options that every processor has.
struct Step<P: ?Sized> {
    ignores_failure: bool,
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

    /// Applies the request processors to a search.
    pub(crate) fn change_request(&self, request: &mut SearchRequest, run: &mut PipelineRun) -> Result<()> {
        each(&self.request, |processor| processor.change(request, run))
    }

    /// Applies the response processors to a response, and moves the memory charge of what they added to it.
    pub(crate) fn change_response(&self, response: &mut SearchResponse, mut run: PipelineRun) -> Result<()> {
        each(&self.response, |processor| processor.change(response, &mut run))?;
        response.charges.push(Arc::new(run.into_charge()));
        Ok(())
    }
}

/// Runs the processors in order. Changes that a processor with `ignore_failure` made before it failed stay,
/// as in OpenSearch.
fn each<P: ?Sized>(steps: &[Step<P>], mut run: impl FnMut(&P) -> Result<()>) -> Result<()> {
    for step in steps {
        match run(&step.processor) {
            Err(error) if !step.ignores_failure || crate::ingest::ends_request(&error) => return Err(error),
            _ => {}
        }
    }
    Ok(())
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
            options.take_tag()?;
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
            steps.push(Step { ignores_failure, processor });
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
