//! Columns and points of one field of several segments as one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::columns::format::GROUP as WINDOW;
use crate::columns::{Batch, Column, ColumnSummary, ColumnValue, ColumnWriter};
use crate::file::{SectionKind, SegmentWriter};
use crate::points::{LeafCursor, LeafWriter, Point, column_serves, write_column_kind};
use crate::{DocId, Error, FieldInfo, Result, SegmentView, Sink};

use super::doc_map::DocIdMap;
use super::terms::{DROPPED, OrdinalMaps};

/// Merges a number column.
pub(super) fn merge_numbers(
    views: &[SegmentView],
    map: &DocIdMap,
    info: &FieldInfo,
    number: u32,
    writer: &mut SegmentWriter<'_>,
) -> Result<ColumnSummary> {
    let mut section = writer.begin(SectionKind::Column, number);
    let mut merged = ColumnWriter::new();
    let mut copier = Copier::default();
    for (segment, view) in views.iter().enumerate() {
        if let Some(column) = view.segment.numbers(&info.path)? {
            copier.copy(view, column, first_doc(map, segment, view), Ok, &mut merged, &mut section)?;
        }
    }
    let summary = merged.finish(map.doc_count(), &mut section)?;
    writer.end(section);
    Ok(summary)
}

/// Merges an ordinal column; ordinals become those of the merged dictionary.
pub(super) fn merge_ordinals(
    views: &[SegmentView],
    map: &DocIdMap,
    info: &FieldInfo,
    number: u32,
    ordinals: &OrdinalMaps,
    writer: &mut SegmentWriter<'_>,
) -> Result<()> {
    let mut section = writer.begin(SectionKind::Column, number);
    let mut merged = ColumnWriter::new();
    let mut copier = Copier::default();
    for (segment, view) in views.iter().enumerate() {
        if let Some(column) = view.segment.ordinals(&info.path)? {
            let of_segment = &ordinals[segment];
            let new_ordinal = |old: u32| match of_segment.get(old as usize) {
                Some(&new) if new != DROPPED => Ok(i64::from(new)),
                _ => Err(Error::corrupt("column", u64::from(old), "ordinals of terms that documents have")),
            };
            copier.copy(
                view,
                column,
                first_doc(map, segment, view),
                new_ordinal,
                &mut merged,
                &mut section,
            )?;
        }
    }
    merged.finish(map.doc_count(), &mut section)?;
    writer.end(section);
    Ok(())
}

/// New number of the first live document of a segment; the others follow without gaps.
fn first_doc(map: &DocIdMap, segment: usize, view: &SegmentView) -> DocId {
    match &view.live {
        None => map.get(segment, 0).unwrap_or(0),
        Some(live) => live.iter().next().and_then(|doc| map.get(segment, doc)).unwrap_or(0),
    }
}

/// Buffers for copying columns window by window.
struct Copier<T> {
    docs: Vec<DocId>,
    batch: Batch<T>,
    new_values: Vec<i64>,
}

impl<T> Default for Copier<T> {
    fn default() -> Self {
        Copier { docs: Vec::new(), batch: Batch::default(), new_values: Vec::new() }
    }
}

impl<T: ColumnValue> Copier<T> {
    fn copy(
        &mut self,
        view: &SegmentView,
        column: Column<'_, T>,
        mut next_doc: DocId,
        new_value: impl Fn(T) -> Result<i64>,
        merged: &mut ColumnWriter,
        section: &mut impl Sink,
    ) -> Result<()> {
        for start in (0..view.doc_count()).step_by(WINDOW) {
            let end = view.doc_count().min(start.saturating_add(WINDOW as u32));
            self.docs.clear();
            match &view.live {
                None => self.docs.extend(start..end),
                Some(live) => self.docs.extend((start..end).filter(|doc| live.is_live(*doc))),
            }
            column.gather(&self.docs, &mut self.batch)?;
            self.new_values.clear();
            for value in &self.batch.values {
                self.new_values.push(new_value(*value)?);
            }
            if self.batch.is_aligned() {
                merged.push_run(next_doc, &self.new_values, section)?;
            } else {
                let mut rest = &self.new_values[..];
                for of_doc in self.batch.positions.chunk_by(|a, b| a == b) {
                    let (values, after) = rest.split_at(of_doc.len());
                    merged.push(next_doc + of_doc[0], values, section)?;
                    rest = after;
                }
            }
            next_doc += self.docs.len() as u32;
        }
        Ok(())
    }
}

/// Merges points: a k-way merge of leaves already sorted by value.
pub(super) fn merge_points(
    views: &[SegmentView],
    map: &DocIdMap,
    info: &FieldInfo,
    number: u32,
    column: Option<&ColumnSummary>,
    writer: &mut SegmentWriter<'_>,
) -> Result<()> {
    let mut section = writer.begin(SectionKind::Points, number);
    if let Some(column) = column.filter(|column| !info.spatial && column_serves(column)) {
        write_column_kind(column, &mut section)?;
        writer.end(section);
        return Ok(());
    }
    let mut sources = Vec::new();
    for (segment, view) in views.iter().enumerate() {
        if let Some(points) = view.segment.raw_points(&info.path)? {
            let mut source =
                PointSource { segment, cursor: points.leaves_in_order(), leaf: Vec::new(), at: 0 };
            if source.refill(map)? {
                sources.push(source);
            }
        }
    }
    // Equal values come in segment order, which is document order.
    let mut heap: BinaryHeap<Reverse<(i64, usize)>> =
        sources.iter().enumerate().map(|(place, source)| Reverse((source.leaf[0].0, place))).collect();
    let mut leaves = LeafWriter::default();
    let mut seen = column.is_none().then(|| vec![0u64; map.doc_count().div_ceil(64) as usize]);
    while let Some(Reverse((_, place))) = heap.pop() {
        let limit = heap.peek().map(|Reverse(next)| *next);
        let source = &mut sources[place];
        // Take everything that comes before the other sources' next values.
        loop {
            let point = source.leaf[source.at];
            if limit.is_some_and(|limit| (point.0, place) > limit) {
                heap.push(Reverse((point.0, place)));
                break;
            }
            if let Some(seen) = &mut seen {
                seen[point.1 as usize / 64] |= 1 << (point.1 % 64);
            }
            leaves.push(point, &mut section)?;
            source.at += 1;
            if source.at == source.leaf.len() && !source.refill(map)? {
                break;
            }
        }
    }
    let with_value = match (column, &seen) {
        (Some(column), _) => column.doc_count_with_value,
        (None, Some(seen)) => seen.iter().map(|word| word.count_ones()).sum(),
        (None, None) => 0,
    };
    leaves.finish(map.doc_count(), with_value, &mut section)?;
    writer.end(section);
    Ok(())
}

struct PointSource<'a> {
    segment: usize,
    cursor: LeafCursor<'a>,
    leaf: Vec<Point>,
    at: usize,
}

impl PointSource<'_> {
    /// The next leaf in which documents are left, renumbered; `false` at the end.
    fn refill(&mut self, map: &DocIdMap) -> Result<bool> {
        self.at = 0;
        while self.cursor.next_leaf(&mut self.leaf)? {
            let segment = self.segment;
            let mut kept = 0;
            for index in 0..self.leaf.len() {
                let (value, doc) = self.leaf[index];
                if let Some(new) = map.get(segment, doc) {
                    self.leaf[kept] = (value, new);
                    kept += 1;
                }
            }
            self.leaf.truncate(kept);
            if kept > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
