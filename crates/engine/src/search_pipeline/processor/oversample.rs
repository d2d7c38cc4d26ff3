//! `oversample`: "look for more hits than are asked for, as some will be taken away". Source: OpenSearch's
//! `OversampleRequestProcessor`.

use std::sync::Arc;

use limber_script::Scripts;
use limber_search::SearchRequest;

use super::ChangesRequest;
use crate::api::Result;
use crate::ingest::Options;
use crate::search_pipeline::PipelineRun;
use crate::search_pipeline::run::size_key;

struct Oversample {
    factor: f64,
    /// Under which the size that was asked for is kept for `truncate_hits`.
    key: String,
}

/// Compiles the processor. Options: `sample_factor`; optional `context_prefix`.
pub(super) fn parse(options: &mut Options, _: &Arc<Scripts>) -> Result<Box<dyn ChangesRequest>> {
    let factor = options.double("sample_factor")?;
    // Not a number is no factor either.
    if !matches!(factor.partial_cmp(&1.0), Some(std::cmp::Ordering::Greater | std::cmp::Ordering::Equal)) {
        return Err(options.error("sample_factor", "Value must be >= 1.0"));
    }
    let key = size_key(options.optional_string("context_prefix")?.as_deref());
    Ok(Box::new(Oversample { factor, key }))
}

impl ChangesRequest for Oversample {
    /// The size is 10 where the search has none; OpenSearch takes -1 for it then.
    fn change(&self, request: &mut SearchRequest, run: &mut PipelineRun) -> Result<()> {
        let size = request.size();
        run.keep_size(&self.key, size);
        // Saturates as a cast to `int` does; the limit of the result window comes later.
        let wanted = (f64::from(size) * self.factor).ceil().min(f64::from(i32::MAX)) as u32;
        request.put("size", &wanted.into())
    }
}
