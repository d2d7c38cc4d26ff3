//! `explain` of scores that a rescore changed.

use limber_segment::{DocId, Segment};

use crate::error::Result;
use crate::score::Explanation;
use crate::shard::rescore::BoundRescore;

/// Returns `explanation` after all rescores. Every hit is explained as if it were in every rescore window.
/// Source: Elasticsearch's `QueryRescorer#explain`.
pub(super) fn explain(
    explanation: Explanation,
    rescores: &[BoundRescore],
    segment: &Segment,
    doc: DocId,
) -> Result<Explanation> {
    let mut explanation = explanation;
    for rescore in rescores {
        let first = product(explanation, rescore.query_weight, "primaryWeight");
        explanation = match rescore.query.matches_doc(segment, doc)? {
            false => first,
            true => {
                let second = rescore.query.explain(segment, doc)?;
                let second = product(second, rescore.rescore_query_weight, "secondaryWeight");
                let value = rescore.mode.combine(first.value, second.value);
                Explanation::of(value, rescore.mode.description(), vec![first, second])
            }
        };
    }
    Ok(explanation)
}

fn product(score: Explanation, weight: f32, name: &str) -> Explanation {
    let weight = Explanation::leaf(weight, name);
    Explanation::of(score.value * weight.value, "product of:", vec![score, weight])
}
