//! `slice` bound to a shard: restricts a query to the documents of one slice.
//!
//! Source: Elasticsearch's `SliceBuilder`, `DocIdSliceQuery`, `TermsSliceQuery` and `DocValuesSliceQuery`.
//! Slices are assigned whole shards if there are enough of them, otherwise parts of a shard's documents.

use std::ops::Range;

use limber_mapping::{RequestError, reserved};
use limber_segment::SegmentId;

use super::bound::BoundQuery;
use super::compound::bool_query::BoolNode;
use crate::context::{ShardPlace, ShardSnapshot};
use crate::error::Result;
use crate::primitives::Docs;

/// Slice `id` of `max`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// The field whose hash assigns documents to slices: `_id` or a numeric field. `None` stands for `_id` in
    /// a scroll, and for the document's number in a point in time.
    pub field: Option<String>,
    /// Less than `max`.
    pub id: u32,
    /// At least 2.
    pub max: u32,
}

/// Restricts `query` to a slice. `place` is the position of the shard among those that are searched. The
/// number of slices of a scroll is limited. Without a field, documents are assigned by `_id` in a scroll, and
/// by number in a point in time.
pub(crate) fn within_slice(
    query: BoundQuery,
    slice: &Slice,
    place: ShardPlace,
    shard: &ShardSnapshot,
    is_of_scroll: bool,
) -> Result<BoundQuery> {
    let max = shard.settings.max_slices_per_scroll;
    if is_of_scroll && slice.max > max {
        return Err(RequestError::illegal_argument(format!(
            "The number of slices [{}] is too large. It must be less than [{max}]. This limit can be set by changing the \
             [index.max_slices_per_scroll] index level setting.",
            slice.max
        ))
        .into());
    }
    let (part, parts) = match share(slice, place) {
        Share::Nothing => return Ok(BoundQuery::nothing("a shard of other slices")),
        Share::All => return Ok(query),
        Share::Part { part, parts } => (part, parts),
    };
    let docs = match slice.field.as_deref() {
        None if !is_of_scroll => Docs::Ranges(ranges(part, parts, shard)),
        Some("_id") if !is_of_scroll => {
            let reason = "cannot slice on [_id] when using [point-in-time]";
            return Err(RequestError::illegal_argument(reason).into());
        }
        None | Some("_id") => Docs::IdSlice { part, parts },
        Some(path) => {
            let Some(field) = shard.mapping.field(path).filter(|_| path != "_doc") else {
                return Err(RequestError::illegal_argument(format!("field {path} not found")).into());
            };
            // The sequence number is the only built-in field that is numeric and has doc values.
            let is_hidden = (field.id.0 as usize) < reserved::COUNT && path != "_seq_no";
            let has_column = field.doc_values && field.runtime.is_none();
            let is_number = field.number_form().is_some() && has_column;
            if is_hidden || !is_number {
                return Err(RequestError::illegal_argument(format!(
                    "cannot load numeric doc values on {path}"
                ))
                .into());
            }
            Docs::NumberSlice { field, part, parts }
        }
    };
    let text = format!("slice({part} of {parts})");
    let filter = vec![BoundQuery::constant(docs, 0.0, text)];
    Ok(BoolNode { must: vec![query], filter, ..BoolNode::default() }.into())
}

#[derive(Debug, PartialEq)]
enum Share {
    Nothing,
    All,
    Part { part: u32, parts: u32 },
}

fn share(slice: &Slice, place: ShardPlace) -> Share {
    let ShardPlace { index, count } = place;
    if slice.max <= count {
        return if index % slice.max == slice.id { Share::All } else { Share::Nothing };
    }
    if slice.id % count != index {
        return Share::Nothing;
    }
    let parts = slice.max / count + u32::from(slice.max % count > index);
    match parts {
        1 => Share::All,
        parts => Share::Part { part: slice.id / count, parts },
    }
}

/// Returns part `part` of `parts` equal contiguous ranges of the shard's documents; the first ones have one
/// document more.
fn ranges(part: u32, parts: u32, shard: &ShardSnapshot) -> Vec<(SegmentId, Range<u32>)> {
    let (doc_count, part, parts) = (shard.doc_count(), u64::from(part), u64::from(parts));
    let (least, more) = (doc_count / parts, doc_count % parts);
    let first = part * least + part.min(more);
    let end = first + least + u64::from(part < more);
    let mut base = 0;
    let mut ranges = Vec::new();
    for view in &shard.segments {
        let here = u64::from(view.doc_count());
        let (from, to) = (first.clamp(base, base + here) - base, end.clamp(base, base + here) - base);
        if from < to {
            ranges.push((view.segment.meta().id, from as u32..to as u32));
        }
        base += here;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every document is in exactly one slice, whatever the numbers of shards and slices.
    #[test]
    fn parts_of_shards_add_up() {
        for count in 1..7u32 {
            for max in 2..20u32 {
                for index in 0..count {
                    let shares: Vec<Share> = (0..max)
                        .map(|id| share(&Slice { field: None, id, max }, ShardPlace { index, count }))
                        .filter(|share| *share != Share::Nothing)
                        .collect();
                    let expected: Vec<Share> = match shares.as_slice() {
                        [Share::All] => vec![Share::All],
                        many => (0..many.len() as u32)
                            .map(|part| Share::Part { part, parts: many.len() as u32 })
                            .collect(),
                    };
                    assert_eq!(shares, expected, "shard {index} of {count}, {max} slices");
                }
            }
        }
    }
}
