//! A nested space of an open segment, and the way to it from the documents around.

use std::ops::Range;
use std::sync::Arc;

use super::parent_bits::ParentBits;
use super::table::SpaceEntry;
use crate::{DocId, LiveDocs, Segment, SegmentView};

/// The nested documents of one path in one segment.
#[derive(Clone)]
pub struct NestedSpace {
    /// Full dotted path of the nested object.
    pub path: Arc<str>,
    /// Place of the space around in the list that this one is in; `None`: the documents of the segment that has the list.
    pub parent: Option<usize>,
    pub bits: Arc<ParentBits>,
    /// The space as a segment of its own: documents are numbered within it, and it has neither ids nor sources.
    pub segment: Arc<Segment>,
}

/// The spaces inside of the one at a place (`None`: of the segment's documents), parents first. `segments`: by place.
pub(crate) fn spaces_inside(
    table: &[SpaceEntry],
    around: Option<usize>,
    segments: &[Option<Arc<Segment>>],
) -> Vec<NestedSpace> {
    let mut places: Vec<usize> = Vec::new();
    let mut found = Vec::new();
    for (place, (entry, segment)) in table.iter().zip(segments).enumerate() {
        let parent = places.iter().position(|&other| Some(other) == entry.parent);
        let is_inside = entry.parent == around || parent.is_some();
        if let Some(segment) = segment.as_ref().filter(|_| is_inside) {
            places.push(place);
            let (path, bits, segment) = (entry.path.clone(), entry.bits.clone(), segment.clone());
            found.push(NestedSpace { path, parent, bits, segment });
        }
    }
    found
}

/// From documents to those inside of them, through all spaces in between.
#[derive(Debug, Clone)]
pub struct Lineage<'a> {
    /// From the outermost step on.
    steps: Vec<&'a ParentBits>,
}

impl<'a> Lineage<'a> {
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

    /// Of each step: the number of the document around `child` among those of its parent, from the outermost step on.
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

impl Segment {
    /// The nested documents of a path.
    pub fn nested(&self, path: &str) -> Option<&NestedSpace> {
        self.nested_spaces().iter().find(|space| &*space.path == path)
    }

    /// From the segment's documents to those of `path` inside of them. `None` when it has none.
    pub fn lineage(&self, path: &str) -> Option<Lineage<'_>> {
        let spaces = self.nested_spaces();
        let mut at = spaces.iter().position(|space| &*space.path == path);
        let mut steps = Vec::new();
        while let Some(place) = at {
            steps.push(&*spaces[place].bits);
            at = spaces[place].parent;
        }
        if steps.is_empty() {
            return None;
        }
        steps.reverse();
        Some(Lineage { steps })
    }
}

impl SegmentView {
    /// Nested documents of all paths: those inside of live documents, and those inside of deleted ones.
    pub fn nested_counts(&self) -> (u64, u64) {
        let spaces = self.segment.nested_spaces();
        let total: u64 = spaces.iter().map(|space| u64::from(space.bits.child_count())).sum();
        let Some(live) = self.live.as_ref().filter(|live| total > 0 && live.deleted_count() > 0) else {
            return (total, 0);
        };
        let count = |space: &NestedSpace| {
            let lineage = self.segment.lineage(&space.path);
            lineage.map_or(0, |lineage| u64::from(lineage.live_inside(live).live_count()))
        };
        let live: u64 = spaces.iter().map(count).sum();
        (live, total - live)
    }

    /// Documents, nested ones counted each for itself: live, and deleted.
    pub fn counts_with_nested(&self) -> (u64, u64) {
        let (live, deleted) = self.nested_counts();
        (u64::from(self.live_count()) + live, u64::from(self.deleted_count()) + deleted)
    }

    /// The nested documents of a path, none where the segment has none. Which of them are live is for the documents around to say.
    pub fn nested(&self, path: &str) -> SegmentView {
        match self.segment.nested(path) {
            Some(space) => SegmentView::new(space.segment.clone()),
            None => SegmentView::new(Arc::new(self.segment.without_documents())),
        }
    }
}
