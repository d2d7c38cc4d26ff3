//! A query bound to a shard: fields resolved, values converted, statistics collected. The same tree serves
//! every segment.

use std::sync::Arc;

use limber_segment::{DocId, LiveDocs, Segment};

use super::bound_node::{BoundNode, Scored};
use super::cached::conjunction;
use super::compound::match_all::NothingNode;
use super::docs::{DocsName, DocsNode};
use super::full_text::more_like_this::MoreLikeThisTerms;
use super::joining::nested::NestedNode;
use crate::context::ShardSnapshot;
use crate::error::{Result, check_request};
use crate::matcher::{BoolDocs, BoxedMatcher, BoxedScorer, Conjunction, Guards, Matcher, Ranked};
use crate::primitives::Docs;
use crate::score::Explanation;

/// A filter whose cost is below this fraction of the terms' cost is evaluated first, and then the scores of
/// its documents.
const FILTER_LEADS_BELOW: u64 = 8;

/// A bound query. Made by [`super::bind`].
#[derive(Debug)]
pub struct BoundQuery {
    /// The query itself.
    pub(crate) node: Box<dyn BoundNode>,
    /// The `_name` of the query.
    pub(crate) name: Option<Arc<str>>,
    /// The input of a `more_like_this` query; highlighters select its terms again for the text that they
    /// mark.
    pub(crate) more_like_this: Option<Arc<MoreLikeThisTerms>>,
    /// Nanoseconds that it took to bind the query; 0 if it was bound as part of another one.
    pub(crate) bind_nanos: u64,
}

impl<N: BoundNode + 'static> From<N> for BoundQuery {
    fn from(node: N) -> BoundQuery {
        BoundQuery { node: Box::new(node), name: None, more_like_this: None, bind_nanos: 0 }
    }
}

impl BoundQuery {
    pub(crate) fn nothing(reason: impl Into<String>) -> BoundQuery {
        NothingNode { reason: reason.into() }.into()
    }

    pub(crate) fn constant(docs: Docs, boost: f32, text: String) -> BoundQuery {
        BoundQuery::constant_as(docs, boost, DocsName::Text(text))
    }

    pub(crate) fn constant_as(docs: Docs, boost: f32, text: DocsName) -> BoundQuery {
        DocsNode { docs, boost, text }.into()
    }

    /// Whether the query certainly matches no document.
    pub(crate) fn is_nothing(&self) -> bool {
        self.node.is_nothing()
    }

    /// Matches the documents of `segment`, including deleted ones.
    pub(crate) fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        check_request()?;
        self.node.matcher(segment)
    }

    /// Scores documents of `segment`. `is_known`: only matching documents are going to be scored.
    pub(crate) fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>> {
        check_request()?;
        self.node.scorer(segment, is_known)
    }

    /// Explains the score of a matching document.
    pub(crate) fn explain(&self, segment: &Segment, doc: DocId) -> Result<Explanation> {
        check_request()?;
        self.node.explain(segment, doc)
    }

    /// Returns the query as Lucene prints it.
    pub(crate) fn text(&self) -> String {
        self.node.text()
    }

    /// Returns the live matching documents if they are best counted one by one; `None` if bit sets are
    /// faster.
    pub(crate) fn stepped<'a>(
        &'a self,
        segment: &'a Segment,
        live: Option<&'a LiveDocs>,
    ) -> Result<Option<Ranked<'a>>> {
        match self.node.by_score() {
            Some(by_score) if by_score.is_stepped(segment) => self.ranked(segment, live),
            _ => Ok(None),
        }
    }

    /// Returns the live matching documents with their scores, found in one pass. `None` if the query is
    /// something else than terms or a phrase, or if its filters match so few documents that it is faster to
    /// score those.
    pub(crate) fn ranked<'a>(
        &'a self,
        segment: &'a Segment,
        live: Option<&'a LiveDocs>,
    ) -> Result<Option<Ranked<'a>>> {
        let Some(by_score) = self.node.by_score() else { return Ok(None) };
        let (excluded, prohibited) = by_score.excluded();
        let filter: Option<BoxedMatcher<'a>> = match by_score.filters.len() + prohibited.len() {
            0 => None,
            _ => {
                let filters = conjunction(by_score.filters.iter().copied(), segment)?;
                let prohibited =
                    prohibited.into_iter().map(|query| query.matcher(segment)).collect::<Result<_>>()?;
                let filter = BoolDocs::new(filters, Vec::new(), 0, prohibited, segment.doc_count());
                if filter.cost() < by_score.cost() / FILTER_LEADS_BELOW {
                    return Ok(None);
                }
                Some(Box::new(filter))
            }
        };
        let guards = Guards::new(live, filter);
        let all_of = match &by_score.scored {
            Scored::Terms { required, optional } if required.is_empty() => {
                return Ranked::any_of(optional, guards, segment).map(Some);
            }
            Scored::Terms { required, optional } => Some(Conjunction::of_terms(required, optional, segment)?),
            Scored::Phrase(phrase) => Conjunction::of_phrase(phrase, segment)?,
        };
        let Some(all_of) = all_of else { return Ok(None) };
        Ok(Some(Ranked::all_of(all_of.excluding(&excluded, segment)?, guards)))
    }

    /// Returns the number of hits if the index knows it without examining documents.
    pub(crate) fn known_count(&self, shard: &ShardSnapshot) -> Result<Option<u64>> {
        let mut count = 0;
        for view in &shard.segments {
            let Some(here) = self.node.known_count(view)? else { return Ok(None) };
            count += here;
        }
        Ok(Some(count))
    }

    /// Returns the bytes of the bit sets that may be built while the query runs on a segment.
    pub(crate) fn bit_set_bytes(&self, segment: &Segment) -> u64 {
        let own = self.node.bit_set_count() * u64::from(segment.doc_count()).div_ceil(8);
        let mut nested = Vec::new();
        self.nested(&mut nested);
        // Nested queries are opened twice, for documents and for scores.
        let inside = |node: &&NestedNode| {
            segment.nested(&node.path).map_or(0, |space| 2 * node.query.bit_set_bytes(&space.segment))
        };
        own + nested.iter().map(inside).sum::<u64>()
    }

    /// Collects the queries on nested documents, without those inside other nested queries.
    fn nested<'a>(&'a self, out: &mut Vec<&'a NestedNode>) {
        out.extend(self.node.as_nested());
        self.node.parts().into_iter().chain(self.node.prohibited()).for_each(|part| part.nested(out));
    }

    /// Collects the named queries: this one and those inside it.
    pub(crate) fn named<'a>(&'a self, out: &mut Vec<(&'a str, &'a BoundQuery)>) {
        if let Some(name) = &self.name {
            out.push((name, self));
        }
        self.node.parts().into_iter().for_each(|part| part.named(out));
    }
}
