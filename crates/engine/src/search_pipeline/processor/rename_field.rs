//! `rename_field`: "show this field under another name". Source: OpenSearch's `RenameFieldResponseProcessor`.

use std::cell::Cell;
use std::sync::Arc;

use limber_mapping::RequestError;
use limber_script::Scripts;
use limber_search::SearchResponse;

use super::ChangesResponse;
use crate::api::Result;
use crate::ingest::Options;
use crate::search_pipeline::PipelineRun;
use crate::search_pipeline::run::Shown;

struct RenameField {
    field: String,
    target: String,
    ignores_missing: bool,
}

/// Compiles the processor. Options: `field`, `target_field`; optional `ignore_missing` (false).
pub(super) fn parse(options: &mut Options, _: &Arc<Scripts>) -> Result<Box<dyn ChangesResponse>> {
    let (field, target) = (options.string("field")?, options.string("target_field")?);
    let ignores_missing = options.bool_or("ignore_missing", false)?;
    Ok(Box::new(RenameField { field, target, ignores_missing }))
}

impl ChangesResponse for RenameField {
    /// Renames the field in every hit. A hit without the field is an error only if no earlier hit had it, as
    /// in OpenSearch.
    fn change(&self, response: &mut SearchResponse, run: &mut PipelineRun) -> Result<()> {
        let found = Cell::new(false);
        let rename = |_: &_, shown: Shown<'_>| {
            let (Shown::Fields(members) | Shown::Source(members)) = shown;
            if let Some(value) = members.shift_remove(&self.field) {
                members.insert(self.target.clone(), value);
                found.set(true);
            }
            Ok(())
        };
        run.each_hit(response, rename, |hit| match found.get() || self.ignores_missing {
            true => Ok(()),
            false => Err(RequestError::illegal_argument(format!(
                "Document with id {} is missing field {}",
                hit.id.as_deref().unwrap_or("null"),
                self.field
            ))),
        })
    }
}
