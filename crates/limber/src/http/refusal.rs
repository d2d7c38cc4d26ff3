//! A request that memory is refused to, in Elasticsearch's words.

use limber_mapping::RequestError;

/// A refused charge in Elasticsearch's words.
pub fn circuit_breaking(error: &limber_store::Error) -> RequestError {
    let limber_store::Error::LimitExceeded { pool, wanted_bytes, limit_bytes, .. } = error else {
        return RequestError::new(500, "exception", error.to_string());
    };
    RequestError::new(429, "circuit_breaking_exception", format!("[{pool}] {}", strip_pool(error, pool)))
        .with("bytes_wanted", *wanted_bytes)
        .with("bytes_limit", *limit_bytes)
        .with("durability", "TRANSIENT")
}

fn strip_pool(error: &limber_store::Error, pool: &str) -> String {
    let text = error.to_string();
    text.strip_prefix(&format!("[{pool}] ")).map_or(text.clone(), str::to_owned)
}
