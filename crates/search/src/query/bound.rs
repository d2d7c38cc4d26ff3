//! A query bound to a shard: fields resolved, values converted, statistics collected. The same tree serves
//! every segment.

use std::sync::Arc;

use limber_segment::{DocId, LiveDocs, Segment};

use super::bound_node::{BoundNode, Scored};
use super::cached::conjunction;
use super::compound::match_all::NothingNode;
use super::docs::{DocsName, DocsNode};
use super::full_text::more_like_this::Likeness;
use super::joining::nested::NestedNode;
use crate::context::ShardSnapshot;
use crate::error::{Result, check_request};
use crate::matcher::{BoolDocs, BoxedMatcher, BoxedScorer, Guards, Matcher, Ranked};
use crate::primitives::Docs;
use crate::score::Explanation;

/// A filter that leaves fewer documents than this part of those with the terms finds them itself.
const FILTER_LEADS_BELOW: u64 = 8;

/// A bound query. Made by [`super::bind`].
#[derive(Debug)]
pub struct BoundQuery {
    /// What it says about itself.
    pub(crate) node: Box<dyn BoundNode>,
    /// `_name`.
    pub(crate) name: Option<Arc<str>>,
    /// What it was made from, where that is a likeness: its terms are chosen anew where they are marked.
    pub(crate) likeness: Option<Arc<Likeness>>,
    /// How long it took to bind it; 0 where it was bound together with the query around it.
    pub(crate) bind_nanos: u64,
}

impl<N: BoundNode + 'static> From<N> for BoundQuery {
    fn from(node: N) -> BoundQuery {
        BoundQuery { node: Box::new(node), name: None, likeness: None, bind_nanos: 0 }
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

    /// Whether it is known that no document matches.
    pub(crate) fn is_nothing(&self) -> bool {
        self.node.is_nothing()
    }

    /// The documents that match in `segment`, deleted ones included.
    pub(crate) fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        self.node.matcher(segment)
    }

    /// The scores in `segment`. `is_known`: only documents that match are going to be scored.
    pub(crate) fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>> {
        self.node.scorer(segment, is_known)
    }

    /// Explains a document that matches.
    pub(crate) fn explain(&self, segment: &Segment, doc: DocId) -> Result<Explanation> {
        check_request()?;
        self.node.explain(segment, doc)
    }

    /// The query as Lucene prints it.
    pub(crate) fn text(&self) -> String {
        self.node.text()
    }

    /// Its documents, of those that live, to be counted by steps; `None`: bit sets are quicker.
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

    /// Its documents, of those that live, and their scores, found in one pass; `None`: it is something else
    /// than terms or a phrase, or its filters leave so little of them that looking at what is left is
    /// quicker.
    pub(crate) fn ranked<'a>(
        &'a self,
        segment: &'a Segment,
        live: Option<&'a LiveDocs>,
    ) -> Result<Option<Ranked<'a>>> {
        let Some(by_score) = self.node.by_score() else { return Ok(None) };
        let filter: Option<BoxedMatcher<'a>> = match by_score.filters.len() + by_score.prohibited.len() {
            0 => None,
            _ => {
                let filters = conjunction(by_score.filters.iter().copied(), segment)?;
                let prohibited =
                    by_score.prohibited.iter().map(|query| query.matcher(segment)).collect::<Result<_>>()?;
                let filter = BoolDocs::new(filters, Vec::new(), 0, prohibited, segment.doc_count());
                if filter.cost() < by_score.cost() / FILTER_LEADS_BELOW {
                    return Ok(None);
                }
                Some(Box::new(filter))
            }
        };
        let guards = Guards::new(live, filter);
        match &by_score.scored {
            Scored::Terms { required, optional } => {
                Ranked::by_terms(required, optional, guards, segment).map(Some)
            }
            Scored::Phrase(phrase) => Ranked::by_phrase(phrase, guards, segment),
        }
    }

    /// The number of hits where the index knows it without looking at documents.
    pub(crate) fn known_count(&self, shard: &ShardSnapshot) -> Result<Option<u64>> {
        let mut count = 0;
        for view in &shard.segments {
            let Some(here) = self.node.known_count(view)? else { return Ok(None) };
            count += here;
        }
        Ok(Some(count))
    }

    /// Bytes of the sets of documents that may be built as a bit a document while the query runs on a
    /// segment.
    pub(crate) fn bit_set_bytes(&self, segment: &Segment) -> u64 {
        let own = self.node.bit_set_count() * u64::from(segment.doc_count()).div_ceil(8);
        let mut nested = Vec::new();
        self.nested(&mut nested);
        // Opened for the documents and for their scores.
        let inside = |node: &&NestedNode| {
            segment.nested(&node.path).map_or(0, |space| 2 * node.query.bit_set_bytes(&space.segment))
        };
        own + nested.iter().map(inside).sum::<u64>()
    }

    /// The queries on nested documents in it, but not those inside of others.
    fn nested<'a>(&'a self, out: &mut Vec<&'a NestedNode>) {
        out.extend(self.node.as_nested());
        self.node.parts().into_iter().chain(self.node.prohibited()).for_each(|part| part.nested(out));
    }

    /// Names of this query and of those inside it.
    pub(crate) fn named<'a>(&'a self, out: &mut Vec<(&'a str, &'a BoundQuery)>) {
        if let Some(name) = &self.name {
            out.push((name, self));
        }
        self.node.parts().into_iter().for_each(|part| part.named(out));
    }
}
