//! Opens a bound query on a segment for its scores.

use limber_mapping::Field;
use limber_segment::columns::Batch;
use limber_segment::norms::Norms;
use limber_segment::postings::Want;
use limber_segment::{DocId, Segment};

use super::combined::CombinedScorer;
use super::function_score::{BoostingScorer, FunctionScorer, MatchingScorer};
use super::nested::{NestedScorer, ScoredWindow};
use super::open::{matcher, open_postings, phrase_cursor};
use super::percolate::Percolated;
use super::scorer::{
    BoolScorer, BoxedScorer, ConstantScorer, DisMaxScorer, FeatureScorer, PhraseScorer, TermScorer,
};
use super::script::ScriptScorer;
use super::{WINDOW, intervals, spans};
use crate::error::Result;
use crate::query::{BoundQuery, NestedScore, Node, ScriptScoreNode};

/// The scores of `query` in `segment`. `is_known`: only documents that match are going to be scored.
pub(crate) fn scorer<'a>(
    query: &'a BoundQuery,
    segment: &'a Segment,
    is_known: bool,
) -> Result<BoxedScorer<'a>> {
    let constant = |score: f32| -> Result<BoxedScorer<'a>> {
        let matcher = if is_known { None } else { Some(matcher(query, segment)?) };
        Ok(Box::new(ConstantScorer { score, matcher }))
    };
    match &query.node {
        Node::Nothing { .. } => constant(0.0),
        Node::Everything { boost } | Node::Docs { boost, .. } | Node::Constant { boost, .. } => {
            constant(*boost)
        }
        Node::Term(node) => match open_postings(segment, &node.field, &node.term, Want::Freqs)? {
            None => constant(0.0),
            Some(postings) => {
                Ok(Box::new(TermScorer { postings, norms: norms(segment, &node.field)?, bm25: &node.scorer }))
            }
        },
        Node::Phrase(node) => match phrase_cursor(node, segment)? {
            None => constant(0.0),
            Some(cursor) => {
                Ok(Box::new(PhraseScorer { cursor, norms: norms(segment, &node.field)?, bm25: &node.scorer }))
            }
        },
        Node::Intervals(node) => match intervals::scorer(node, segment)? {
            None => constant(0.0),
            Some(scorer) => Ok(Box::new(scorer)),
        },
        Node::Spans(node) => match spans::scorer(node, segment)? {
            None => constant(0.0),
            Some(scorer) => Ok(Box::new(scorer)),
        },
        Node::Feature(node) => match segment.numbers(&node.field.path)? {
            None => constant(0.0),
            Some(column) => Ok(Box::new(FeatureScorer { node, column, batch: Batch::default() })),
        },
        Node::DisMax(node) => {
            let parts =
                node.queries.iter().map(|query| scorer(query, segment, false)).collect::<Result<_>>()?;
            Ok(Box::new(DisMaxScorer { parts, tie_breaker: node.tie_breaker, scores: Vec::new() }))
        }
        Node::FunctionScore(node) => {
            only_matching(Box::new(FunctionScorer::open(node, segment)?), query, segment, is_known)
        }
        Node::Script(node) => constant(node.boost),
        Node::Percolate(node) if is_known => Ok(Box::new(Percolated::open(node, segment)?)),
        Node::Percolate(_) => {
            let (matcher, scorer) = (matcher(query, segment)?, scorer(query, segment, true)?);
            Ok(Box::new(MatchingScorer {
                matcher,
                scorer,
                at: Vec::new(),
                docs: Vec::new(),
                sums: Vec::new(),
            }))
        }
        Node::Cached(node) => scorer(&node.inner, segment, is_known),
        Node::Nested(node) => match segment.nested(&node.path).zip(segment.lineage(&node.path)) {
            Some((space, lineage)) if node.score_mode != NestedScore::None => Ok(Box::new(NestedScorer {
                children: matcher(&node.query, &space.segment)?,
                scorer: scorer(&node.query, &space.segment, true)?,
                inside: lineage.children_cursor(),
                mode: node.score_mode,
                window: ScoredWindow::default(),
            })),
            _ => constant(0.0),
        },
        Node::ScriptScore(node) => only_matching(script_scorer(node, segment)?, query, segment, is_known),
        Node::Boosting(node) => {
            let scorer = BoostingScorer {
                positive: scorer(&node.positive, segment, true)?,
                negative: matcher(&node.negative, segment)?,
                negative_boost: node.negative_boost,
                boost: node.boost,
                sums: Vec::new(),
                lowered: Vec::new(),
            };
            only_matching(Box::new(scorer), query, segment, is_known)
        }
        Node::Combined(node) => Ok(Box::new(CombinedScorer::open(node, segment)?)),
        Node::TermsSet(node) => {
            let parts = node.queries.iter().map(|query| scorer(query, segment, false));
            let sum = BoolScorer::sum_of(parts.collect::<Result<_>>()?);
            only_matching(Box::new(sum), query, segment, is_known)
        }
        Node::Bool(node) => {
            // A document that matches one optional clause of several need not match the others.
            let all_optional = node.min_should_match == node.should.len();
            let must =
                node.must.iter().map(|clause| scorer(clause, segment, true)).collect::<Result<Vec<_>>>()?;
            let should = node
                .should
                .iter()
                .map(|clause| scorer(clause, segment, all_optional))
                .collect::<Result<Vec<_>>>()?;
            let is_sum_of_any = node.must.is_empty()
                && node.filter.is_empty()
                && node.must_not.is_empty()
                && node.min_should_match <= 1;
            let matcher = match is_known || (is_sum_of_any && !all_optional) {
                true => None,
                false => Some(matcher(query, segment)?),
            };
            Ok(Box::new(BoolScorer {
                must,
                should,
                matcher,
                sums: Vec::new(),
                hits: Vec::new(),
                at: Vec::new(),
            }))
        }
    }
}

pub(super) fn script_scorer<'a>(node: &'a ScriptScoreNode, segment: &'a Segment) -> Result<BoxedScorer<'a>> {
    Ok(Box::new(ScriptScorer {
        bound: &node.script,
        script: node.script.open(segment)?,
        query: match node.script.uses_score() {
            true => Some(scorer(&node.query, segment, true)?),
            false => None,
        },
        boost: node.boost,
        sums: Vec::new(),
        scores: Vec::new(),
        numbers: Vec::new(),
    }))
}

/// `scorer`, asked for documents that `query` matches alone.
fn only_matching<'a>(
    scorer: BoxedScorer<'a>,
    query: &'a BoundQuery,
    segment: &'a Segment,
    is_known: bool,
) -> Result<BoxedScorer<'a>> {
    if is_known {
        return Ok(scorer);
    }
    let matcher = matcher(query, segment)?;
    Ok(Box::new(MatchingScorer { matcher, scorer, at: Vec::new(), docs: Vec::new(), sums: Vec::new() }))
}

fn norms<'a>(segment: &'a Segment, field: &Field) -> Result<Option<&'a Norms>> {
    Ok(segment.norms(&field.path)?)
}

/// The scores of `docs`, which ascend and match.
pub(crate) fn scores_of(query: &BoundQuery, segment: &Segment, docs: &[DocId]) -> Result<Vec<f32>> {
    let mut scorer = scorer(query, segment, true)?;
    let mut scores = Vec::with_capacity(docs.len());
    let mut sums = Vec::new();
    for window in docs.chunk_by(|left, right| left / WINDOW == right / WINDOW) {
        sums.clear();
        sums.resize(window.len(), 0.0);
        scorer.score(window, &mut sums)?;
        scores.extend(sums.iter().map(|sum| *sum as f32));
    }
    Ok(scores)
}
