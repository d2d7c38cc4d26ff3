//! Merges the columns and points of one field.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::columns::{Batch, Column, ColumnSummary, ColumnValue, ColumnWriter};
use crate::file::{SectionKind, SegmentWriter};
use crate::points::{LeafCursor, LeafWriter, Point, column_serves, write_column_kind};
use crate::{DocId, Error, FieldInfo, Result, SegmentView, Sink};

use super::conduct::Documents;
use super::doc_map::DocIdMap;
use super::live_windows::LiveWindows;
use super::terms::{DROPPED, OrdinalMaps};

/// Merges a number column.
pub(super) fn merge_numbers(
    documents: &Documents<'_>,
    info: &FieldInfo,
    number: u32,
    writer: &mut SegmentWriter<'_>,
) -> Result<ColumnSummary> {
    let mut section = writer.begin(SectionKind::Column, number);
    let mut columns = Vec::with_capacity(documents.views.len());
    for view in documents.views {
        columns.push(view.segment.numbers(&info.path)?);
    }
    let summary = merge_columns(documents, columns, |_, value| Ok(value), &mut section)?;
    writer.end(section);
    Ok(summary)
}

/// Merges an ordinal column and renumbers it by the merged dictionary.
pub(super) fn merge_ordinals(
    documents: &Documents<'_>,
    info: &FieldInfo,
    number: u32,
    ordinals: &OrdinalMaps,
    writer: &mut SegmentWriter<'_>,
) -> Result<()> {
    let mut section = writer.begin(SectionKind::Column, number);
    let mut columns = Vec::with_capacity(documents.views.len());
    for view in documents.views {
        columns.push(view.segment.ordinals(&info.path)?);
    }
    let new_ordinal = |segment: usize, old: u32| match ordinals[segment].get(old as usize) {
        Some(&new) if new != DROPPED => Ok(i64::from(new)),
        _ => Err(Error::corrupt("column", u64::from(old), "ordinals of terms that documents have")),
    };
    merge_columns(documents, columns, new_ordinal, &mut section)?;
    writer.end(section);
    Ok(())
}

/// Merges a column of shapes and copies their bytes unchanged.
pub(super) fn merge_shapes(
    documents: &Documents<'_>,
    info: &FieldInfo,
    number: u32,
    writer: &mut SegmentWriter<'_>,
) -> Result<()> {
    let mut section = writer.begin(SectionKind::Column, number);
    let bytes = RefCell::new(writer.begin(SectionKind::Shapes, number));
    let mut shapes = Vec::with_capacity(documents.views.len());
    for view in documents.views {
        shapes.push(view.segment.shapes(&info.path)?);
    }
    let columns = shapes.iter().map(|shapes| shapes.as_ref().map(|shapes| *shapes.places())).collect();
    let new_place = |segment: usize, place: i64| {
        let Some(shapes) = &shapes[segment] else { return Ok(place) };
        let mut bytes = bytes.borrow_mut();
        let new_place = bytes.position() as i64;
        bytes.append(shapes.record(place)?)?;
        Ok(new_place)
    };
    merge_columns(documents, columns, new_place, &mut section)?;
    writer.end(section);
    writer.end(bytes.into_inner());
    Ok(())
}

/// Merges columns; `new_value` maps a value by its segment.
fn merge_columns<T: ColumnValue>(
    documents: &Documents<'_>,
    columns: Vec<Option<Column<'_, T>>>,
    new_value: impl Fn(usize, T) -> Result<i64>,
    section: &mut impl Sink,
) -> Result<ColumnSummary> {
    let mut merged = ColumnWriter::new();
    let mut sources: Vec<ColumnSource<'_, T>> =
        documents.views.iter().zip(columns).map(|(view, column)| ColumnSource::new(view, column)).collect();
    let mut next_doc = 0;
    match documents.order {
        None => {
            for (segment, source) in sources.iter_mut().enumerate() {
                let doc_count = source.view.live_count();
                source.copy(doc_count, next_doc, |value| new_value(segment, value), &mut merged, section)?;
                next_doc += doc_count;
                // Frees its buffers, since segments are read one after the other.
                *source = ColumnSource::new(source.view, None);
            }
        }
        Some(order) => {
            for (segment, doc_count) in order.runs() {
                let source = &mut sources[segment];
                source.copy(doc_count, next_doc, |value| new_value(segment, value), &mut merged, section)?;
                next_doc += doc_count;
            }
        }
    }
    merged.finish(documents.map.doc_count(), section)
}

/// One segment's column, read window by window.
struct ColumnSource<'a, T> {
    view: &'a SegmentView,
    column: Option<Column<'a, T>>,
    windows: LiveWindows<'a>,
    docs: Vec<DocId>,
    batch: Batch<T>,
    new_values: Vec<i64>,
    /// Documents and values of the window that are copied already.
    docs_done: usize,
    values_done: usize,
}

impl<'a, T: ColumnValue> ColumnSource<'a, T> {
    fn new(view: &'a SegmentView, column: Option<Column<'a, T>>) -> ColumnSource<'a, T> {
        ColumnSource {
            view,
            column,
            windows: LiveWindows::new(view),
            docs: Vec::new(),
            batch: Batch::default(),
            new_values: Vec::new(),
            docs_done: 0,
            values_done: 0,
        }
    }

    /// Copies the values of the next `doc_count` live documents, whose new numbers start at `first_doc`.
    fn copy(
        &mut self,
        doc_count: u32,
        first_doc: DocId,
        new_value: impl Fn(T) -> Result<i64>,
        merged: &mut ColumnWriter,
        section: &mut impl Sink,
    ) -> Result<()> {
        if self.column.is_none() {
            return Ok(());
        }
        let mut copied = 0;
        while copied < doc_count {
            if self.docs_done == self.docs.len() && !self.read_window(&new_value)? {
                return Ok(());
            }
            let count = (self.docs.len() - self.docs_done).min((doc_count - copied) as usize);
            // The new number that document 0 of the window would have.
            let base = (first_doc + copied).wrapping_sub(self.docs_done as u32);
            self.docs_done += count;
            let rest = &self.new_values[self.values_done..];
            let taken = if self.batch.is_aligned() {
                let (values, _) = rest.split_at(count);
                merged.push_run(first_doc + copied, values, section)?;
                count
            } else {
                let positions = &self.batch.positions[self.values_done..];
                let taken = match self.docs_done == self.docs.len() {
                    true => positions.len(),
                    false => positions.partition_point(|&position| (position as usize) < self.docs_done),
                };
                let mut rest = &rest[..taken];
                for of_doc in positions[..taken].chunk_by(|a, b| a == b) {
                    let (values, after) = rest.split_at(of_doc.len());
                    merged.push(base.wrapping_add(of_doc[0]), values, section)?;
                    rest = after;
                }
                taken
            };
            self.values_done += taken;
            copied += count as u32;
        }
        Ok(())
    }

    /// Reads the next window; returns `false` at the end.
    fn read_window(&mut self, new_value: impl Fn(T) -> Result<i64>) -> Result<bool> {
        (self.docs_done, self.values_done) = (0, 0);
        if !self.windows.read(&mut self.docs) {
            return Ok(false);
        }
        if let Some(column) = &self.column {
            column.gather(&self.docs, &mut self.batch)?;
        }
        self.new_values.clear();
        for value in &self.batch.values {
            self.new_values.push(new_value(*value)?);
        }
        Ok(true)
    }
}

/// Merges points: a k-way merge of leaves that are sorted by value.
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
    // Equal values are ordered by their documents.
    let mut heap: BinaryHeap<Reverse<(Point, usize)>> =
        sources.iter().enumerate().map(|(place, source)| Reverse((source.leaf[0], place))).collect();
    let mut leaves = LeafWriter::default();
    let mut seen = column.is_none().then(|| vec![0u64; map.doc_count().div_ceil(64) as usize]);
    while let Some(Reverse((_, place))) = heap.pop() {
        let limit = heap.peek().map(|Reverse(next)| *next);
        let source = &mut sources[place];
        // Takes everything that precedes the next values of the other sources.
        loop {
            let point = source.leaf[source.at];
            if limit.is_some_and(|(limit, _)| point > limit) {
                heap.push(Reverse((point, place)));
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
    /// Reads the next leaf that has documents left, and renumbers them; returns `false` at the end.
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
