//! `collapse`: "keep only the best hit for each value of a field". Source: OpenSearch's
//! `CollapseResponseProcessor`.

use std::collections::HashMap;
use std::sync::Arc;

use limber_mapping::{RequestError, plain_text};
use limber_script::Scripts;
use limber_search::{SearchHit, SearchResponse};
use serde_json::Value;

use super::ChangesResponse;
use crate::api::Result;
use crate::ingest::Options;
use crate::search_pipeline::PipelineRun;

struct Collapse {
    field: String,
}

/// Compiles the processor. Option: `field`.
pub(super) fn parse(options: &mut Options, _: &Arc<Scripts>) -> Result<Box<dyn ChangesResponse>> {
    Ok(Box::new(Collapse { field: options.string("field")? }))
}

impl Collapse {
    /// Returns the value of a hit, preferably from its `fields`. Hits without a value form one group.
    fn value(&self, hit: &SearchHit) -> Result<String> {
        const MISSING: &str = "<missing>";
        if let Some(values) = hit.fields.as_ref().and_then(|fields| fields.get(&self.field)) {
            return match values.as_array().map(Vec::as_slice) {
                Some([value]) => Ok(plain_text(value)),
                // OpenSearch answers 500, but the pipeline is the user's.
                _ => Err(RequestError::bad_request(
                    "illegal_state_exception",
                    format!(
                        "Failed to collapse {}: doc has multiple values for field {}",
                        hit.id.as_deref().unwrap_or("null"),
                        self.field
                    ),
                )),
            };
        }
        hit.source.as_deref().map_or(Ok(()), limber_mapping::claim_parsed)?;
        let source = hit.source.as_deref().and_then(|source| limber_mapping::parse_source(source).ok());
        let value = source.and_then(|mut source| source.get_mut(&self.field).map(Value::take));
        let value = value.filter(|value| !value.is_null());
        Ok(value.map_or_else(|| MISSING.to_owned(), |value| plain_text(&value)))
    }
}

impl ChangesResponse for Collapse {
    /// Collapses the hits. Afterwards they are ordered by score, however they were sorted before. Hits with
    /// the same score keep the order of the search; in OpenSearch their order is undefined.
    fn change(&self, response: &mut SearchResponse, _: &mut PipelineRun) -> Result<()> {
        let mut best: HashMap<String, usize> = HashMap::new();
        let score = |hit: &SearchHit| hit.score.unwrap_or(f32::NAN);
        for (place, hit) in response.hits.iter().enumerate() {
            limber_work::check()?;
            let kept = best.entry(self.value(hit)?).or_insert(place);
            if score(hit) > score(&response.hits[*kept]) {
                *kept = place;
            }
        }
        let mut kept: Vec<usize> = best.into_values().collect();
        kept.sort_unstable();
        let mut kept = kept.into_iter().peekable();
        let mut place = 0;
        response.hits.retain(|_| {
            let is_kept = kept.next_if_eq(&place).is_some();
            place += 1;
            is_kept
        });
        response.hits.sort_by(|left, right| score(right).total_cmp(&score(left)));
        Ok(())
    }
}
