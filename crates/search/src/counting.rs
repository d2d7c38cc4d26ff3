//! Counts that the index knows: "how many documents match, without looking at any?"

use limber_segment::SegmentView;

use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::query::{BoundQuery, Docs, Node};

/// The number of hits where the index knows it without looking at documents.
pub(crate) fn known_count(query: &BoundQuery, shard: &ShardSnapshot) -> Result<Option<u64>> {
    let mut count = 0;
    for view in &shard.segments {
        let Some(here) = known_count_of(query, view)? else { return Ok(None) };
        count += here;
    }
    Ok(Some(count))
}

pub(crate) fn known_count_of(query: &BoundQuery, view: &SegmentView) -> Result<Option<u64>> {
    let segment = &view.segment;
    let is_whole = view.deleted_count() == 0;
    Ok(match &query.node {
        Node::Nothing { .. } => Some(0),
        Node::Everything { .. } => Some(u64::from(view.live_count())),
        Node::Constant { inner, .. } => known_count_of(inner, view)?,
        Node::Cached(node) => known_count_of(&node.inner, view)?,
        Node::FunctionScore(node) if node.min_score.is_none() => known_count_of(&node.query, view)?,
        Node::ScriptScore(node) if node.min_score.is_none() => known_count_of(&node.query, view)?,
        Node::Boosting(node) => known_count_of(&node.positive, view)?,
        Node::Term(node) if is_whole => match segment.terms(&node.field.path)? {
            Some(terms) => terms.get(&node.term)?.map_or(Some(0), |info| Some(u64::from(info.doc_freq))),
            None => Some(0),
        },
        Node::Docs { docs: Docs::Exists { path }, .. } if is_whole => match segment.presence(path)? {
            Some(presence) => Some(u64::from(presence.count()?)),
            None => Some(0),
        },
        Node::Docs { docs: Docs::NumberRange { field, min, max }, .. } if is_whole => {
            match segment.points(&field.path)? {
                Some(points) if points.is_single_valued() => Some(points.count(*min..=*max)?),
                _ => None,
            }
        }
        _ => None,
    })
}
