//! `oversample`: "search for more hits than requested, because some will be removed". Source: OpenSearch's
//! `OversampleRequestProcessor`.

use std::sync::Arc;

use limber_script::Scripts;
use limber_search::SearchRequest;

use super::ChangesRequest;
use crate::api::Result;
use crate::ingest::Options;
use crate::search_pipeline::PipelineRun;
use crate::search_pipeline::run::size_key;
use crate::search_pipeline::verbose::ShownBody;

struct Oversample {
    factor: f64,
    /// The key under which the requested size is kept for `truncate_hits`.
    key: String,
}

/// Compiles the processor. Options: `sample_factor`; optional `context_prefix`.
pub(super) fn parse(options: &mut Options, _: &Arc<Scripts>) -> Result<Box<dyn ChangesRequest>> {
    let factor = options.double("sample_factor")?;
    // This comparison refuses NaN too.
    if !matches!(factor.partial_cmp(&1.0), Some(std::cmp::Ordering::Greater | std::cmp::Ordering::Equal)) {
        return Err(options.error("sample_factor", "Value must be >= 1.0"));
    }
    let key = size_key(options.optional_string("context_prefix")?.as_deref());
    Ok(Box::new(Oversample { factor, key }))
}

impl ChangesRequest for Oversample {
    /// Multiplies the size, which is 10 if the search has none; OpenSearch uses -1 then.
    fn change(&self, request: &mut SearchRequest, run: &mut PipelineRun) -> Result<()> {
        let size = request.size();
        run.keep_size(&self.key, size);
        // Saturates like Java's cast to `int`. The limit of the result window is checked later.
        let wanted = (f64::from(size) * self.factor).ceil().min(f64::from(i32::MAX)) as u32;
        request.put("size", &wanted.into())
    }

    fn show(&self, request: &SearchRequest, shown: &mut ShownBody) {
        shown.set("size", request.size().to_string());
    }
}
