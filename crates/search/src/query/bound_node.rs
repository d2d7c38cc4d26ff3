//! The interface of a query that is bound to a shard, like Lucene's `Weight`.
//!
//! Each query implements [`BoundNode`] in its own file, unless it binds to existing nodes. Other code uses
//! only these methods and does not depend on the type of query. They are called once per segment or request;
//! the calls for documents go to what [`BoundNode::matcher`] and [`BoundNode::scorer`] open, with windows of
//! 4,096 documents.

use std::fmt::Debug;
use std::ops::RangeInclusive;
use std::sync::Arc;

use limber_mapping::Field;
use limber_mapping::number::java_float;
use limber_segment::{DocId, Segment, SegmentView};

use super::bound::BoundQuery;
use super::cached::CachedNode;
use super::docs::DocsNode;
use super::extract::required_terms::RequiredTerms;
use super::full_text::more_like_this::MoreLikeThisTerms;
use super::joining::join::JoinedHits;
use super::joining::nested::NestedNode;
use super::specialized::percolate::PercolateNode;
use crate::cache::KeyWriter;
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::geo::Shape;
use crate::matcher::{BoxedMatcher, BoxedScorer, ConstantScorer, MatchingScorer};
use crate::primitives::{Docs, PhraseNode, Source, SpanTree, TermNode};
use crate::score::Explanation;

/// What a query's number of documents is known from: see [`BoundNode::counted_from`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CountedFrom {
    /// The statistics of a term.
    Term,
    /// The numbers of documents, of all or of those with a field.
    Documents,
}

/// A query bound to a shard. Five methods are required. The others have defaults that are correct for any
/// query; a query overrides them if it has a better answer.
pub(crate) trait BoundNode: Debug + Send + Sync {
    /// Opens a matcher of the documents in `segment`, including deleted ones.
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>>;

    /// Opens a scorer of the documents in `segment`. `is_known`: only matching documents are going to be
    /// scored. Otherwise the scorer must add nothing for other documents (see [`only_matching`]).
    fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>>;

    /// Whether a profile shows only its parts, and not the node itself.
    fn is_unseen(&self) -> bool {
        false
    }

    /// Returns the score of every matching document, if it is the same for all.
    fn common_score(&self) -> Option<f32> {
        None
    }

    /// Explains the score of a matching document, in the words of Lucene.
    fn explain(&self, segment: &Segment, doc: DocId) -> Result<Explanation>;

    /// Lucene's class of such a query.
    fn class(&self) -> &'static str;

    /// Returns the query as Lucene prints it.
    fn text(&self) -> String;

    /// Returns [`BoundNode::text`] as a clause of a `bool`, where some queries need parentheses.
    fn clause_text(&self) -> String {
        self.text()
    }

    /// Returns the inner query that matches the same documents. Defaults of other methods use its answers.
    fn matches_as(&self) -> Option<&BoundQuery> {
        None
    }

    /// Returns the inner queries that may match a hit, without those on nested documents and those that must
    /// not match.
    fn parts(&self) -> Vec<&BoundQuery> {
        self.matches_as().into_iter().collect()
    }

    /// Returns the inner queries that must not match.
    fn prohibited(&self) -> &[BoundQuery] {
        &[]
    }

    /// Returns all inner queries on the same documents: [`BoundNode::parts`] and [`BoundNode::prohibited`].
    fn parts_mut(&mut self) -> Vec<&mut BoundQuery> {
        Vec::new()
    }

    /// Returns how many bit sets over a segment it may build while it runs there, opened for documents and
    /// for scores. Their memory is charged to the request.
    fn bit_set_count(&self) -> u64 {
        if let Some(query) = self.matches_as() {
            return query.node.bit_set_count();
        }
        let inside = self.parts().into_iter().chain(self.prohibited());
        2 * inside.map(|query| query.node.bit_set_count()).sum::<u64>()
    }

    /// Whether anything in the shard can match, without examining documents.
    fn can_match(&self, shard: &ShardSnapshot) -> Result<bool> {
        self.matches_as().map_or(Ok(true), |query| query.node.can_match(shard))
    }

    /// Returns the number of matching live documents of a segment, if the index knows it without examining
    /// documents.
    fn known_count(&self, view: &SegmentView) -> Result<Option<u64>> {
        self.matches_as().map_or(Ok(None), |query| query.node.known_count(view))
    }

    /// Returns from what Elasticsearch knows the number of matching documents even if `terminate_after`
    /// limits how many are collected; `None` if it counts them.
    fn counted_from(&self) -> Option<CountedFrom> {
        self.matches_as().and_then(|query| query.node.counted_from())
    }

    /// Returns terms of which a matching document must have at least one. The percolator finds queries by
    /// them.
    fn required_terms(&self) -> RequiredTerms {
        self.matches_as().map_or(RequiredTerms::Unknown, |query| query.node.required_terms())
    }

    /// Returns the terms, phrases and so on that the query itself matches, for highlighting; without those of
    /// inner queries.
    fn word_parts(&self) -> Vec<WeightedPart<'_>> {
        Vec::new()
    }

    /// Returns the inner queries whose terms are highlighted as well.
    fn highlighted_parts(&self) -> Vec<&BoundQuery> {
        self.parts()
    }

    /// Writes a key that identifies the matching documents among all queries on the shard. Returns false if
    /// the query alone does not determine the documents, or if they are cheap to find.
    fn write_key(&self, _key: &mut KeyWriter) -> bool {
        false
    }

    /// Returns how often the query must be used as a filter before its documents are cached; `None` if they
    /// never are.
    fn uses_before_kept(&self) -> Option<u32> {
        None
    }

    /// Returns the inner queries that may be cached, and whether each is a filter, which does not affect the
    /// score. `is_filter`: this query itself is a filter.
    fn cacheable_parts(&mut self, _is_filter: bool) -> Vec<(&mut BoundQuery, bool)> {
        Vec::new()
    }

    /// Whether it certainly matches no document.
    fn is_nothing(&self) -> bool {
        false
    }

    /// Whether it certainly matches every document.
    fn is_everything(&self) -> bool {
        false
    }

    /// Returns its parts if its scores are those of terms or of a phrase; `None` otherwise. Such queries are
    /// matched and scored in one pass.
    fn by_score(&self) -> Option<ByScore<'_>> {
        let of_term =
            || self.as_term().map(|term| Scored::Terms { required: Vec::new(), optional: vec![term] });
        let scored = self.as_phrase().map(Scored::Phrase).or_else(of_term)?;
        Some(ByScore { scored, filters: Vec::new(), prohibited: Vec::new() })
    }

    /// Returns itself if it is a scored phrase.
    fn as_phrase(&self) -> Option<&PhraseNode> {
        None
    }

    /// Returns itself if it is a scored term.
    fn as_term(&self) -> Option<&TermNode> {
        None
    }

    /// Whether no upper bound of its scores is known, so that all its documents are scored to find the best.
    fn has_unbounded_scores(&self) -> bool {
        false
    }

    /// Whether its documents are found so fast, in postings, points, columns or cached sets, that finding
    /// them twice costs little compared with what is done with them.
    fn is_quick(&self) -> bool {
        false
    }

    /// Returns what it selects, if aggregations may count that without examining documents.
    fn whole(&self) -> Option<Whole<'_>> {
        None
    }

    /// Returns itself if it is a set of documents with a constant score.
    fn as_docs_mut(&mut self) -> Option<&mut DocsNode> {
        None
    }

    /// Returns itself if it is a filter that may be cached.
    fn as_cached(&self) -> Option<&CachedNode> {
        None
    }

    /// Returns itself if it is a query on nested documents.
    fn as_nested(&self) -> Option<&NestedNode> {
        None
    }

    /// Returns the documents on the other side of a join that are shown as inner hits.
    fn joined_hits(&self) -> Option<&Arc<JoinedHits>> {
        None
    }

    /// Returns itself if it is a `percolate` query.
    fn as_percolate(&self) -> Option<&PercolateNode> {
        None
    }
}

/// Documents that are scored by terms or by a phrase, and the filters that they must pass.
pub(crate) struct ByScore<'q> {
    pub scored: Scored<'q>,
    pub filters: Vec<&'q BoundQuery>,
    pub prohibited: Vec<&'q BoundQuery>,
}

/// What scores are computed from.
pub(crate) enum Scored<'q> {
    /// Documents with all of `required`, or with any of `optional` if `required` is empty. The score is the
    /// sum over all terms that a document has.
    Terms {
        required: Vec<&'q TermNode>,
        optional: Vec<&'q TermNode>,
    },
    Phrase(&'q PhraseNode),
}

impl<'q> ByScore<'q> {
    /// Whether any of several terms is sufficient.
    pub fn needs_any(&self) -> bool {
        matches!(&self.scored, Scored::Terms { required, .. } if required.is_empty())
    }

    /// Separates the prohibited terms that are looked up in the documents found, which is only done if
    /// required terms or a phrase find them, from the other prohibited queries.
    pub fn excluded(&self) -> (Vec<&'q TermNode>, Vec<&'q BoundQuery>) {
        let (mut terms, mut others) = (Vec::new(), Vec::new());
        for query in &self.prohibited {
            match query.node.as_term() {
                Some(term) if !self.needs_any() => terms.push(term),
                _ => others.push(*query),
            }
        }
        (terms, others)
    }

    /// Whether its documents are counted faster one by one than by bit sets: those of a phrase, or if there
    /// are other terms to look up and a required one is rare.
    pub fn is_stepped(&self, segment: &Segment) -> bool {
        match &self.scored {
            Scored::Terms { required, .. } => {
                let looks_up = required.len() > 1 || !self.excluded().0.is_empty();
                looks_up && self.cost() < u64::from(segment.doc_count()) / STEPPED_BELOW
            }
            Scored::Phrase(_) => true,
        }
    }

    /// Returns the largest number of documents that may have to be scored, including deleted ones.
    pub fn cost(&self) -> u64 {
        let doc_freq = |term: &&TermNode| term.scorer.doc_freq();
        match &self.scored {
            Scored::Terms { required, optional } => {
                let rarest = required.iter().map(doc_freq).min();
                rarest.unwrap_or_else(|| optional.iter().map(doc_freq).sum())
            }
            Scored::Phrase(phrase) => phrase.scorer.doc_freq(),
        }
    }
}

/// The cost of bit sets does not depend on the number of documents. If fewer than this fraction of a
/// segment's documents match, iterating over them is faster.
const STEPPED_BELOW: u64 = 16;

/// Queries whose documents some aggregations need not examine one by one.
pub(crate) enum Whole<'q> {
    /// Every document.
    Everything,
    /// Documents with a value of the field at this path that lies in the range.
    NumberRange(&'q str, RangeInclusive<i64>),
    /// Documents with a geo point in the shape, in the field at this path.
    Places(&'q str, &'q Shape),
}

/// What highlighters look for in a text.
#[derive(Clone, Copy)]
pub(crate) enum Part<'q> {
    Term(&'q [u8]),
    Terms(&'q Docs),
    Phrase(&'q PhraseNode),
    Intervals(&'q Source),
    Spans(&'q SpanTree),
    /// Its terms are selected according to the text in which they are looked for.
    MoreLikeThis(&'q MoreLikeThisTerms),
}

impl Part<'_> {
    /// Whether it depends on the relative positions of terms, across all values of a field.
    pub fn is_placed(&self) -> bool {
        matches!(self, Part::Intervals(_) | Part::Spans(_))
    }
}

/// A part of a query that is highlighted, whatever documents it matches.
#[derive(Clone, Copy)]
pub(crate) struct WeightedPart<'q> {
    pub part: Part<'q>,
    /// The product of all boosts from the root query down to it.
    pub boost: f32,
    pub field: &'q Field,
}

/// Makes a scorer that gives `score` to every document that `node` matches.
pub(super) fn constant_scorer<'a>(
    node: &'a dyn BoundNode,
    score: f32,
    segment: &'a Segment,
    is_known: bool,
) -> Result<BoxedScorer<'a>> {
    let matcher = if is_known { None } else { Some(node.matcher(segment)?) };
    Ok(Box::new(ConstantScorer { score, matcher }))
}

/// Restricts `scorer` to documents that `node` matches.
pub(super) fn only_matching<'a>(
    scorer: BoxedScorer<'a>,
    node: &'a dyn BoundNode,
    segment: &'a Segment,
    is_known: bool,
) -> Result<BoxedScorer<'a>> {
    match is_known {
        true => Ok(scorer),
        false => Ok(Box::new(MatchingScorer::new(node.matcher(segment)?, scorer))),
    }
}

/// Returns the score of one matching document.
pub(super) fn score_of(node: &dyn BoundNode, segment: &Segment, doc: DocId) -> Result<f32> {
    let mut sum = [0.0];
    node.scorer(segment, true)?.score(&[doc], &mut sum)?;
    Ok(sum[0] as f32)
}

/// Returns a query's text with its boost, as Lucene prints it.
pub(super) fn boosted(text: &str, boost: f32) -> String {
    if boost == 1.0 { text.to_owned() } else { format!("{text}^{}", java_float(boost)) }
}
