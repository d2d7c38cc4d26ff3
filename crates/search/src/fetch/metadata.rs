//! Metadata fields that `fields` names: `_id`, `_ignored`, `_version`. No pattern selects them.

use limber_mapping::RequestError;
use limber_segment::{DocId, Segment};
use serde_json::{Map, Value, json};

use super::formats::error_fetching;
use crate::error::Result;
use crate::request::FieldFormat;
use crate::response::SearchHit;

/// Fields that have no values for a request.
const INTERNAL: [&str; 3] = ["_field_names", "_seq_no", "_source"];

/// Refuses names of internal fields.
///
/// # Errors
/// Elasticsearch's error, which names the field.
pub(super) fn check(wanted: &[FieldFormat]) -> Result<()> {
    for FieldFormat { field, .. } in wanted {
        if INTERNAL.contains(&field.as_str()) {
            let cause =
                RequestError::illegal_argument(format!("Cannot fetch values for internal field [{field}]."));
            return Err(error_fetching(field, cause).into());
        }
    }
    Ok(())
}

/// Returns the requested metadata of a hit that has been read.
pub(super) fn collect(
    wanted: &[FieldFormat],
    segment: &Segment,
    doc: DocId,
    hit: &SearchHit,
) -> Result<Map<String, Value>> {
    let mut found = Map::new();
    for FieldFormat { field, .. } in wanted.iter().filter(|wanted| wanted.field.starts_with('_')) {
        let values = match field.as_str() {
            "_id" => hit.id.as_ref().map(|id| json!([id])),
            "_ignored" if !hit.ignored.is_empty() => Some(json!(hit.ignored)),
            "_version" => match segment.numbers("_version")? {
                Some(column) => column.get(doc)?.map(|version| json!([version])),
                None => None,
            },
            _ => None,
        };
        found.extend(values.map(|values| (field.clone(), values)));
    }
    Ok(found)
}
