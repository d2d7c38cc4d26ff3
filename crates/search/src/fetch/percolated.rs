//! Which documents of a `percolate` query a hit's query matches.
//!
//! Source: Elasticsearch's `PercolatorMatchedSlotSubFetchPhase`.

use limber_segment::{DocId, Segment};
use serde_json::{Map, Value};

use crate::error::Result;
use crate::percolator::{StoredQueries, slots_of};
use crate::query::{BoundQuery, PercolateNode};

/// The name counts only where there are several queries.
fn slots_field(node: &PercolateNode, is_alone: bool) -> String {
    const SLOTS: &str = "_percolator_document_slot";
    match is_alone {
        true => SLOTS.to_owned(),
        false => format!("{SLOTS}_{}", node.name.as_deref().unwrap_or("null")),
    }
}

/// Adds a field for each `percolate` in `query`.
pub(super) fn slots(
    query: &BoundQuery,
    segment: &Segment,
    doc: DocId,
    fields: &mut Option<Value>,
) -> Result<()> {
    let mut percolations = Vec::new();
    query.percolations(&mut percolations);
    let is_alone = percolations.len() == 1;
    for node in percolations {
        let Some(stored) = StoredQueries::open(node, segment)?.query(doc)? else { continue };
        let slots = slots_of(&stored, &node.held.segments[0].segment)?;
        if let Value::Object(fields) = fields.get_or_insert_with(|| Value::Object(Map::new())) {
            fields.insert(slots_field(node, is_alone), slots.into());
        }
    }
    Ok(())
}
