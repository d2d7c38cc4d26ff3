//! What a query says about itself once it is bound to a shard: Lucene's `Weight`.
//!
//! Each query implements [`BoundNode`] in its own file, unless it binds to nodes that are there already. The
//! rest of the house asks these questions and never which query it has in hand. Calls are made once a segment
//! or once a request; what is called for documents is what [`BoundNode::matcher`] and [`BoundNode::scorer`]
//! open, a window of 4,096 documents at a time.

use std::fmt::Debug;
use std::ops::RangeInclusive;
use std::sync::Arc;

use limber_mapping::Field;
use limber_mapping::number::java_float;
use limber_segment::{DocId, Segment, SegmentView};

use super::bound::BoundQuery;
use super::cached::CachedNode;
use super::docs::DocsNode;
use super::full_text::more_like_this::Likeness;
use super::joining::join::JoinedHits;
use super::joining::nested::NestedNode;
use super::required_terms::RequiredTerms;
use super::specialized::percolate::PercolateNode;
use crate::cache::KeyWriter;
use crate::context::ShardSnapshot;
use crate::error::Result;
use crate::geo::Shape;
use crate::matcher::{BoxedMatcher, BoxedScorer, ConstantScorer, MatchingScorer};
use crate::primitives::{Docs, PhraseNode, Source, SpanTree, TermNode};
use crate::score::Explanation;

/// A query bound to a shard. Five questions must be answered; the others have answers that hold of any query,
/// and a query answers them where it knows better.
pub(crate) trait BoundNode: Debug + Send + Sync {
    /// Opens the documents that match in `segment`, deleted ones included.
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>>;

    /// Opens the scores in `segment`. `is_known`: only documents that match are going to be scored; otherwise
    /// documents that do not match must get nothing ([`only_matching`] sees to it).
    fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>>;

    /// Explains the score of a document that matches, in Lucene's words.
    fn explain(&self, segment: &Segment, doc: DocId) -> Result<Explanation>;

    /// Lucene's class of such a query.
    fn class(&self) -> &'static str;

    /// The query as Lucene prints it.
    fn text(&self) -> String;

    /// [`BoundNode::text`] inside of a `bool`, where some need parentheses.
    fn clause_text(&self) -> String {
        self.text()
    }

    /// The query inside of it whose documents are its own: that one answers what is asked of documents.
    fn matches_as(&self) -> Option<&BoundQuery> {
        None
    }

    /// The queries inside of it that may match a hit: neither those on nested documents nor those that must
    /// not match.
    fn parts(&self) -> Vec<&BoundQuery> {
        self.matches_as().into_iter().collect()
    }

    /// The queries inside of it that no hit matches.
    fn prohibited(&self) -> &[BoundQuery] {
        &[]
    }

    /// All queries inside of it on the same documents: [`BoundNode::parts`] and [`BoundNode::prohibited`].
    fn parts_mut(&mut self) -> Vec<&mut BoundQuery> {
        Vec::new()
    }

    /// How many sets of documents it may build as a bit a document while it runs on a segment, opened for
    /// documents and for scores. Each is charged to the request.
    fn bit_set_count(&self) -> u64 {
        if let Some(query) = self.matches_as() {
            return query.node.bit_set_count();
        }
        let inside = self.parts().into_iter().chain(self.prohibited());
        2 * inside.map(|query| query.node.bit_set_count()).sum::<u64>()
    }

    /// Whether anything in the shard could match, told without looking at a document.
    fn can_match(&self, shard: &ShardSnapshot) -> Result<bool> {
        self.matches_as().map_or(Ok(true), |query| query.node.can_match(shard))
    }

    /// How many live documents of a segment match, where the index knows it without looking at documents.
    fn known_count(&self, view: &SegmentView) -> Result<Option<u64>> {
        self.matches_as().map_or(Ok(None), |query| query.node.known_count(view))
    }

    /// Terms one of which a document must have to match, by which the percolator finds the query.
    fn required_terms(&self) -> RequiredTerms {
        self.matches_as().map_or(RequiredTerms::Unknown, |query| query.node.required_terms())
    }

    /// The terms, phrases and so on that the query itself matches, for highlighting; those of queries inside
    /// of it are theirs.
    fn word_parts(&self) -> Vec<WeightedPart<'_>> {
        Vec::new()
    }

    /// The queries inside of it whose words are highlighted as well.
    fn highlighted_parts(&self) -> Vec<&BoundQuery> {
        self.parts()
    }

    /// Writes a key that tells its documents from those of any other query on the same shard. `false`: the
    /// query alone does not determine the documents, or they cost nothing to find.
    fn write_key(&self, _key: &mut KeyWriter) -> bool {
        false
    }

    /// How often the query must be used as a filter before its documents are kept; `None`: they never are.
    fn uses_before_kept(&self) -> Option<u32> {
        None
    }

    /// The queries inside of it that may go through the cache, and whether each is a filter, without a part
    /// in the score. `is_filter`: this query itself is one.
    fn cacheable_parts(&mut self, _is_filter: bool) -> Vec<(&mut BoundQuery, bool)> {
        Vec::new()
    }

    /// Whether it is known that no document matches.
    fn is_nothing(&self) -> bool {
        false
    }

    /// Whether it is known that every document matches.
    fn is_everything(&self) -> bool {
        false
    }

    /// What it comes down to where its scores are those of terms or of a phrase; `None`: it is something
    /// else. Such queries are matched and scored in one pass.
    fn by_score(&self) -> Option<ByScore<'_>> {
        let of_term =
            || self.as_term().map(|term| Scored::Terms { required: Vec::new(), optional: vec![term] });
        let scored = self.as_phrase().map(Scored::Phrase).or_else(of_term)?;
        Some(ByScore { scored, filters: Vec::new(), prohibited: Vec::new() })
    }

    /// Itself as a scored phrase.
    fn as_phrase(&self) -> Option<&PhraseNode> {
        None
    }

    /// Itself as a scored term.
    fn as_term(&self) -> Option<&TermNode> {
        None
    }

    /// Whether its documents are found so quickly, in postings, points, columns or kept sets, that looking
    /// for them twice costs little beside what is done with them.
    fn is_quick(&self) -> bool {
        false
    }

    /// What it selects, where aggregations may count that without seeing documents.
    fn whole(&self) -> Option<Whole<'_>> {
        None
    }

    /// Itself as a set of documents that all score alike.
    fn as_docs_mut(&mut self) -> Option<&mut DocsNode> {
        None
    }

    /// Itself as a filter that goes through the query cache.
    fn as_cached(&self) -> Option<&CachedNode> {
        None
    }

    /// Itself as a query on nested documents.
    fn as_nested(&self) -> Option<&NestedNode> {
        None
    }

    /// The documents on the other side of a join that are shown with hits.
    fn joined_hits(&self) -> Option<&Arc<JoinedHits>> {
        None
    }

    /// Itself as a query that looks for queries.
    fn as_percolate(&self) -> Option<&PercolateNode> {
        None
    }
}

/// Documents scored by terms or by a phrase, all of which match some filters.
pub(crate) struct ByScore<'q> {
    pub scored: Scored<'q>,
    pub filters: Vec<&'q BoundQuery>,
    pub prohibited: Vec<&'q BoundQuery>,
}

/// What scores are made from.
pub(crate) enum Scored<'q> {
    /// Documents with all of `required`, or with any of `optional` where none is; all that they have are
    /// added up.
    Terms {
        required: Vec<&'q TermNode>,
        optional: Vec<&'q TermNode>,
    },
    Phrase(&'q PhraseNode),
}

impl ByScore<'_> {
    /// Whether any of several terms is enough.
    pub fn needs_any(&self) -> bool {
        matches!(&self.scored, Scored::Terms { required, .. } if required.is_empty())
    }

    /// Whether its documents are counted more quickly by steps than by bit sets: all of several terms are
    /// needed, of which one is rare.
    pub fn is_stepped(&self, segment: &Segment) -> bool {
        let needs_all = match &self.scored {
            Scored::Terms { required, .. } => required.len() > 1,
            Scored::Phrase(_) => true,
        };
        needs_all && self.cost() < u64::from(segment.doc_count()) / STEPPED_BELOW
    }

    /// How many documents may have to be scored, at most; deleted ones included.
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

/// Bit sets cost the same however few documents are in them. Below this part of a segment it is quicker to
/// step from one to the next.
const STEPPED_BELOW: u64 = 16;

/// Queries whose documents some aggregations need not see one by one.
pub(crate) enum Whole<'q> {
    /// Every document.
    Everything,
    /// Documents with a value of the field at this path that lies in the range.
    NumberRange(&'q str, RangeInclusive<i64>),
    /// Documents with a place of the field at this path in the shape.
    Places(&'q str, &'q Shape),
}

/// What words match: the closed set of forms that highlighters look for.
#[derive(Clone, Copy)]
pub(crate) enum Part<'q> {
    Term(&'q [u8]),
    Terms(&'q Docs),
    Phrase(&'q PhraseNode),
    Intervals(&'q Source),
    Spans(&'q SpanTree),
    /// Which of its terms is told by the text that they are looked for in.
    Likeness(&'q Likeness),
}

impl Part<'_> {
    /// Whether it is one of terms that stand to one another in some way, in whichever values.
    pub fn is_placed(&self) -> bool {
        matches!(self, Part::Intervals(_) | Part::Spans(_))
    }
}

/// A part of a query that words match, whatever documents it matches.
#[derive(Clone, Copy)]
pub(crate) struct WeightedPart<'q> {
    pub part: Part<'q>,
    /// The product of all boosts down to it.
    pub boost: f32,
    pub field: &'q Field,
}

/// A scorer that gives `score` to every document that `node` matches.
pub(super) fn constant_scorer<'a>(
    node: &'a dyn BoundNode,
    score: f32,
    segment: &'a Segment,
    is_known: bool,
) -> Result<BoxedScorer<'a>> {
    let matcher = if is_known { None } else { Some(node.matcher(segment)?) };
    Ok(Box::new(ConstantScorer { score, matcher }))
}

/// `scorer`, asked only for documents that `node` matches.
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

/// The score of one document that `node` matches.
pub(super) fn score_of(node: &dyn BoundNode, segment: &Segment, doc: DocId) -> Result<f32> {
    let mut sum = [0.0];
    node.scorer(segment, true)?.score(&[doc], &mut sum)?;
    Ok(sum[0] as f32)
}

/// A query's text with its boost, as Lucene prints it.
pub(super) fn boosted(text: &str, boost: f32) -> String {
    if boost == 1.0 { text.to_owned() } else { format!("{text}^{}", java_float(boost)) }
}
