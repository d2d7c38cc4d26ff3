//! `verbose_pipeline`: "what was each processor given, and what did it make of it?"
//!
//! Source: OpenSearch's `ProcessorExecutionDetail`.

use std::time::Duration;

use limber_mapping::RequestError;
use limber_search::SearchHit;
use serde_json::{Map, Value, json};

/// The name and tag of a processor, as a verbose pipeline shows them.
#[derive(Debug)]
pub(super) struct Named {
    pub kind: String,
    pub tag: Option<String>,
}

/// What the processors of one search did so far.
#[derive(Debug)]
pub(super) struct Verbose {
    /// The search, with the changes of the processors that ran.
    body: Map<String, Value>,
    results: Vec<Value>,
}

impl Verbose {
    pub(super) fn new(body: &Value) -> Verbose {
        let mut body = body.as_object().cloned().unwrap_or_default();
        body.insert("verbose_pipeline".to_owned(), true.into());
        Verbose { body, results: Vec::new() }
    }

    /// Returns the search as the next processor gets it.
    pub(super) fn body(&self) -> &Map<String, Value> {
        &self.body
    }

    pub(super) fn body_mut(&mut self) -> &mut Map<String, Value> {
        &mut self.body
    }

    /// Adds what a processor did. `output` is null where it failed.
    pub(super) fn add(
        &mut self,
        named: &Named,
        took: Duration,
        input: Value,
        outcome: Result<Value, &RequestError>,
    ) {
        let mut shown = Map::new();
        shown.insert("processor_name".to_owned(), named.kind.as_str().into());
        if let Some(tag) = &named.tag {
            shown.insert("tag".to_owned(), tag.as_str().into());
        }
        shown.insert("duration_millis".to_owned(), (took.as_millis() as u64).into());
        shown.insert("status".to_owned(), if outcome.is_ok() { "success" } else { "fail" }.into());
        if let Err(error) = outcome {
            shown.insert("error".to_owned(), error.reason.as_str().into());
        }
        shown.insert("input_data".to_owned(), input);
        shown.insert("output_data".to_owned(), outcome.unwrap_or(Value::Null));
        self.results.push(Value::Object(shown));
    }

    /// Returns the member `processor_results` of the response.
    pub(super) fn into_results(self) -> Value {
        json!(self.results)
    }
}

/// Returns hits as JSON. The node is not shown, as explanations are not what a processor changes.
pub(super) fn shown(hits: &[SearchHit]) -> crate::api::Result<Value> {
    let shown = |hit: &SearchHit| hit.to_json("").map_err(|error| error.to_request_error());
    hits.iter().map(shown).collect()
}
