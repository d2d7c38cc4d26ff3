//! The steps of a merge.

use hashbrown::HashMap;
use limber_mapping::Representation;
use limber_store::Directory;

use super::columns::{merge_numbers, merge_ordinals, merge_points, merge_shapes};
use super::dictionary::MergeDictionary;
use super::doc_map::DocIdMap;
use super::nested::merge_nested;
use super::order::MergeOrder;
use super::stored::merge_stored;
use super::terms::merge_terms;
use crate::columns::ColumnSummary;
use crate::file::{Progress, SectionKind, SegmentWriter};
use crate::stored::StoredCodec;
use crate::{Error, FieldInfo, Result, SegmentId, SegmentMeta, SegmentView, SortField};

/// Path of the column that holds sequence numbers.
const SEQ_NO_PATH: &str = "_seq_no";

/// Merges `views` in their order into the new segment `id`, without fsync.
///
/// Calls `progress` about once per MiB with the bytes written since the last call. It may sleep to throttle;
/// an error (such as [`Error::Cancelled`]) ends the merge. After an error no file of the new segment remains.
///
/// Every section is verified before it is read, so that a merge never gives damaged bytes a valid checksum.
/// Fails with errors of the disk, and with [`limber_store::Error::Corrupt`] for a damaged source, which
/// [`crate::Segment::damage`] of that source then reports as well.
pub fn merge(
    views: &[SegmentView],
    directory: &dyn Directory,
    id: SegmentId,
    codec: StoredCodec,
    progress: Option<Box<Progress<'_>>>,
) -> Result<(SegmentMeta, DocIdMap)> {
    merge_sorted(views, directory, id, (codec, MergeDictionary::Known(None)), &[], progress)
}

/// Does the same as [`merge`] for views whose documents are in the order of `sort`. The new segment has
/// that order as well; ties keep the order of the views. Merges of many documents store them with the
/// dictionary.
pub fn merge_sorted(
    views: &[SegmentView],
    directory: &dyn Directory,
    id: SegmentId,
    (codec, dictionary): (StoredCodec, MergeDictionary<'_>),
    sort: &[SortField],
    progress: Option<Box<Progress<'_>>>,
) -> Result<(SegmentMeta, DocIdMap)> {
    for view in views {
        view.segment.verify_whole()?;
    }
    let order = MergeOrder::by(views, sort)?;
    let map = Documents::map_of(views, order.as_ref())?;
    let documents = Documents { views, map: &map, order: order.as_ref() };
    let mut fields = union_of_fields(views)?;
    let mut writer = SegmentWriter::new(directory, id);
    if let Some(progress) = progress {
        writer = writer.with_progress(progress);
    }
    let mut seq_no_bounds = None;
    for (number, info) in (0u32..).zip(&fields) {
        let column = merge_field(&documents, info, number, &mut writer)?;
        if &*info.path == SEQ_NO_PATH {
            seq_no_bounds =
                column.filter(|c| c.value_count > 0).map(|c| (c.min.max(0) as u64, c.max.max(0) as u64));
        }
    }
    merge_nested(&documents, &mut fields, &mut writer)?;
    merge_stored(&documents, codec, dictionary, &mut writer)?;
    for view in views {
        // An unreadable page was read as zeros.
        view.segment.intact()?;
    }
    let meta = writer.finish(&fields, map.doc_count(), seq_no_bounds)?;
    Ok((meta, map))
}

/// The documents to merge and their new numbers.
#[derive(Clone, Copy)]
pub(super) struct Documents<'m> {
    pub views: &'m [SegmentView],
    pub map: &'m DocIdMap,
    /// `None` if one segment follows the other.
    pub order: Option<&'m MergeOrder>,
}

impl Documents<'_> {
    pub(crate) fn map_of(views: &[SegmentView], order: Option<&MergeOrder>) -> Result<DocIdMap> {
        let in_turn = DocIdMap::of(views)?;
        Ok(order.map_or(in_turn, |order| order.doc_map(views)))
    }
}

/// Merges every section of one field; returns the summary of its number column if there is one.
pub(super) fn merge_field(
    documents: &Documents<'_>,
    info: &FieldInfo,
    number: u32,
    writer: &mut SegmentWriter<'_>,
) -> Result<Option<ColumnSummary>> {
    let Documents { views, map, .. } = *documents;
    for view in views {
        if let Some(number) = view.segment.number(&info.path) {
            view.segment.file().verify_field(number)?;
        }
    }
    let has = |kind| {
        views.iter().any(|view| {
            view.segment
                .number(&info.path)
                .is_some_and(|number| view.segment.file().entry(kind, number).is_some())
        })
    };
    if info.representation == Representation::Shape {
        if has(SectionKind::Shapes) {
            merge_shapes(documents, info, number, writer)?;
        }
        if info.index && has(SectionKind::Points) {
            merge_points(views, map, info, number, None, writer)?;
        }
        return Ok(None);
    }
    if info.representation != Representation::Number {
        if has(SectionKind::TermDirectory) {
            let ordinals = merge_terms(documents, info, number, writer)?;
            if has(SectionKind::Column) {
                merge_ordinals(documents, info, number, &ordinals, writer)?;
            }
        }
        return Ok(None);
    }
    let column = match has(SectionKind::Column) {
        true => Some(merge_numbers(documents, info, number, writer)?),
        false => None,
    };
    if info.index && has(SectionKind::Points) {
        merge_points(views, map, info, number, column.as_ref(), writer)?;
    }
    Ok(column)
}

/// Returns the fields of all segments, in the order of their first occurrence. Norms, frequencies and
/// positions are kept only if all segments have them (a later mapping may have switched norms off); terms
/// and columns are kept if any segment has them.
pub(super) fn union_of_fields(views: &[SegmentView]) -> Result<Vec<FieldInfo>> {
    let mut fields: Vec<FieldInfo> = Vec::new();
    let mut places: HashMap<std::sync::Arc<str>, usize, foldhash::fast::RandomState> = HashMap::default();
    for info in views.iter().flat_map(|view| view.segment.fields()) {
        let Some(&place) = places.get(&info.path) else {
            places.insert(info.path.clone(), fields.len());
            fields.push(info.clone());
            continue;
        };
        let merged = &mut fields[place];
        if merged.representation != info.representation {
            return Err(Error::FieldConflict { path: info.path.to_string() });
        }
        merged.index |= info.index;
        if merged.spatial != info.spatial {
            // Points of one kind cannot replace those of the other, so queries must use the column.
            (merged.index, merged.spatial) = (false, false);
        }
        merged.column |= info.column;
        merged.norms &= info.norms;
        merged.frequencies &= info.frequencies;
        merged.positions &= info.positions;
    }
    Ok(fields)
}
