//! What a search of points on a plane finds before it reads a leaf: ranges of values that are either wholly
//! inside the queried shape or have to be checked one by one.

use std::ops::{Range, RangeInclusive};

use super::reader::Points;

/// Cells that a descent visits for each leaf: two on each of 64 levels. Only an unsorted directory (corrupt
/// data) needs more.
const STEPS_A_LEAF: usize = 128;

/// Values that a shape covers, as ascending ranges.
#[derive(Debug, Default)]
pub struct Cover {
    pub(super) ranges: Vec<CoverRange>,
}

#[derive(Debug)]
pub(super) struct CoverRange {
    pub first: i64,
    pub last: i64,
    /// Every position of the range is in the shape; for cells, every cell of the range meets the shape.
    pub is_inside: bool,
}

impl Cover {
    pub(super) fn push(&mut self, range: RangeInclusive<i64>, is_inside: bool) {
        let (first, last) = range.into_inner();
        match self.ranges.last_mut() {
            Some(before) if before.is_inside == is_inside && before.last.checked_add(1) == Some(first) => {
                before.last = last;
            }
            _ => self.ranges.push(CoverRange { first, last, is_inside }),
        }
    }

    /// Whether no cell touches the shape.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns the ranges that touch `min..=max`.
    pub(super) fn touching(&self, min: i64, max: i64) -> &[CoverRange] {
        let start = self.ranges.partition_point(|range| range.last < min);
        let end = self.ranges.partition_point(|range| range.first <= max);
        &self.ranges[start..end.max(start)]
    }
}

/// State of one search for a shape.
pub(super) struct Descent<'d, R> {
    pub relate: &'d mut R,
    pub cover: &'d mut Cover,
    pub steps_left: usize,
}

impl<'d, R> Descent<'d, R> {
    pub(crate) fn new(leaf_count: usize, relate: &'d mut R, cover: &'d mut Cover) -> Descent<'d, R> {
        Descent { relate, cover, steps_left: STEPS_A_LEAF * (leaf_count + 1) }
    }
}

impl Points<'_> {
    /// Returns those of `leaves` that may hold values of the range.
    pub(super) fn leaves_within(&self, leaves: Range<usize>, range: &RangeInclusive<i64>) -> Range<usize> {
        let first = |wanted: &dyn Fn(usize) -> bool| {
            let (mut low, mut high) = (leaves.start, leaves.end);
            while low < high {
                let middle = low.midpoint(high);
                if wanted(middle) { high = middle } else { low = middle + 1 }
            }
            low
        };
        let start = first(&|leaf| self.entry(leaf).1 >= *range.start());
        let end = first(&|leaf| self.entry(leaf).0 > *range.end());
        start..end.max(start)
    }

    /// Returns the leaves that a cover touches, each once, ascending.
    pub(super) fn leaves_of(&self, cover: &Cover) -> impl Iterator<Item = usize> {
        let mut next = 0;
        cover.ranges.iter().flat_map(move |range| {
            let leaves = self.leaves(&(range.first..=range.last));
            let new = leaves.start.max(next)..leaves.end;
            next = leaves.end.max(next);
            new
        })
    }

    /// Returns an upper bound of the number of points in the cover, without reading a leaf.
    pub(super) fn count_in_cover_at_most(&self, cover: &Cover) -> u64 {
        self.leaves_of(cover).map(|leaf| self.leaf_len(leaf) as u64).sum()
    }
}
