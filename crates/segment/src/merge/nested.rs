//! The nested documents of several segments as those of one: "which of them go over, and to which parents?"

use std::sync::Arc;

use super::conduct::{merge_field, union_of_fields};
use super::doc_map::DocIdMap;
use crate::file::{NO_FIELD, SectionKind, SegmentWriter};
use crate::nested::{self, ParentBitsBuilder, SpaceEntry};
use crate::{FieldInfo, Result, SegmentView};

/// The nested documents of live documents, path by path; their fields go behind those that are in `fields`.
pub(super) fn merge_nested(
    views: &[SegmentView],
    fields: &mut Vec<FieldInfo>,
    writer: &mut SegmentWriter<'_>,
) -> Result<()> {
    let spaces = nested_spaces(views);
    let mut table = Vec::with_capacity(spaces.len());
    for space in &spaces {
        let map = DocIdMap::of(&space.views)?;
        let own = union_of_fields(&space.views)?;
        for (number, info) in (fields.len() as u32..).zip(&own) {
            merge_field(&space.views, &map, info, number, writer)?;
        }
        let parents = space.parent.map_or(views, |place| &spaces[place].views);
        let mut bits = ParentBitsBuilder::default();
        for view in parents.iter().zip(views) {
            let (parents, whole) = view;
            let mut own = whole.segment.nested(&space.path).map(|own| own.bits.child_cursor());
            for parent in (0..parents.doc_count()).filter(|&doc| parents.is_live(doc)) {
                bits.push(own.as_mut().map_or(0, |own| {
                    let start = own.first_child(parent);
                    own.first_child(parent + 1) - start
                }));
            }
        }
        table.push(SpaceEntry {
            path: space.path.clone(),
            parent: space.parent,
            field_count: own.len() as u32,
            bits: Arc::new(bits.finish()),
        });
        fields.extend(own);
    }
    if !table.is_empty() {
        writer.put(SectionKind::Nested, NO_FIELD, &nested::encode(&table))?;
    }
    Ok(())
}

/// The nested documents of one path in all segments of a merge.
pub(super) struct MergedSpace {
    path: Arc<str>,
    /// Place among the merge's spaces.
    parent: Option<usize>,
    pub views: Vec<SegmentView>,
}

/// Every path that any segment has nested documents of, parents first.
pub(super) fn nested_spaces(views: &[SegmentView]) -> Vec<MergedSpace> {
    let mut merged: Vec<MergedSpace> = Vec::new();
    for view in views {
        let spaces = view.segment.nested_spaces();
        for space in spaces {
            if merged.iter().any(|other| other.path == space.path) {
                continue;
            }
            let parent = space.parent.map(|place| &spaces[place].path);
            let parent = parent.and_then(|path| merged.iter().position(|other| other.path == *path));
            let parents = parent.map_or(views, |place| &merged[place].views);
            let views = views.iter().zip(parents).map(|(whole, parents)| {
                let own = whole.nested(&space.path);
                let live = parents.live.as_ref().filter(|live| live.deleted_count() > 0);
                let live = live.zip(whole.segment.nested(&space.path));
                let live = live.map(|(live, space)| Arc::new(space.bits.live_children(live)));
                SegmentView { live, ..own }
            });
            let views = views.collect();
            merged.push(MergedSpace { path: space.path.clone(), parent, views });
        }
    }
    merged
}
