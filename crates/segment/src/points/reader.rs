//! Reads leaves: "which documents have a value in this range, and how many are there?"

use std::ops::{Range, RangeInclusive};

use limber_codec::Reader;
use limber_codec::column_block::COLUMN_BLOCK as BLOCK;

use super::format::{ENTRY_BYTES, FOOTER_BYTES, KIND_COLUMN, KIND_LEAVES, LEAF_POINTS};
use super::leaf::{Leaf, LeafBody, corrupt, set_range};
use super::writer::Point;
use crate::columns::{Cardinality, NumberColumn};
use crate::{DocId, Error, Result};

/// Points of one field; a view, free to copy.
#[derive(Debug, Clone, Copy)]
pub struct Points<'a> {
    bodies: &'a [u8],
    directory: &'a [[u8; ENTRY_BYTES]],
    /// `Some` if the column is the index.
    column: Option<NumberColumn<'a>>,
    value_count: u64,
    doc_count: u32,
    with_value: u32,
    min: i64,
    max: i64,
    single_valued: bool,
}

/// Counts the points below a value; made by [`Points::ranks`].
pub struct Ranks<'a> {
    points: Points<'a>,
    leaf: Box<Leaf>,
    /// The leaf whose values are in `leaf`.
    loaded: Option<usize>,
}

impl Ranks<'_> {
    /// Returns the number of points whose value is less than `value`. Reads at most one leaf, and none if
    /// the last one that was read suffices.
    pub fn below(&mut self, value: i64) -> Result<u64> {
        let points = &self.points;
        if let Some(column) = &points.column {
            return lower_bound(column, value);
        }
        // The first leaf that may hold the value or greater ones; all leaves before it lie below.
        let leaf = points.leaves(&(value..=i64::MAX)).start;
        if leaf == points.leaf_count() {
            return Ok(points.value_count);
        }
        let (min, ..) = points.entry(leaf);
        let before = (leaf * LEAF_POINTS) as u64;
        if min >= value {
            return Ok(before);
        }
        if self.loaded != Some(leaf) {
            let body = points.parse_leaf(leaf)?;
            self.leaf.len = body.len;
            body.read_values(&mut self.leaf)?;
            self.loaded = Some(leaf);
        }
        let here = self.leaf.values[..self.leaf.len].iter().filter(|found| **found < value).count();
        Ok(before + here as u64)
    }
}

/// Documents delivered by [`Points::intersect`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PointDocs<'d> {
    /// Ascending (with repetitions in a multi-valued field), at most 512. The next call may deliver smaller
    /// ones.
    Docs(&'d [DocId]),
    /// Every document of the range.
    Range(Range<DocId>),
}

impl<'a> Points<'a> {
    /// Opens a points section. `column` is the field's number column, needed if the points refer to it.
    pub fn open(bytes: &'a [u8], column: Option<NumberColumn<'a>>) -> Result<Points<'a>> {
        let footer_at = bytes.len().checked_sub(FOOTER_BYTES).ok_or_else(|| corrupt(0, "a footer"))?;
        let (rest, footer) = bytes.split_at(footer_at);
        let at = Error::in_section("points", footer_at as u64);
        let mut reader = Reader::new(footer);
        let (value_count, bodies_len) = (reader.u64().map_err(&at)?, reader.u64().map_err(&at)?);
        let (doc_count, with_value) = (reader.u32().map_err(&at)?, reader.u32().map_err(&at)?);
        let (min, max) = (reader.i64().map_err(&at)?, reader.i64().map_err(&at)?);
        let (kind, flags) = (reader.u8().map_err(&at)?, reader.u8().map_err(&at)?);
        let unfit = || corrupt(footer_at as u64, "lengths and counts that fit the section");
        let at = usize::try_from(bodies_len).map_err(|_| unfit())?;
        let (bodies, directory) = rest.split_at_checked(at).ok_or_else(unfit)?;
        let column = match kind {
            KIND_LEAVES => {
                let leaves = value_count.div_ceil(LEAF_POINTS as u64);
                if leaves.checked_mul(ENTRY_BYTES as u64) != Some(directory.len() as u64) {
                    return Err(unfit());
                }
                None
            }
            KIND_COLUMN => {
                let serves = |column: &NumberColumn<'_>| {
                    column.is_sorted()
                        && column.cardinality() == Cardinality::Single
                        && column.value_count() == value_count
                };
                let column = column.filter(serves);
                Some(column.ok_or_else(|| corrupt(footer_at as u64, "a column whose values ascend"))?)
            }
            _ => return Err(corrupt(footer_at as u64 + 40, "a kind of points")),
        };
        if flags > 1 || with_value > doc_count || u64::from(with_value) > value_count {
            return Err(unfit());
        }
        let directory = directory.as_chunks().0;
        let single_valued = flags & 1 != 0;
        Ok(Points { bodies, directory, column, value_count, doc_count, with_value, min, max, single_valued })
    }

    /// Returns the number of values of all documents, deleted ones included.
    pub fn value_count(&self) -> u64 {
        self.value_count
    }

    /// Returns the number of documents of the segment.
    pub fn doc_count(&self) -> u32 {
        self.doc_count
    }

    /// Documents that have a value, deleted ones included.
    pub fn doc_count_with_value(&self) -> u32 {
        self.with_value
    }

    /// Returns the smallest value; `None` if there are no values.
    pub fn min(&self) -> Option<i64> {
        (self.value_count > 0).then_some(self.min)
    }

    /// Returns the largest value; `None` if there are no values.
    pub fn max(&self) -> Option<i64> {
        (self.value_count > 0).then_some(self.max)
    }

    /// Whether no document has several values, so that counts of values are counts of documents.
    pub fn is_single_valued(&self) -> bool {
        self.single_valued
    }

    fn leaf_count(&self) -> usize {
        self.directory.len()
    }

    pub(super) fn entry(&self, leaf: usize) -> (i64, i64, u64) {
        let entry = self.directory[leaf];
        let number = |at: usize| entry[at..].first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
        (number(0) as i64, number(8) as i64, number(16))
    }

    /// Returns the smallest and largest value of each part of the points, in the order of values; the end
    /// of a part may equal the start of the next. Reads no leaf.
    pub fn spans(&self) -> Result<Vec<(i64, i64)>> {
        let Some(column) = &self.column else {
            return Ok((0..self.leaf_count()).map(|leaf| (self.entry(leaf).0, self.entry(leaf).1)).collect());
        };
        // Values ascend, one per document.
        let value = |place: u64| column.get(place as DocId).map(|value| value.unwrap_or(self.max));
        (0..self.value_count)
            .step_by(BLOCK)
            .map(|first| Ok((value(first)?, value((first + BLOCK as u64).min(self.value_count) - 1)?)))
            .collect()
    }

    pub(super) fn leaf_len(&self, leaf: usize) -> usize {
        (self.value_count - (leaf * LEAF_POINTS) as u64).min(LEAF_POINTS as u64) as usize
    }

    /// Returns the leaves that may hold values of the range.
    pub(super) fn leaves(&self, range: &RangeInclusive<i64>) -> Range<usize> {
        let max = |entry: &[u8; ENTRY_BYTES]| entry[8..].first_chunk().map_or(0, |b| i64::from_le_bytes(*b));
        let min = |entry: &[u8; ENTRY_BYTES]| entry.first_chunk().map_or(0, |b| i64::from_le_bytes(*b));
        let start = self.directory.partition_point(|entry| max(entry) < *range.start());
        let end = self.directory.partition_point(|entry| min(entry) <= *range.end());
        start..end.max(start)
    }

    /// Returns the number of points in the range, which is the number of documents if the field [is
    /// single-valued](Points::is_single_valued). Reads at most two leaves (or blocks of the column).
    pub fn count(&self, range: RangeInclusive<i64>) -> Result<u64> {
        if range.is_empty() || self.value_count == 0 {
            return Ok(0);
        }
        if let Some(column) = &self.column {
            return Ok(self.column_range(column, &range)?.count() as u64);
        }
        let leaves = self.leaves(&range);
        let mut count = 0;
        let mut decoded = None;
        for leaf in leaves.clone() {
            let (min, max, _) = self.entry(leaf);
            if *range.start() <= min && max <= *range.end() {
                count += self.leaf_len(leaf) as u64;
                // All leaves between the first and the last one are inside as well.
                let inner_end = leaves.end - 1;
                if leaf + 1 < inner_end {
                    count += ((inner_end - leaf - 1) * LEAF_POINTS) as u64;
                    return Ok(count + self.count_leaf(inner_end, &range, &mut decoded)?);
                }
            } else {
                count += self.count_leaf(leaf, &range, &mut decoded)?;
            }
        }
        Ok(count)
    }

    fn count_leaf(
        &self,
        leaf: usize,
        range: &RangeInclusive<i64>,
        decoded: &mut Option<Box<Leaf>>,
    ) -> Result<u64> {
        let (min, max, _) = self.entry(leaf);
        if *range.start() <= min && max <= *range.end() {
            return Ok(self.leaf_len(leaf) as u64);
        }
        let decoded = decoded.get_or_insert_with(Leaf::boxed);
        self.read_leaf(leaf, decoded, true)?;
        Ok(decoded.values[..decoded.len].iter().filter(|value| range.contains(value)).count() as u64)
    }

    /// Returns a counter for the points of many ranges.
    pub fn ranks(&self) -> Ranks<'a> {
        Ranks { points: *self, leaf: Leaf::boxed(), loaded: None }
    }

    /// Returns the smallest and the largest value in the range. Reads at most two leaves (or blocks of the
    /// column).
    pub fn extremes(&self, range: RangeInclusive<i64>) -> Result<Option<(i64, i64)>> {
        if range.is_empty() || self.value_count == 0 {
            return Ok(None);
        }
        if let Some(column) = &self.column {
            let places = self.column_range(column, &range)?;
            return match places.is_empty() {
                true => Ok(None),
                // A column that serves as points has one value per document, so positions are documents.
                false => Ok(column.get(places.start)?.zip(column.get(places.end - 1)?)),
            };
        }
        let mut leaf = Leaf::boxed();
        let mut found: Option<(i64, i64)> = None;
        let leaves = self.leaves(&range);
        let ends = [leaves.start, leaves.end.saturating_sub(1)];
        for (at, number) in ends.into_iter().enumerate().filter(|_| !leaves.is_empty()) {
            if at == 1 && number == leaves.start {
                continue;
            }
            self.read_leaf(number, &mut leaf, true)?;
            for value in leaf.values[..leaf.len].iter().filter(|value| range.contains(value)) {
                found = Some(found.map_or((*value, *value), |(min, max)| (min.min(*value), max.max(*value))));
            }
        }
        // All values of the leaves between these two lie in the range, and between the values of the two.
        Ok(found)
    }

    /// Returns an upper bound of the number of points in the range, without reading a leaf.
    pub fn count_at_most(&self, range: RangeInclusive<i64>) -> u64 {
        if range.is_empty() || self.value_count == 0 || *range.end() < self.min || *range.start() > self.max {
            return 0;
        }
        match self.column {
            Some(_) => self.value_count,
            None => (self.leaves(&range).len() * LEAF_POINTS).min(self.value_count as usize) as u64,
        }
    }

    /// Delivers the documents with a value in the range, one leaf at a time; stops if `visit` fails.
    pub fn intersect(
        &self,
        range: RangeInclusive<i64>,
        visit: &mut impl FnMut(PointDocs<'_>) -> Result<()>,
    ) -> Result<()> {
        if range.is_empty() || self.value_count == 0 {
            return Ok(());
        }
        if let Some(column) = &self.column {
            let docs = self.column_range(column, &range)?;
            return if docs.is_empty() { Ok(()) } else { visit(PointDocs::Range(docs)) };
        }
        let mut leaf = Leaf::boxed();
        for number in self.leaves(&range) {
            let (min, max, _) = self.entry(number);
            let inside = *range.start() <= min && max <= *range.end();
            self.read_leaf(number, &mut leaf, !inside)?;
            if !inside {
                leaf.keep(&range);
            }
            match &leaf.docs[..leaf.len] {
                [] => {}
                [first, .., last] if self.single_valued && (last - first) as usize == leaf.len - 1 => {
                    visit(PointDocs::Range(*first..last + 1))?;
                }
                docs => visit(PointDocs::Docs(docs))?,
            }
        }
        Ok(())
    }

    /// Sets the bit of every document with a value in the range: bit `doc % 64` of word `doc / 64`. `bits`
    /// has one bit for every document of the segment. A leaf inside the range that is stored as bits is
    /// merged word by word.
    pub fn fill_bits(&self, range: RangeInclusive<i64>, bits: &mut [u64]) -> Result<()> {
        if range.is_empty() || self.value_count == 0 {
            return Ok(());
        }
        if bits.len() < self.doc_count.div_ceil(64) as usize {
            return Err(corrupt(bits.len() as u64, "a bit for every document"));
        }
        if let Some(column) = &self.column {
            set_range(bits, self.column_range(column, &range)?);
            return Ok(());
        }
        let mut leaf = Leaf::boxed();
        for number in self.leaves(&range) {
            let (min, max, _) = self.entry(number);
            let inside = *range.start() <= min && max <= *range.end();
            if inside && self.parse_leaf(number)?.set_all(bits) {
                continue;
            }
            self.read_leaf(number, &mut leaf, !inside)?;
            if !inside {
                leaf.keep(&range);
            }
            // In bounds: `read_leaf` checked that documents ascend and belong to the segment.
            leaf.docs[..leaf.len].iter().for_each(|doc| bits[*doc as usize / 64] |= 1 << (doc % 64));
        }
        Ok(())
    }

    /// Returns the documents (= positions of values) of the range in a column whose values ascend.
    fn column_range(&self, column: &NumberColumn<'_>, range: &RangeInclusive<i64>) -> Result<Range<u32>> {
        let start = lower_bound(column, *range.start())?;
        let end = match range.end().checked_add(1) {
            Some(after) => lower_bound(column, after)?,
            None => column.value_count(),
        };
        Ok(start as u32..end.max(start) as u32)
    }

    pub(super) fn parse_leaf(&self, leaf: usize) -> Result<LeafBody<'a>> {
        let (min, _, offset) = self.entry(leaf);
        let next =
            if leaf + 1 < self.leaf_count() { self.entry(leaf + 1).2 } else { self.bodies.len() as u64 };
        let body = self.bodies.get(offset as usize..next as usize);
        let body = body.ok_or_else(|| corrupt(offset, "a leaf of points"))?;
        LeafBody::parse(body, offset, self.leaf_len(leaf), min, self.doc_count)
    }

    /// Decodes a leaf; decodes its values only if `values` is set.
    pub(super) fn read_leaf(&self, leaf: usize, out: &mut Leaf, values: bool) -> Result<()> {
        let body = self.parse_leaf(leaf)?;
        out.len = body.len;
        if values {
            body.read_values(out)?;
        }
        body.read_docs(self.doc_count, out)?;
        let last = out.docs[out.len - 1];
        if last < self.doc_count && out.docs[0] <= last {
            Ok(())
        } else {
            Err(corrupt(body.offset, "documents"))
        }
    }

    /// Returns all points, one leaf at a time, in the order of (value, document).
    pub(crate) fn leaves_in_order(&self) -> LeafCursor<'a> {
        LeafCursor { points: *self, next: 0, leaf: Leaf::boxed() }
    }

    /// Decodes every leaf and compares it with the directory.
    pub fn check(&self) -> Result<()> {
        let mut cursor = self.leaves_in_order();
        let (mut last, mut count) = (None, 0u64);
        let mut docs = vec![0u64; self.doc_count.div_ceil(64) as usize];
        let mut points = Vec::new();
        let mut with_value = 0;
        while cursor.next_leaf(&mut points)? {
            let (Some(first), Some(end)) = (points.first(), points.last()) else { continue };
            if self.column.is_none() {
                let (min, max, _) = self.entry(cursor.next - 1);
                if (min, max) != (first.0, end.0) {
                    return Err(corrupt(count, "a leaf's smallest and largest value"));
                }
            }
            if last.is_some_and(|last: Point| last.0 > first.0) {
                return Err(corrupt(count, "leaves in the order of values"));
            }
            last = Some(*end);
            count += points.len() as u64;
            for (_, doc) in &points {
                let word = &mut docs[*doc as usize / 64];
                with_value += u32::from(*word >> (doc % 64) & 1 == 0);
                *word |= 1 << (doc % 64);
            }
        }
        let bounds = (self.min(), self.max());
        let found =
            if count > 0 { (Some(self.directory_min()?), last.map(|point| point.0)) } else { (None, None) };
        let single = u64::from(with_value) == count;
        if count != self.value_count
            || with_value != self.with_value
            || bounds != found
            || single != self.single_valued
        {
            return Err(corrupt(count, "the counts and bounds of the footer"));
        }
        Ok(())
    }

    fn directory_min(&self) -> Result<i64> {
        match &self.column {
            Some(column) => column.min().ok_or_else(|| corrupt(0, "values")),
            None => Ok(self.entry(0).0),
        }
    }
}

/// Reads all points in the order of (value, document).
pub(crate) struct LeafCursor<'a> {
    points: Points<'a>,
    next: usize,
    leaf: Box<Leaf>,
}

impl LeafCursor<'_> {
    /// Replaces `out` by the next points; returns `false` if there are none left.
    pub fn next_leaf(&mut self, out: &mut Vec<Point>) -> Result<bool> {
        out.clear();
        if let Some(column) = &self.points.column {
            let block = self.next as u64;
            if block >= column.block_count() {
                return Ok(false);
            }
            let mut values = [0; BLOCK];
            let len = column.read_block(block, &mut values)?;
            out.extend(
                values[..len].iter().zip(block as u32 * BLOCK as u32..).map(|(value, doc)| (*value, doc)),
            );
        } else {
            if self.next >= self.points.leaf_count() {
                return Ok(false);
            }
            self.points.read_leaf(self.next, &mut self.leaf, true)?;
            let len = self.leaf.len;
            out.extend(self.leaf.values[..len].iter().copied().zip(self.leaf.docs[..len].iter().copied()));
            if !out.is_sorted_by_key(|point| point.0) {
                out.sort_unstable();
            }
        }
        self.next += 1;
        Ok(true)
    }
}

/// Returns the number of values below `value` in a column whose values ascend.
fn lower_bound(column: &NumberColumn<'_>, value: i64) -> Result<u64> {
    let groups = column.value_count().div_ceil(GROUP);
    let group = partition(0, groups, |group| Ok(column.group_range(group as usize)?.1 < value))?;
    if group == groups {
        return Ok(column.value_count());
    }
    let (first, end) =
        (group * GROUP / BLOCK as u64, ((group + 1) * GROUP / BLOCK as u64).min(column.block_count()));
    let block = partition(first, end, |block| Ok(column.block_range(block)?.1 < value))?;
    if block == end {
        return Err(corrupt(block, "a group's largest value in one of its blocks"));
    }
    let mut values = [0; BLOCK];
    let len = column.read_block(block, &mut values)?;
    Ok(block * BLOCK as u64 + values[..len].partition_point(|v| *v < value) as u64)
}

const GROUP: u64 = crate::columns::format::GROUP as u64;

/// Returns the first of `[start, end)` for which `before` does not hold.
fn partition(mut start: u64, mut end: u64, before: impl Fn(u64) -> Result<bool>) -> Result<u64> {
    while start < end {
        let middle = start + (end - start) / 2;
        if before(middle)? {
            start = middle + 1;
        } else {
            end = middle;
        }
    }
    Ok(start)
}
