//! The order of documents in a merge of a sorted index: "which segment does the next document come from?"
//!
//! Each segment is already sorted, so the documents of one segment never overtake each other.

use std::cmp::Ordering;

use super::doc_map::{DROPPED_DOC, DocIdMap};
use super::live_windows::LiveWindows;
use crate::columns::{Batch, Column};
use crate::index_sort::SortField;
use crate::terms::TermCursor;
use crate::{DocId, Error, Result, SegmentView};

/// For each document of the merged segment, the index of the segment that it comes from. Two bytes per
/// document.
#[derive(Debug, Default)]
pub(super) struct MergeOrder(Vec<u16>);

impl MergeOrder {
    /// Computes the order by `sort`; ties keep the order of the segments. `None` if one segment follows the
    /// other.
    pub fn by(views: &[SegmentView], sort: &[SortField]) -> Result<Option<MergeOrder>> {
        if sort.is_empty() || views.len() < 2 {
            return Ok(None);
        }
        if views.len() > usize::from(u16::MAX) {
            let limit = u64::from(u16::MAX);
            return Err(Error::LimitExceeded { what: "segments of a sorted merge", limit });
        }
        let mut columns: Vec<Vec<KeyColumn<'_>>> =
            views.iter().map(|_| Vec::with_capacity(sort.len())).collect();
        for field in sort {
            for (columns, column) in columns.iter_mut().zip(key_columns(views, field)?) {
                columns.push(column);
            }
        }
        let mut sources = Vec::with_capacity(views.len());
        for ((segment, view), columns) in (0..).zip(views).zip(columns) {
            let mut source = KeySource::new(segment, view, columns, sort.len());
            if source.refill(sort)? {
                sources.push(source);
            }
        }
        // Descending, so that the source of the next document is the last.
        sources.sort_by(|a, b| b.compare(a));
        let live = views.iter().map(|view| view.live_count() as usize).sum();
        let mut order = Vec::with_capacity(live);
        while let Some(mut source) = sources.pop() {
            loop {
                order.push(source.segment);
                if !source.advance(sort)? {
                    break;
                }
                if sources.last().is_some_and(|next| source.compare(next) == Ordering::Greater) {
                    let place = sources.partition_point(|other| other.compare(&source) == Ordering::Greater);
                    sources.insert(place, source);
                    break;
                }
            }
        }
        Ok((!order.is_sorted()).then_some(MergeOrder(order)))
    }

    /// Iterates over (segment, number of consecutive documents that come from it).
    pub fn runs(&self) -> impl Iterator<Item = (usize, u32)> {
        self.0.chunk_by(|a, b| a == b).map(|run| (usize::from(run[0]), run.len() as u32))
    }

    /// Computes the order of nested documents, which follow their parents; the parents are in this order.
    /// `counts` has, by segment, the number of children of each live parent in turn.
    pub fn of_children(&self, counts: &mut [impl Iterator<Item = u32>]) -> MergeOrder {
        let mut order = Vec::new();
        for &segment in &self.0 {
            let count = counts[usize::from(segment)].next().unwrap_or(0);
            order.extend(std::iter::repeat_n(segment, count as usize));
        }
        MergeOrder(order)
    }

    /// Returns the map to the new numbers.
    pub fn doc_map(&self, views: &[SegmentView]) -> DocIdMap {
        let mut places: Vec<Vec<DocId>> =
            views.iter().map(|view| vec![DROPPED_DOC; view.doc_count() as usize]).collect();
        let mut next: Vec<DocId> = vec![0; views.len()];
        for (new, &segment) in (0..).zip(&self.0) {
            let segment = usize::from(segment);
            while !views[segment].is_live(next[segment]) {
                next[segment] += 1;
            }
            places[segment][next[segment] as usize] = new;
            next[segment] += 1;
        }
        DocIdMap::placed(places, self.0.len() as u32)
    }

    /// Returns the heap bytes of the order and the map for these segments.
    pub fn heap_bytes(views: &[SegmentView]) -> u64 {
        let docs: u64 = views.iter().map(|view| u64::from(view.doc_count())).sum();
        docs * (size_of::<u16>() + size_of::<DocId>()) as u64
    }
}

/// The source of the values of one sort key of a segment's documents.
enum KeyColumn<'a> {
    /// No document has the field.
    Absent,
    Numbers(Column<'a, i64>),
    /// The column, and by ordinal the rank of the term among the terms of all segments.
    Ordinals(Column<'a, u32>, Vec<u32>),
}

/// Opens the columns of one field, by segment.
fn key_columns<'a>(views: &'a [SegmentView], field: &SortField) -> Result<Vec<KeyColumn<'a>>> {
    let mut columns = Vec::with_capacity(views.len());
    let mut ranks = term_ranks(views, &field.path)?.into_iter();
    for view in views {
        let ranks = ranks.next().unwrap_or_default();
        let column = match view.segment.ordinals(&field.path)? {
            Some(column) => KeyColumn::Ordinals(column, ranks),
            None => view.segment.numbers(&field.path)?.map_or(KeyColumn::Absent, KeyColumn::Numbers),
        };
        columns.push(column);
    }
    Ok(columns)
}

/// Returns the rank of each term of each segment among the terms of all segments.
fn term_ranks(views: &[SegmentView], path: &str) -> Result<Vec<Vec<u32>>> {
    let mut ranks: Vec<Vec<u32>> = vec![Vec::new(); views.len()];
    let mut cursors: Vec<(usize, TermCursor<'_>)> = Vec::new();
    for (segment, view) in views.iter().enumerate() {
        let Some(terms) = view.segment.terms(path)? else { continue };
        ranks[segment].reserve_exact(terms.len() as usize);
        let mut cursor = terms.cursor();
        if cursor.advance()? {
            cursors.push((segment, cursor));
        }
    }
    // Descending, so that the smallest term is at the end.
    cursors.sort_by(|(_, a), (_, b)| b.term().cmp(a.term()));
    // The rank before the first term: one less than 0.
    let (mut rank, mut current) = (u32::MAX, None::<Vec<u8>>);
    while let Some((segment, mut cursor)) = cursors.pop() {
        if current.as_deref() != Some(cursor.term()) {
            rank = rank.wrapping_add(1);
            let current = current.get_or_insert_default();
            current.clear();
            current.extend_from_slice(cursor.term());
        }
        ranks[segment].push(rank);
        if cursor.advance()? {
            let place = cursors.partition_point(|(_, other)| other.term() > cursor.term());
            cursors.insert(place, (segment, cursor));
        }
    }
    Ok(ranks)
}

/// The sort keys of a segment's live documents, read one window at a time.
struct KeySource<'a> {
    segment: u16,
    columns: Vec<KeyColumn<'a>>,
    windows: LiveWindows<'a>,
    docs: Vec<DocId>,
    /// Indexed by sort field, then by index in `docs`.
    keys: Vec<Vec<i64>>,
    at: usize,
    numbers: Batch<i64>,
    ordinals: Batch<u32>,
}

impl<'a> KeySource<'a> {
    fn new(
        segment: u16,
        view: &'a SegmentView,
        columns: Vec<KeyColumn<'a>>,
        field_count: usize,
    ) -> KeySource<'a> {
        KeySource {
            segment,
            columns,
            windows: LiveWindows::new(view),
            docs: Vec::new(),
            keys: vec![Vec::new(); field_count],
            at: 0,
            numbers: Batch::default(),
            ordinals: Batch::default(),
        }
    }

    fn compare(&self, other: &KeySource<'_>) -> Ordering {
        let keys = self.keys.iter().zip(&other.keys);
        let mut orders = keys.map(|(keys, others)| keys[self.at].cmp(&others[other.at]));
        orders.find(|order| order.is_ne()).unwrap_or_else(|| self.segment.cmp(&other.segment))
    }

    /// Moves to the next document; returns `false` at the end.
    fn advance(&mut self, sort: &[SortField]) -> Result<bool> {
        self.at += 1;
        if self.at < self.docs.len() { Ok(true) } else { self.refill(sort) }
    }

    /// Reads the keys of the next window that has live documents; returns `false` at the end.
    fn refill(&mut self, sort: &[SortField]) -> Result<bool> {
        self.at = 0;
        if !self.windows.read(&mut self.docs) {
            return Ok(false);
        }
        for ((field, column), keys) in sort.iter().zip(&self.columns).zip(&mut self.keys) {
            keys.clear();
            keys.resize(self.docs.len(), field.missing_key());
            match column {
                KeyColumn::Absent => {}
                KeyColumn::Numbers(column) => {
                    column.gather(&self.docs, &mut self.numbers)?;
                    fill_keys(field, &self.numbers, keys);
                }
                KeyColumn::Ordinals(column, ranks) => {
                    column.gather(&self.docs, &mut self.ordinals)?;
                    for ordinal in &mut self.ordinals.values {
                        let rank = ranks.get(*ordinal as usize);
                        *ordinal = *rank.ok_or_else(|| {
                            Error::corrupt("column", u64::from(*ordinal), "ordinals of the dictionary")
                        })?;
                    }
                    fill_keys(field, &self.ordinals, keys);
                }
            }
        }
        Ok(true)
    }
}

fn fill_keys<T: Copy + Into<i64>>(field: &SortField, batch: &Batch<T>, keys: &mut [i64]) {
    if batch.is_aligned() {
        keys.iter_mut().zip(&batch.values).for_each(|(key, &value)| *key = field.key(value.into()));
        return;
    }
    let mut rest = &batch.values[..];
    for of_doc in batch.positions.chunk_by(|a, b| a == b) {
        let (values, after) = rest.split_at(of_doc.len());
        keys[of_doc[0] as usize] = field.key_of(values);
        rest = after;
    }
}
