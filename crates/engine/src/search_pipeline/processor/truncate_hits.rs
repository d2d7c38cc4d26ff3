//! `truncate_hits`: "keep only this many hits". Source: OpenSearch's `TruncateHitsResponseProcessor`.

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_script::Scripts;
use limber_search::SearchResponse;

use super::ChangesResponse;
use crate::api::Result;
use crate::ingest::Options;
use crate::search_pipeline::PipelineRun;
use crate::search_pipeline::run::size_key;

struct TruncateHits {
    /// `None` uses the size of the request before `oversample`.
    target_size: Option<usize>,
    key: String,
}

/// Compiles the processor. Optional: `target_size` (the size before `oversample`) and `context_prefix`.
pub(super) fn parse(options: &mut Options, _: &Arc<Scripts>) -> Result<Box<dyn ChangesResponse>> {
    let target_size = match options.optional_int("target_size")? {
        None => None,
        Some(size) => match usize::try_from(size) {
            Ok(size) => Some(size),
            Err(_) => return Err(options.error("target_size", "Value must be >= 0")),
        },
    };
    let key = size_key(options.optional_string("context_prefix")?.as_deref());
    Ok(Box::new(TruncateHits { target_size, key }))
}

impl ChangesResponse for TruncateHits {
    fn change(&self, response: &mut SearchResponse, run: &mut PipelineRun) -> Result<()> {
        let kept = run.size(&self.key).map(|size| size as usize);
        let Some(size) = self.target_size.or(kept) else {
            let reason = format!("Must specify target_size unless an earlier processor set {}", self.key);
            // OpenSearch answers 500, but the pipeline is the user's.
            return Err(RequestError::bad_request("illegal_state_exception", reason));
        };
        response.hits.truncate(size);
        Ok(())
    }
}
