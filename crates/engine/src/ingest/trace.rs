//! Records what each processor did to a simulated document (`verbose`).

use limber_mapping::RequestError;
use limber_work as work;
use serde_json::{Map, Value, json};

use super::document::node::Kind;
use super::document::{IngestDocument, ROOT};
use super::pipeline::Step;

/// The outcome of one processor.
#[derive(Debug)]
pub enum Status {
    /// The step did its work.
    Success,
    /// The step ended the document without a failure.
    Dropped,
    /// Its condition did not hold.
    Skipped,
    /// The step failed.
    Error(RequestError),
    /// The step failed, and `ignore_failure` lets the document continue.
    ErrorIgnored(RequestError),
}

/// The results so far, in the order in which processors ran.
#[derive(Debug, Default)]
pub struct Trace {
    pub results: Vec<Value>,
}

impl Trace {
    /// Adds a result. Leaves it out when the request has no memory left; the next step then fails, and with
    /// it the request.
    pub fn push(&mut self, step: &Step, status: Status, document: &mut IngestDocument<'_>) {
        if work::check().is_err() {
            return;
        }
        let mut result = Map::new();
        result.insert("processor_type".into(), step.kind.into());
        let name = match &status {
            Status::Success => "success",
            Status::Dropped => "dropped",
            Status::Skipped => "skipped",
            Status::Error(_) => "error",
            Status::ErrorIgnored(_) => "error_ignored",
        };
        result.insert("status".into(), name.into());
        if let Some(description) = &step.description {
            result.insert("description".into(), (**description).into());
        }
        if let Some(tag) = &step.tag {
            result.insert("tag".into(), (**tag).into());
        }
        if let Some(condition) = &step.condition {
            let holds = !matches!(status, Status::Skipped);
            result.insert("if".into(), json!({ "condition": condition.name(), "result": holds }));
        }
        let mut has_document = matches!(status, Status::Success);
        match status {
            Status::Error(error) => {
                result.insert("error".into(), error_json(&error));
            }
            Status::ErrorIgnored(error) => {
                has_document = true;
                result.insert("ignored_error".into(), json!({ "error": error_json(&error) }));
            }
            Status::Success | Status::Dropped | Status::Skipped => {}
        }
        // A pipeline that is there shows what its processors did instead.
        if has_document && (step.kind != "pipeline" || result.contains_key("ignored_error")) {
            match document_json(document, true) {
                Ok(document) => result.insert("doc".into(), document),
                Err(error) => result.insert("error".into(), error_json(&error)),
            };
        }
        self.results.push(Value::Object(result));
    }
}

/// Renders an error with its `root_cause`, as in the response of a simulation.
pub fn error_json(error: &RequestError) -> Value {
    let mut object = Map::new();
    let mut root = error.clone();
    root.caused_by = None;
    object.insert("root_cause".into(), json!([root.to_json()]));
    if let Value::Object(members) = error.to_json() {
        object.extend(members);
    }
    Value::Object(object)
}

/// Parses a document's text into a tree.
///
/// # Errors
/// Fails when there is no memory for the tree, or the text is not JSON.
pub fn tree_of(json: &[u8]) -> Result<Value, RequestError> {
    limber_mapping::claim_parsed(json)?;
    serde_json::from_slice(json).map_err(|error| RequestError::illegal_argument(error.to_string()))
}

/// Renders the document with its metadata and `_ingest`, as `_simulate` shows it: metadata come first, and
/// numbers among them are strings.
pub fn document_json(document: &mut IngestDocument<'_>, with_pipeline: bool) -> Result<Value, RequestError> {
    let mut object = Map::new();
    let metadata = document.metadata_root()?;
    let members: Vec<_> = document.children(metadata).collect();
    for member in members {
        let key = document.key(member).into_owned();
        let value = match document.node(member).kind {
            Kind::String => Value::String(document.string(member).into_owned()),
            Kind::Null => continue,
            _ => Value::String(document.json(member)?),
        };
        object.insert(key, value);
    }
    object.insert("_source".into(), tree_of(document.json(ROOT)?.as_bytes())?);
    let ingest = document.ingest_root()?;
    let mut ingest = tree_of(document.json(ingest)?.as_bytes())?;
    if !with_pipeline && let Some(ingest) = ingest.as_object_mut() {
        ingest.shift_remove("pipeline");
    }
    object.insert("_ingest".into(), ingest);
    Ok(Value::Object(object))
}
