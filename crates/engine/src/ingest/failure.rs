//! The failure of a step, as `on_failure` processors see it.

use limber_mapping::RequestError;

use super::document::IngestDocument;
use super::document::node::Kind;
use super::document::path::FieldPath;

/// The step that failed, for `on_failure`.
#[derive(Debug)]
pub(super) struct Origin<'p> {
    pub kind: &'static str,
    pub tag: Option<&'p str>,
    pub pipeline: &'p str,
}

/// A step that failed, and its error.
#[derive(Debug)]
pub(super) struct Failure<'p> {
    pub error: RequestError,
    pub origin: Option<Origin<'p>>,
}

impl From<RequestError> for Failure<'_> {
    fn from(error: RequestError) -> Self {
        Failure { error, origin: None }
    }
}

const FAILURE_FIELDS: [&str; 4] = [
    "_ingest.on_failure_message",
    "_ingest.on_failure_processor_type",
    "_ingest.on_failure_processor_tag",
    "_ingest.on_failure_pipeline",
];

/// Makes the failure available to `on_failure` processors. The message is that of the root cause, as in
/// Elasticsearch.
pub(super) fn put_failure(
    document: &mut IngestDocument<'_>,
    failure: &Failure<'_>,
) -> Result<(), RequestError> {
    let mut cause = &failure.error;
    while let Some(deeper) = &cause.caused_by {
        cause = deeper;
    }
    let origin = failure.origin.as_ref();
    let values = [
        Some(cause.reason.as_str()),
        origin.map(|origin| origin.kind),
        origin.and_then(|origin| origin.tag),
        origin.map(|origin| origin.pipeline),
    ];
    for (field, value) in FAILURE_FIELDS.into_iter().zip(values) {
        let value = match value {
            Some(text) => document.make_string(text)?,
            None => document.make_scalar(Kind::Null, "null")?,
        };
        FieldPath::parse(field)?.set(document, value)?;
    }
    Ok(())
}

/// Removes the members that [`put_failure`] added.
pub(super) fn remove_failure(document: &mut IngestDocument<'_>) -> Result<(), RequestError> {
    for field in FAILURE_FIELDS {
        let path = FieldPath::parse(field)?;
        if path.find(document)?.is_some() {
            path.remove(document)?;
        }
    }
    Ok(())
}
