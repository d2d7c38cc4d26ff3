//! Maps documents to their nested documents across several levels.

use std::ops::Range;

use super::parent_bits::ParentBits;
use crate::{DocId, LiveDocs};

/// Maps documents to nested documents several levels down, through all spaces in between.
#[derive(Debug, Clone)]
pub struct Lineage<'a> {
    /// Outermost first.
    steps: Vec<&'a ParentBits>,
}

impl<'a> Lineage<'a> {
    /// Creates a lineage of these steps, outermost first; `None` if there are none.
    pub(crate) fn new(steps: Vec<&'a ParentBits>) -> Option<Lineage<'a>> {
        (!steps.is_empty()).then_some(Lineage { steps })
    }

    /// Returns all documents inside `parent`.
    pub fn children(&self, parent: DocId) -> Range<DocId> {
        self.inside(parent..parent + 1)
    }

    /// Returns all documents inside the range `parents`.
    pub fn inside(&self, parents: Range<DocId>) -> Range<DocId> {
        let inside = |range: Range<DocId>, bits: &&ParentBits| {
            bits.first_child(range.start)..bits.first_child(range.end)
        };
        self.steps.iter().fold(parents, inside)
    }

    /// Returns the first document inside `parent` or inside any document after it.
    pub fn first_child(&self, parent: DocId) -> DocId {
        self.steps.iter().fold(parent, |doc, bits| bits.first_child(doc))
    }

    /// Returns the document that encloses `child`.
    pub fn parent(&self, child: DocId) -> DocId {
        self.steps.iter().rev().fold(child, |doc, bits| bits.parent(doc))
    }

    /// Returns a cursor for ascending parents.
    pub fn children_cursor(&self) -> ChildrenCursor<'a> {
        ChildrenCursor { steps: self.steps.iter().map(|bits| bits.child_cursor()).collect() }
    }

    /// Returns a cursor for ascending children.
    pub fn cursor(&self) -> LineageCursor<'a> {
        LineageCursor { steps: self.steps.iter().rev().map(|bits| bits.cursor()).collect() }
    }

    /// Returns the documents inside the documents that are live by `live`.
    pub fn live_inside(&self, live: &LiveDocs) -> LiveDocs {
        let mut steps = self.steps.iter();
        let first = steps.next().map(|bits| bits.live_children(live));
        let first = first.unwrap_or_else(|| live.clone());
        steps.fold(first, |live, bits| bits.live_children(&live))
    }

    /// Returns, for each step from the outermost on, the index of the document that encloses `child` (or is
    /// it) among the children of its parent.
    pub fn offsets(&self, child: DocId) -> Vec<u32> {
        let mut doc = child;
        let mut offsets: Vec<u32> = Vec::with_capacity(self.steps.len());
        for bits in self.steps.iter().rev() {
            let parent = bits.parent(doc);
            offsets.push(doc - bits.first_child(parent));
            doc = parent;
        }
        offsets.reverse();
        offsets
    }
}

/// Maps ascending parents to the documents inside them.
#[derive(Debug, Clone)]
pub struct ChildrenCursor<'a> {
    /// Outermost first.
    steps: Vec<super::ChildCursor<'a>>,
}

impl ChildrenCursor<'_> {
    /// Returns all documents inside `parent`; fast unless `parent` precedes the one of the last call.
    #[inline]
    pub fn children(&mut self, parent: DocId) -> Range<DocId> {
        self.steps.iter_mut().fold(parent..parent + 1, |range, step| {
            let start = step.first_child(range.start);
            start..step.first_child(range.end)
        })
    }
}

/// Maps ascending children to the documents that enclose them.
#[derive(Debug, Clone)]
pub struct LineageCursor<'a> {
    /// Innermost first.
    steps: Vec<super::ParentCursor<'a>>,
}

impl LineageCursor<'_> {
    /// Returns the document that encloses `child`, which must not precede the child of the last call.
    #[inline]
    pub fn parent(&mut self, child: DocId) -> DocId {
        self.steps.iter_mut().fold(child, |doc, step| step.parent(doc))
    }
}
