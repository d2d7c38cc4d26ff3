//! The nested documents of an open segment: one space per path, each of which is a segment of its own.

use std::sync::Arc;

use super::open::Segment;
use super::view::SegmentView;
use crate::nested::{Lineage, ParentBits, SpaceEntry};

/// The nested documents of one path in one segment.
#[derive(Clone)]
pub struct NestedSpace {
    /// Full dotted path of the nested object.
    pub path: Arc<str>,
    /// Index of the enclosing space in the list that contains this space; `None` for the documents of the
    /// segment that has the list.
    pub parent: Option<usize>,
    /// Maps the enclosing documents to those of the space, and back.
    pub bits: Arc<ParentBits>,
    /// The space as a segment of its own: its documents have their own numbers, but neither ids nor sources.
    pub segment: Arc<Segment>,
}

/// Returns the spaces inside the one at index `around` (`None` for the segment's documents), parents first.
/// `segments` is by index.
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
    /// Returns the nested documents of a path.
    pub fn nested(&self, path: &str) -> Option<&NestedSpace> {
        self.nested_spaces().iter().find(|space| &*space.path == path)
    }

    /// Returns the map from the segment's documents to the nested documents of `path`; `None` if it has none.
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
    /// Returns the number of nested documents of all paths inside live documents, and inside deleted ones.
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

    /// Returns the numbers of live and of deleted documents; each nested document counts as one.
    pub fn counts_with_nested(&self) -> (u64, u64) {
        let (live, deleted) = self.nested_counts();
        (u64::from(self.live_count()) + live, u64::from(self.deleted_count()) + deleted)
    }

    /// Returns the nested documents of a path, an empty segment if there are none. It does not say which of
    /// them are live; that depends on the enclosing documents.
    pub fn nested(&self, path: &str) -> SegmentView {
        match self.segment.nested(path) {
            Some(space) => SegmentView::new(space.segment.clone()),
            None => SegmentView::new(Arc::new(self.segment.without_documents())),
        }
    }
}
