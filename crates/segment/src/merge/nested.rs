//! Merges nested documents: "which of them are kept, and which parents do they get?"

use std::sync::Arc;

use super::conduct::{Documents, merge_field, union_of_fields};
use super::order::MergeOrder;
use crate::file::{NO_FIELD, SectionKind, SegmentWriter};
use crate::nested::{self, ParentBitsBuilder, SpaceEntry};
use crate::{FieldInfo, Result, SegmentView};

/// Merges the nested documents of live documents, path by path, and appends their fields to `fields`.
pub(super) fn merge_nested(
    documents: &Documents<'_>,
    fields: &mut Vec<FieldInfo>,
    writer: &mut SegmentWriter<'_>,
) -> Result<()> {
    let spaces = nested_spaces(documents.views);
    let mut table = Vec::with_capacity(spaces.len());
    let mut orders: Vec<Option<MergeOrder>> = Vec::with_capacity(spaces.len());
    for space in &spaces {
        let (parents, parent_order) = match space.parent {
            None => (documents.views, documents.order),
            Some(place) => (&spaces[place].views[..], orders[place].as_ref()),
        };
        let counts = || -> Vec<_> {
            parents
                .iter()
                .zip(documents.views)
                .map(|(parents, whole)| space.child_counts(parents, whole))
                .collect()
        };
        let order = parent_order.map(|order| order.of_children(&mut counts()));
        let map = Documents::map_of(&space.views, order.as_ref())?;
        let own = union_of_fields(&space.views)?;
        let nested = Documents { views: &space.views, map: &map, order: order.as_ref() };
        for (number, info) in (fields.len() as u32..).zip(&own) {
            merge_field(&nested, info, number, writer)?;
        }
        let mut bits = ParentBitsBuilder::default();
        let mut counts = counts();
        match parent_order {
            None => counts.into_iter().flatten().for_each(|count| bits.push(count)),
            Some(order) => order.runs().for_each(|(segment, parent_count)| {
                counts[segment].by_ref().take(parent_count as usize).for_each(|count| bits.push(count));
            }),
        }
        table.push(SpaceEntry {
            path: space.path.clone(),
            parent: space.parent,
            field_count: own.len() as u32,
            bits: Arc::new(bits.finish()),
        });
        fields.extend(own);
        orders.push(order);
    }
    if !table.is_empty() {
        writer.put(SectionKind::Nested, NO_FIELD, &nested::encode(&table))?;
    }
    Ok(())
}

/// The nested documents of one path in all segments of a merge.
pub(super) struct MergedSpace {
    path: Arc<str>,
    /// Index among the spaces of the merge.
    parent: Option<usize>,
    pub views: Vec<SegmentView>,
}

impl MergedSpace {
    /// Returns the number of children of each live one of `parents`. `whole` is the segment that the path
    /// belongs to.
    fn child_counts<'v>(
        &self,
        parents: &'v SegmentView,
        whole: &'v SegmentView,
    ) -> impl Iterator<Item = u32> + use<'v> {
        let mut own = whole.segment.nested(&self.path).map(|own| own.bits.child_cursor());
        (0..parents.doc_count()).filter(|&doc| parents.is_live(doc)).map(move |parent| {
            own.as_mut().map_or(0, |own| {
                let start = own.first_child(parent);
                own.first_child(parent + 1) - start
            })
        })
    }
}

/// Returns every path with nested documents in any segment, parents first.
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
