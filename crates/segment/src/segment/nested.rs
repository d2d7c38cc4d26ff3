//! The nested documents of an open segment: a space of each path, which is a segment of its own.

use std::sync::Arc;

use super::open::Segment;
use super::view::SegmentView;
use crate::nested::{Lineage, ParentBits, SpaceEntry};

/// The nested documents of one path in one segment.
#[derive(Clone)]
pub struct NestedSpace {
    /// Full dotted path of the nested object.
    pub path: Arc<str>,
    /// Place of the space around in the list that this one is in; `None`: the documents of the segment that
    /// has the list.
    pub parent: Option<usize>,
    /// From the documents around to those of the space, and back.
    pub bits: Arc<ParentBits>,
    /// The space as a segment of its own: documents are numbered within it, and it has neither ids nor
    /// sources.
    pub segment: Arc<Segment>,
}

/// The spaces inside of the one at a place (`None`: of the segment's documents), parents first. `segments`:
/// by place.
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
        steps.reverse();
        Lineage::new(steps)
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

    /// The nested documents of a path, none where the segment has none. Which of them are live is for the
    /// documents around to say.
    pub fn nested(&self, path: &str) -> SegmentView {
        match self.segment.nested(path) {
            Some(space) => SegmentView::new(space.segment.clone()),
            None => SegmentView::new(Arc::new(self.segment.without_documents())),
        }
    }
}
