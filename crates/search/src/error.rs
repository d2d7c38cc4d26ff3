//! The errors of a search, by who can act on them, and their form as Elasticsearch's error body.

use limber_mapping::{ErrorClass, RequestError};
use limber_work::Stop;
use serde_json::{Map, Value, json};

/// The result of a search.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The type of the error about a scroll or point in time that is not open.
pub const CONTEXT_MISSING: &str = "search_context_missing_exception";

/// Why a search has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller's fault.
    #[error(transparent)]
    Request(RequestError),
    /// Corrupt data, a disk error, or a limit of the layers below.
    #[error(transparent)]
    Segment(#[from] limber_segment::Error),
    /// A memory limit or a disk error.
    #[error(transparent)]
    Store(#[from] limber_store::Error),
    /// Every shard failed; Elasticsearch's `search_phase_execution_exception`.
    #[error("all shards failed")]
    AllShardsFailed {
        /// The phase in which they failed: `query` or `fetch`.
        phase: &'static str,
        /// What went wrong on each of them.
        failures: Vec<ShardFailure>,
    },
    /// Some shards failed, and the request does not accept a partial answer
    /// (`allow_partial_search_results`).
    #[error("Partial shards failure")]
    SomeShardsFailed {
        /// The phase in which they failed: `query` or `fetch`.
        phase: &'static str,
        /// What went wrong on each of them.
        failures: Vec<ShardFailure>,
    },
    /// A document that a query names cannot be read. This fails the request as a whole, whichever shard
    /// needed it first.
    #[error(transparent)]
    Lookup(RequestError),
    /// The task was cancelled while it ran.
    #[error("task cancelled")]
    Cancelled,
    /// The deadline (`timeout`) has passed. Never leaves [`crate::execute`]: it becomes `timed_out: true`.
    #[error("Time exceeded")]
    TimedOut,
}

/// The layers below that know only [`RequestError`], such as scripts, report a deadline as one.
impl From<RequestError> for Error {
    fn from(error: RequestError) -> Error {
        match error.class {
            ErrorClass::Timeout => Error::TimedOut,
            _ => Error::Request(error),
        }
    }
}

impl From<limber_text::Error> for Error {
    fn from(error: limber_text::Error) -> Error {
        RequestError::from(error).into()
    }
}

/// One entry of `_shards.failures`.
#[derive(Debug, Clone)]
pub struct ShardFailure {
    /// The name of the shard's index.
    pub index: String,
    /// The number of the shard in its index.
    pub shard: u32,
    /// The id of the node; not shown if empty.
    pub node: String,
    /// What went wrong.
    pub reason: RequestError,
}

impl ShardFailure {
    /// Returns `{"shard", "index", "node", "reason"}` in Elasticsearch's order.
    pub fn to_json(&self) -> Value {
        let mut entry = json!({ "shard": self.shard, "index": self.index });
        if !self.node.is_empty() {
            entry["node"] = self.node.clone().into();
        }
        entry["reason"] = self.reason.to_json();
        entry
    }
}

impl From<Stop> for Error {
    fn from(stop: Stop) -> Error {
        match stop {
            Stop::Cancelled => Error::Cancelled,
            Stop::TimedOut => Error::TimedOut,
            Stop::Memory(memory_limit_exceeded) => Error::Store(memory_limit_exceeded.into()),
            Stop::Patterns { .. } | Stop::Filters { .. } => Error::Request(stop.into()),
        }
    }
}

/// Checks whether the request was cancelled or uses more memory than it may; called by the phases after the
/// query phase.
pub(crate) fn check_request() -> Result<()> {
    Ok(limber_work::check_beyond_deadline()?)
}

impl Error {
    /// Converts to a [`RequestError`], whatever the origin; `search_phase_execution_exception` carries
    /// `failed_shards`.
    pub fn to_request_error(&self) -> RequestError {
        match self {
            Error::Request(error) | Error::Lookup(error) => error.clone(),
            Error::Segment(limber_segment::Error::Store(error)) | Error::Store(error) => store_error(error),
            Error::Segment(error @ limber_segment::Error::Corrupt { .. }) => {
                RequestError::internal("corrupt_index_exception", error.to_string())
            }
            Error::Segment(error) => RequestError::internal("exception", error.to_string()),
            Error::Cancelled => RequestError::bad_request("task_cancelled_exception", "task cancelled"),
            Error::TimedOut => {
                RequestError::new(ErrorClass::Timeout, "query_phase_execution_exception", "Time exceeded")
            }
            Error::AllShardsFailed { phase, failures } => all_shards_failed(phase, failures),
            Error::SomeShardsFailed { phase, failures } => shards_failed(phase, self.to_string(), failures),
        }
    }

    /// Returns the class of the error; for failed shards, the most severe one.
    pub fn class(&self) -> ErrorClass {
        self.to_request_error().class
    }

    /// Returns the `root_cause` entries: `{"type", "reason", ...}` without their causes.
    pub fn root_causes(&self) -> Vec<Value> {
        let shown = |error: &RequestError| {
            let mut root = root_cause(error).clone();
            root.caused_by = None;
            root.to_json()
        };
        match self {
            Error::AllShardsFailed { failures, .. } | Error::SomeShardsFailed { failures, .. } => {
                grouped(failures).into_iter().map(|failure| shown(&failure.reason)).collect()
            }
            other => {
                let error = other.to_request_error();
                match &error.caused_by {
                    Some(cause) if cause.kind == CONTEXT_MISSING => vec![shown(cause)],
                    // The final reduce failed, not a shard.
                    _ if error.kind == "search_phase_execution_exception" => Vec::new(),
                    _ => vec![shown(&error)],
                }
            }
        }
    }

    /// Returns the error object: `{"root_cause": [...], "type", "reason", ...}`.
    pub fn to_json(&self) -> Value {
        let error = self.to_request_error();
        let mut object = Map::new();
        object.insert("root_cause".into(), self.root_causes().into());
        if let Value::Object(members) = error.to_json() {
            object.extend(members);
        }
        Value::Object(object)
    }

    /// Whether one shard may fail with this error while the others continue.
    pub(crate) fn is_of_one_shard(&self) -> bool {
        !matches!(self, Error::Cancelled | Error::TimedOut | Error::Lookup(_))
    }
}

/// Converts a failure of disk or memory.
pub fn store_error(error: &limber_store::Error) -> RequestError {
    match error {
        limber_store::Error::LimitExceeded(memory_limit_exceeded) => memory_limit_exceeded.clone().into(),
        // Lucene's `IndexFormatTooNewException`.
        limber_store::Error::Newer { .. } => {
            RequestError::internal("index_format_too_new_exception", error.to_string())
        }
        limber_store::Error::Corrupt { .. } => {
            RequestError::internal("corrupt_index_exception", error.to_string())
        }
        other => RequestError::internal("i_o_exception", other.to_string()),
    }
}

/// Whether this is an exception of the Java library rather than of Elasticsearch; Elasticsearch wraps these
/// once more when it names a root cause.
fn is_foreign(kind: &str) -> bool {
    matches!(
        kind,
        "illegal_argument_exception"
            | "too_complex_to_determinize_exception"
            | "number_format_exception"
            | "illegal_state_exception"
            | "null_pointer_exception"
            | "array_index_out_of_bounds_exception"
            | "date_time_parse_exception"
            | "x_content_parse_exception"
            | "i_o_exception"
            | "corrupt_index_exception"
    )
}

/// Returns the innermost cause that Elasticsearch would name (`ElasticsearchException#guessRootCauses`).
pub fn root_cause(error: &RequestError) -> &RequestError {
    match &error.caused_by {
        // The causes of a script exception are Java's.
        Some(_) if error.kind == "script_exception" => error,
        // An exception of Lucene, recognized by its message.
        Some(cause) if cause.reason.starts_with("Cannot parse ") => error,
        Some(cause) if error.kind == "x_content_parse_exception" => match cause.kind {
            "illegal_argument_exception"
            | "illegal_state_exception"
            | "number_format_exception"
            | "zone_rules_exception" => error,
            _ => root_cause(cause),
        },
        Some(cause)
            if !is_foreign(error.kind)
                && !is_foreign(cause.kind)
                && cause.kind != "named_object_not_found_exception" =>
        {
            root_cause(cause)
        }
        _ => error,
    }
}

/// Builds a `SearchPhaseExecutionException` without a cause.
fn shards_failed(phase: &'static str, reason: impl Into<String>, failures: &[ShardFailure]) -> RequestError {
    let gravest = failures.iter().map(|failure| failure.reason.class).max();
    let shards: Vec<Value> = grouped(failures).iter().map(|failure| failure.to_json()).collect();
    RequestError::new(gravest.unwrap_or(ErrorClass::Unavailable), "search_phase_execution_exception", reason)
        .with("phase", phase)
        .with("grouped", true)
        .with("failed_shards", shards)
}

/// Builds a `SearchPhaseExecutionException`; the first failure's root cause is repeated unless it is that
/// failure itself.
fn all_shards_failed(phase: &'static str, failures: &[ShardFailure]) -> RequestError {
    let mut error = shards_failed(phase, "all shards failed", failures);
    if let Some(first) = failures.first() {
        let root = root_cause(&first.reason);
        if is_foreign(root.kind) {
            let mut wrapper = RequestError::new(root.class, root.kind, root.reason.clone());
            wrapper.caused_by = Some(Box::new(root.clone()));
            error.caused_by = Some(Box::new(wrapper));
        } else if !std::ptr::eq(root, &first.reason) {
            error.caused_by = Some(Box::new(root.clone()));
        }
    }
    error
}

/// Keeps one failure per (index, reason), as Elasticsearch groups them (`ExceptionsHelper#groupBy`).
pub(crate) fn grouped(failures: &[ShardFailure]) -> Vec<&ShardFailure> {
    let mut kept: Vec<&ShardFailure> = Vec::new();
    for failure in failures {
        if !kept.iter().any(|seen| seen.index == failure.index && seen.reason == failure.reason) {
            kept.push(failure);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(reason: RequestError) -> Value {
        let failure = ShardFailure { index: "t".into(), shard: 0, node: "n".into(), reason };
        Error::AllShardsFailed { phase: "query", failures: vec![failure] }.to_json()
    }

    #[test]
    fn a_foreign_exception_is_repeated_as_the_cause() {
        let error = failed(RequestError::illegal_argument("bad"));
        assert_eq!(error["root_cause"][0], json!({"type": "illegal_argument_exception", "reason": "bad"}));
        assert_eq!(error["caused_by"]["caused_by"]["reason"], "bad");
    }

    #[test]
    fn an_elasticsearch_exception_is_its_own_root_cause() {
        let cause = RequestError::bad_request("number_format_exception", "For input string: \"abc\"");
        let error = failed(
            RequestError::bad_request("query_shard_exception", "failed to create query").caused_by(cause),
        );
        assert_eq!(error["root_cause"][0]["type"], "query_shard_exception");
        assert_eq!(error.get("caused_by"), None);
    }
}
