//! From documents to those inside of them, step by step through the paths in between.

use std::ops::Range;

use super::parent_bits::ParentBits;
use crate::{DocId, LiveDocs};

/// From documents to those inside of them, through all spaces in between.
#[derive(Debug, Clone)]
pub struct Lineage<'a> {
    /// From the outermost step on.
    steps: Vec<&'a ParentBits>,
}

impl<'a> Lineage<'a> {
    /// The way through these steps, from the outermost one on; `None` where there are none.
    pub(crate) fn new(steps: Vec<&'a ParentBits>) -> Option<Lineage<'a>> {
        (!steps.is_empty()).then_some(Lineage { steps })
    }

    /// All documents inside of `parent`.
    pub fn children(&self, parent: DocId) -> Range<DocId> {
        self.inside(parent..parent + 1)
    }

    /// All documents inside of these.
    pub fn inside(&self, parents: Range<DocId>) -> Range<DocId> {
        let inside = |range: Range<DocId>, bits: &&ParentBits| {
            bits.first_child(range.start)..bits.first_child(range.end)
        };
        self.steps.iter().fold(parents, inside)
    }

    /// The first document inside of `parent` or of any after it.
    pub fn first_child(&self, parent: DocId) -> DocId {
        self.steps.iter().fold(parent, |doc, bits| bits.first_child(doc))
    }

    /// The document around `child`.
    pub fn parent(&self, child: DocId) -> DocId {
        self.steps.iter().rev().fold(child, |doc, bits| bits.parent(doc))
    }

    /// For parents that ascend.
    pub fn children_cursor(&self) -> ChildrenCursor<'a> {
        ChildrenCursor { steps: self.steps.iter().map(|bits| bits.child_cursor()).collect() }
    }

    /// For children that ascend.
    pub fn cursor(&self) -> LineageCursor<'a> {
        LineageCursor { steps: self.steps.iter().rev().map(|bits| bits.cursor()).collect() }
    }

    /// Documents inside of those that `live` says.
    pub fn live_inside(&self, live: &LiveDocs) -> LiveDocs {
        let mut steps = self.steps.iter();
        let first = steps.next().map(|bits| bits.live_children(live));
        let first = first.unwrap_or_else(|| live.clone());
        steps.fold(first, |live, bits| bits.live_children(&live))
    }

    /// Of each step: the number of the document around `child` among those of its parent, from the outermost
    /// step on.
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

/// Documents inside of ascending parents.
#[derive(Debug, Clone)]
pub struct ChildrenCursor<'a> {
    /// From the outermost step on.
    steps: Vec<super::ChildCursor<'a>>,
}

impl ChildrenCursor<'_> {
    /// All documents inside of `parent`; fast where that is not before the one of the last call.
    #[inline]
    pub fn children(&mut self, parent: DocId) -> Range<DocId> {
        self.steps.iter_mut().fold(parent..parent + 1, |range, step| {
            let start = step.first_child(range.start);
            start..step.first_child(range.end)
        })
    }
}

/// Documents around ascending children.
#[derive(Debug, Clone)]
pub struct LineageCursor<'a> {
    /// From the innermost step on.
    steps: Vec<super::ParentCursor<'a>>,
}

impl LineageCursor<'_> {
    /// The document around `child`, which is not before the child of the call before.
    #[inline]
    pub fn parent(&mut self, child: DocId) -> DocId {
        self.steps.iter_mut().fold(child, |doc, step| step.parent(doc))
    }
}
