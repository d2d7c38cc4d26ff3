//! The error of a request for which there is not enough memory.

use limber_mapping::RequestError;

/// Converts a refused charge to Elasticsearch's `circuit_breaking_exception`.
pub fn circuit_breaking(error: &limber_store::Error) -> RequestError {
    match error {
        limber_store::Error::LimitExceeded(memory_limit_exceeded) => memory_limit_exceeded.clone().into(),
        other => RequestError::internal("exception", other.to_string()),
    }
}
