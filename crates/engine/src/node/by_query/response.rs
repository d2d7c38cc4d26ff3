//! The response of a request by query.

use limber_mapping::{ErrorClass, RequestError};
use serde_json::{Map, Value, json};

/// The result of a request by query.
#[derive(Debug, Clone)]
pub struct ByQueryResponse {
    /// The body of the API's response, without `failures`.
    pub body: Map<String, Value>,
    /// What could not be read or written.
    pub failures: Vec<ByQueryFailure>,
}

impl ByQueryResponse {
    /// Checks that the request has come to its end: a request that is cancelled, or whose search reaches its
    /// time limit, ends early without a failure.
    ///
    /// # Errors
    /// Documents may be missing, because of `what`.
    pub(in crate::node) fn check_is_whole(&self, what: &str) -> Result<(), RequestError> {
        if let Some(failure) = self.failures.first() {
            let class = self.failures.iter().map(|failure| failure.class).max();
            let reason = format!("{what}: {}", failure.shown);
            return Err(RequestError::new(class.unwrap_or(failure.class), "illegal_state_exception", reason));
        }
        if self.body["timed_out"] == true {
            let reason = format!("{what}: the time for a search was over");
            return Err(RequestError::new(ErrorClass::TooManyRequests, "search_timeout_exception", reason));
        }
        match self.body.get("canceled") {
            None => Ok(()),
            Some(why) => {
                let reason = format!("{what}: task cancelled [{}]", why.as_str().unwrap_or_default());
                Err(RequestError::bad_request("task_cancelled_exception", reason))
            }
        }
    }
}

/// A shard that could not be read, or a document or batch that could not be written.
#[derive(Debug, Clone)]
pub struct ByQueryFailure {
    /// The class of the error.
    pub class: ErrorClass,
    /// The object that the API shows for it, without its status.
    pub shown: Value,
}

/// Returns the error of a thread that the system cannot start.
pub(super) fn no_thread(error: &std::io::Error) -> RequestError {
    RequestError::unavailable("es_rejected_execution_exception", error.to_string())
}

/// Fails when a search ended before its last document. Otherwise the missing documents would go unnoticed.
pub(super) fn check_all_came(read: u64, total: u64) -> Result<(), RequestError> {
    if read >= total {
        return Ok(());
    }
    let reason = format!("the remote search found [{total}] documents but handed out [{read}]");
    Err(RequestError::internal("illegal_state_exception", reason))
}

/// Makes a failure from a shard that could not be read.
pub(super) fn search_failure(failure: &limber_search::ShardFailure) -> ByQueryFailure {
    let shown = json!({
        "index": failure.index, "shard": failure.shard, "node": failure.node, "reason": failure.reason.to_json(),
    });
    ByQueryFailure { class: failure.reason.class, shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_ended_early_is_not_whole() {
        let check = |body: Value, expected: Option<&str>| {
            let body = body.as_object().expect("an object").clone();
            let response = ByQueryResponse { body, failures: Vec::new() };
            assert_eq!(response.check_is_whole("x").err().map(|error| error.kind), expected);
        };
        check(json!({"timed_out": false, "total": 3}), None);
        check(json!({"timed_out": true}), Some("search_timeout_exception"));
        check(json!({"timed_out": false, "canceled": "by user request"}), Some("task_cancelled_exception"));
    }
}
