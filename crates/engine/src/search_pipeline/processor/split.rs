//! `split`: "split this string at every match of the separator". Source: OpenSearch's
//! `SplitResponseProcessor` over `String.split`.

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_script::Scripts;
use limber_search::SearchResponse;
use limber_text::pattern::Pattern;
use limber_work as work;
use serde_json::{Map, Value};

use super::ChangesResponse;
use crate::api::Result;
use crate::ingest::{Options, pieces};
use crate::search_pipeline::PipelineRun;
use crate::search_pipeline::run::Shown;

/// Bytes of a piece beside its text: its value, and what the allocator adds to a short text.
const PIECE_BYTES: u64 = size_of::<Value>() as u64 + 16;

struct Split {
    field: String,
    target: String,
    /// The error is reported by each search, as in OpenSearch.
    separator: std::result::Result<Pattern, String>,
    keeps_trailing: bool,
}

/// Compiles the processor. Options: `field`, `separator`; optional `preserve_trailing` (false) and
/// `target_field`.
pub(super) fn parse(options: &mut Options, _: &Arc<Scripts>) -> Result<Box<dyn ChangesResponse>> {
    let (field, separator) = (options.string("field")?, options.string("separator")?);
    let keeps_trailing = options.bool_or("preserve_trailing", false)?;
    let target = options.string_or("target_field", &field)?;
    Ok(Box::new(Split { field, target, separator: Pattern::parse(&separator), keeps_trailing }))
}

impl Split {
    fn put(&self, text: &str, members: &mut Map<String, Value>) -> Result<()> {
        let refused = |reason: &String| RequestError::bad_request("pattern_syntax_exception", reason.clone());
        let separator = self.separator.as_ref().map_err(refused)?;
        let pieces = pieces(text, self.keeps_trailing, |each| Ok(separator.find_each(text, each)?))?;
        // A value, and the allocation of its text, of each piece.
        work::claim(text.len() as u64 + pieces.len() as u64 * PIECE_BYTES)?;
        let mut values = Vec::with_capacity(pieces.len());
        for piece in pieces {
            work::check_beyond_deadline()?;
            values.push(Value::from(piece));
        }
        members.insert(self.target.clone(), Value::Array(values));
        Ok(())
    }
}

impl ChangesResponse for Split {
    /// Splits the field in every hit. In `_source`, a field that is not a string is left as it is; in
    /// `fields` it is an error, as in OpenSearch.
    fn change(&self, response: &mut SearchResponse, run: &mut PipelineRun) -> Result<()> {
        let split = |_: &_, shown: Shown<'_>| match shown {
            Shown::Fields(members) => match members.get(&self.field).map(|values| &values[0]) {
                None => Ok(()),
                Some(Value::String(text)) => {
                    work::claim(text.len() as u64)?;
                    let text = text.clone();
                    self.put(&text, members)
                }
                Some(_) => Err(RequestError::illegal_argument(format!(
                    "field [{}] is not a string, cannot split",
                    self.field
                ))),
            },
            Shown::Source(members) => match members.get(&self.field) {
                Some(Value::String(text)) => {
                    work::claim(text.len() as u64)?;
                    let text = text.clone();
                    self.put(&text, members)
                }
                _ => Ok(()),
            },
        };
        run.each_hit(response, split, |_| Ok(()))
    }
}
