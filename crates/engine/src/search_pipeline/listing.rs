//! The names of the processors, for the APIs that list them.

use super::processor::{REQUEST, RESPONSE};

/// Returns the names of the request processors and of the response processors, sorted.
pub fn search_pipeline_processors() -> (Vec<&'static str>, Vec<&'static str>) {
    let request = REQUEST.iter().map(|(name, _)| *name).collect();
    (request, RESPONSE.iter().map(|(name, _)| *name).collect())
}
