//! "Could anything in this shard match?", answered without looking at a document.

use super::bind::bind;
use super::bound::{BoundQuery, Docs, Node};
use super::parse::Query;
use crate::context::ShardSnapshot;
use crate::error::Result;

/// Whether a query can match anything in a shard. `false` where it names fields that the shard does not have, or dates that are all
/// before or after those it holds. Errors are left to the search itself.
///
/// Source: Elasticsearch's `SearchService#canMatch`, which rewrites the query and knows ranges of dates alone.
pub fn can_match(query: &Query, shard: &ShardSnapshot, now_millis: i64) -> bool {
    bind(query, shard, now_millis).and_then(|bound| is_possible(&bound, shard)).unwrap_or(true)
}

fn is_possible(query: &BoundQuery, shard: &ShardSnapshot) -> Result<bool> {
    let all = |clauses: &[BoundQuery]| -> Result<usize> {
        let mut count = 0;
        for clause in clauses {
            count += usize::from(is_possible(clause, shard)?);
        }
        Ok(count)
    };
    Ok(match &query.node {
        Node::Nothing { .. } => false,
        Node::Docs { docs: Docs::NumberRange { field, min, max }, .. }
            if field.index && field.date().is_some() =>
        {
            let mut is_possible = false;
            for view in &shard.segments {
                if let Some(column) = view.segment.numbers(&field.path)? {
                    let ends = column.min().zip(column.max());
                    is_possible |= ends.is_some_and(|(least, greatest)| least <= *max && *min <= greatest);
                } else if let Some(points) = view.segment.points(&field.path)? {
                    is_possible |= points.count_at_most(*min..=*max) > 0;
                }
            }
            is_possible
        }
        Node::Constant { inner, .. } => is_possible(inner, shard)?,
        Node::Cached(node) => is_possible(&node.inner, shard)?,
        Node::FunctionScore(node) => is_possible(&node.query, shard)?,
        Node::ScriptScore(node) => is_possible(&node.query, shard)?,
        Node::Boosting(node) => is_possible(&node.positive, shard)?,
        Node::DisMax(node) => all(&node.queries)? > 0,
        Node::TermsSet(node) => all(&node.queries)? > 0,
        Node::Bool(node) => {
            all(&node.must)? == node.must.len()
                && all(&node.filter)? == node.filter.len()
                && (node.min_should_match == 0 || all(&node.should)? >= node.min_should_match)
        }
        _ => true,
    })
}
