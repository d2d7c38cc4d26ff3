//! `_ingest/pipeline/_simulate`: "what would this pipeline do to these documents?"
//!
//! Source: Elasticsearch's `SimulatePipelineRequest`, `SimulateExecutionService`.

use limber_mapping::{RequestError, java_class};
use limber_work as work;
use serde_json::{Value, json};

use super::document::Metadata;
use super::options::Options;
use super::registry::Pipelines;
use super::run::{Runner, ends_request};
use super::trace::{document_json, error_json};

/// The most documents in one simulation.
const DOCUMENT_COUNT_MAX: usize = 10_000;

/// The id of a pipeline that is given in the request's body.
const INLINE_ID: &str = "_simulate_pipeline";

/// One document of the request, owned.
pub(crate) struct SimulatedDocument {
    pub index: Option<String>,
    pub id: Option<String>,
    pub routing: Option<String>,
    version: Option<i64>,
    version_type: Option<String>,
    if_seq_no: Option<i64>,
    if_primary_term: Option<i64>,
    pub source: Vec<u8>,
}

/// Reads `docs` from the body of a simulation.
///
/// # Errors
/// Fails when there are no documents or too many, or when one is malformed.
pub(crate) fn given_documents(options: &mut Options) -> Result<Vec<SimulatedDocument>, RequestError> {
    let documents = options
        .optional_list("docs")?
        .ok_or_else(|| options.error("docs", "required property is missing"))?;
    if documents.is_empty() {
        return Err(RequestError::illegal_argument("must specify at least one document in [docs]"));
    }
    if documents.len() > DOCUMENT_COUNT_MAX {
        return Err(RequestError::illegal_argument(format!(
            "[docs] may hold at most {DOCUMENT_COUNT_MAX} documents"
        )));
    }
    documents.into_iter().map(given).collect()
}

/// Answers the request. `id` is the pipeline in the path, `None` when the body contains a pipeline.
/// `timestamp` is the one for [`Runner`].
pub fn simulate(
    pipelines: &Pipelines,
    id: Option<&str>,
    body: &Value,
    verbose: bool,
    timestamp: &str,
) -> Result<Value, RequestError> {
    let Value::Object(map) = body else {
        return Err(RequestError::bad_request("parse_exception", "the request body must be an object"));
    };
    let mut options = Options::new(map.clone(), "");
    let (id, with_inline) = match id {
        Some(id) if pipelines.get(id).is_none() => {
            return Err(RequestError::illegal_argument(format!("pipeline [{id}] does not exist")));
        }
        Some(id) => {
            options.take("pipeline");
            (id, None)
        }
        None => {
            let pipeline = options.optional_map("pipeline")?;
            let pipeline =
                pipeline.ok_or_else(|| options.error("pipeline", "required property is missing"))?;
            (INLINE_ID, Some(pipelines.with(pipelines.compile(INLINE_ID, &Value::Object(pipeline))?)))
        }
    };
    let pipelines = with_inline.as_ref().unwrap_or(pipelines);
    let documents = given_documents(&mut options)?;
    let mut results = Vec::with_capacity(documents.len());
    let mut runner = Runner::new(pipelines, timestamp);
    for document in &documents {
        work::check()?;
        if verbose {
            runner.start_trace();
        }
        let run = runner.run_and_keep(id, document.metadata(), &document.source, |document| {
            document_json(document, false)
        });
        let trace = runner.take_trace();
        work::check()?;
        if let Err(error) = &run
            && ends_request(error)
        {
            return Err(error.clone());
        }
        results.push(match run {
            _ if verbose => json!({ "processor_results": trace.results }),
            Ok(Some(document)) => json!({ "doc": document }),
            Ok(None) => Value::Null,
            Err(error) => json!({ "error": error_json(&error) }),
        });
    }
    runner.forget();
    Ok(json!({ "docs": results }))
}

impl SimulatedDocument {
    fn metadata(&self) -> Metadata<'_> {
        Metadata {
            index: self.index.as_deref().unwrap_or("_index"),
            id: Some(self.id.as_deref().unwrap_or("_id")),
            routing: self.routing.as_deref(),
            version: Some(self.version.unwrap_or(-3)),
            version_type: self.version_type.as_deref(),
            if_seq_no: self.if_seq_no,
            if_primary_term: self.if_primary_term,
            op_type: None,
        }
    }
}

fn given(document: Value) -> Result<SimulatedDocument, RequestError> {
    let Value::Object(map) = document else {
        return Err(RequestError::illegal_argument(
            "malformed [docs] section, should include an inner object",
        ));
    };
    let mut options = Options::new(map, "");
    let source = options
        .optional_map("_source")?
        .ok_or_else(|| options.error("_source", "required property is missing"))?;
    let given = SimulatedDocument {
        index: text_or_int(&mut options, "_index")?,
        id: text_or_int(&mut options, "_id")?,
        routing: text_or_int(&mut options, "_routing")?,
        version: long(&mut options, "_version")?,
        version_type: options.optional_string("_version_type")?,
        if_seq_no: long(&mut options, "_if_seq_no")?,
        if_primary_term: long(&mut options, "_if_primary_term")?,
        source: Value::Object(source).to_string().into_bytes(),
    };
    options.take("_type");
    Ok(given)
}

fn text_or_int(options: &mut Options, name: &str) -> Result<Option<String>, RequestError> {
    match options.take(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(Value::Number(number)) if number.is_i64() => Ok(Some(number.to_string())),
        Some(other) => {
            let reason = format!("property isn't a string or int, but of type [{}]", java_class(&other));
            Err(options.error(name, &reason))
        }
    }
}

fn long(options: &mut Options, name: &str) -> Result<Option<i64>, RequestError> {
    let Some(value) = options.take(name) else { return Ok(None) };
    let number = value.as_i64().or_else(|| value.as_str().and_then(|text| text.parse().ok()));
    match number {
        Some(number) => Ok(Some(number)),
        None => {
            let reason = format!("property isn't a number, but of type [{}]", java_class(&value));
            Err(options.error(name, &reason))
        }
    }
}
