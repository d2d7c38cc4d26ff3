//! A query bound to a shard: fields resolved, values converted, statistics collected. The same tree serves every segment.

use std::sync::Arc;

use limber_segment::{DocId, Segment};

use super::bound_node::BoundNode;
use super::compound::match_all::NothingNode;
use super::docs::{DocsName, DocsNode};
use super::full_text::more_like_this::Likeness;
use super::joining::nested::NestedNode;
use crate::context::ShardSnapshot;
use crate::error::{Result, check_request};
use crate::matcher::{BoxedMatcher, BoxedScorer, Ranked};
use crate::primitives::Docs;
use crate::score::Explanation;

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

    /// Its documents and their scores, found in one pass; `None`: it is something else than terms or a phrase.
    pub(crate) fn ranked<'a>(&'a self, segment: &'a Segment) -> Result<Option<Ranked<'a>>> {
        if let Some(terms) = self.node.scored_terms() {
            return Ranked::any(&terms, segment).map(Some);
        }
        if let Some(terms) = self.node.required_scored_terms() {
            return Ranked::all(&terms, segment).map(Some);
        }
        match self.node.as_phrase() {
            Some(phrase) => Ranked::phrase(phrase, segment),
            None => Ok(None),
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

    /// Bytes of the sets of documents that may be built as a bit a document while the query runs on a segment.
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
