//! A request that memory is refused to, in Elasticsearch's words.

use limber_mapping::RequestError;

/// A refused charge in Elasticsearch's words.
pub fn circuit_breaking(error: &limber_store::Error) -> RequestError {
    match error {
        limber_store::Error::LimitExceeded(no_room) => no_room.clone().into(),
        other => RequestError::internal("exception", other.to_string()),
    }
}
