//! Points on a plane: "which documents have a position inside this shape?"
//!
//! A position is stored as one number of two 32-bit coordinates (`y << 32 | x`, both signed: a
//! `geo_point`'s latitude and longitude). Its point is the same position in Z order ([`z_order_of`]), so that
//! a leaf covers one cell or a few neighbouring ones and leaves ascend along the curve. A merge merges
//! sorted numbers, as for all other points, and sorts nothing again. Lucene's `BKDWriter` instead splits at
//! the medians of the points and keeps the bounds of every cell; here the smallest and largest number in
//! the directory are those bounds.
//!
//! A search halves the plane by alternating coordinates while several leaves lie in a cell and the edge of
//! the shape crosses it. The result is a list of ranges of the curve ([`Cover`]) that are either wholly
//! inside or have to be checked.

use std::ops::Range;

use limber_codec::z_order::{deinterleave, interleave};

use super::cover::{Cover, CoverRange, Descent};
use super::format::LEAF_POINTS;
use super::leaf::{Leaf, corrupt};
use super::reader::Points;
use crate::{Error, Result};

const SIGN: u32 = 1 << 31;
const SIGNS: u64 = 1 << 63;

/// Returns the point of a stored number, which sorts along the curve.
#[inline]
pub fn z_order_of(stored: i64) -> i64 {
    let (y, x) = ((stored >> 32) as u32 ^ SIGN, stored as u32 ^ SIGN);
    (interleave(x, y) ^ SIGNS) as i64
}

/// Inverse of [`z_order_of`].
#[inline]
pub fn stored_at(place: i64) -> i64 {
    let (x, y) = deinterleave(place as u64 ^ SIGNS);
    i64::from((y ^ SIGN) as i32) << 32 | i64::from(x ^ SIGN)
}

/// A rectangle of stored coordinates, ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Stored longitudes, from and to.
    pub x: (i32, i32),
    /// Stored latitudes, from and to.
    pub y: (i32, i32),
}

/// How a cell relates to a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlap {
    /// No position of the cell is in the shape.
    None,
    /// Every position of the cell is in the shape.
    All,
    /// The cell's positions have to be checked.
    Some,
}

/// Positions of one field; a view, free to copy.
#[derive(Debug, Clone, Copy)]
pub struct SpatialPoints<'a> {
    points: Points<'a>,
}

impl<'a> SpatialPoints<'a> {
    pub(crate) fn new(points: Points<'a>) -> SpatialPoints<'a> {
        SpatialPoints { points }
    }

    /// Returns the number of positions of all documents, deleted ones included.
    pub fn value_count(&self) -> u64 {
        self.points.value_count()
    }

    /// Documents that have a value, deleted ones included.
    pub fn doc_count_with_value(&self) -> u32 {
        self.points.doc_count_with_value()
    }

    /// Whether no document has several positions.
    pub fn is_single_valued(&self) -> bool {
        self.points.is_single_valued()
    }

    /// Finds the parts of the curve that lie in the shape described by `relate`. Reads no leaf; calls
    /// `relate` at most about 128 times per leaf that the shape's edge crosses.
    pub fn cover(&self, mut relate: impl FnMut(&Cell) -> Overlap) -> Cover {
        let mut cover = Cover::default();
        if let (Some(min), Some(max)) = (self.points.min(), self.points.max()) {
            // The smallest cell that holds all points.
            let shared = ((min ^ max) as u64).leading_zeros();
            let prefix = if shared == 0 { 0 } else { (min as u64 ^ SIGNS) >> (64 - shared) << (64 - shared) };
            let leaves = 0..self.points.leaves(&(i64::MIN..=i64::MAX)).end;
            let mut descent = Descent::new(leaves.len(), &mut relate, &mut cover);
            self.descend(prefix, shared, leaves, &mut descent);
        }
        cover
    }

    /// Adds the cell of all numbers that share the highest `depth` bits of `prefix` to the cover; `leaves`
    /// are those of the enclosing cell.
    fn descend(
        &self,
        prefix: u64,
        depth: u32,
        leaves: Range<usize>,
        descent: &mut Descent<'_, impl FnMut(&Cell) -> Overlap>,
    ) {
        let last = if depth == 64 { prefix } else { prefix | u64::MAX >> depth };
        let range = (prefix ^ SIGNS) as i64..=(last ^ SIGNS) as i64;
        let leaves = self.points.leaves_within(leaves, &range);
        if leaves.is_empty() {
            return;
        }
        descent.steps_left = descent.steps_left.saturating_sub(1);
        let (relate, cover) = (&mut *descent.relate, &mut *descent.cover);
        match relate(&cell(prefix, last)) {
            Overlap::None => {}
            Overlap::All => cover.push(range, true),
            Overlap::Some if descent.steps_left == 0 => cover.push(range, false),
            Overlap::Some if leaves.len() == 1 || depth == 64 => {
                // The values of the leaf may lie in a smaller cell than this one.
                let (min, max, _) = self.points.entry(leaves.start);
                let (first, last) = (min.max(*range.start()), max.min(*range.end()));
                match relate(&around(first, last)) {
                    Overlap::None => {}
                    Overlap::All => cover.push(first..=last, true),
                    Overlap::Some => cover.push(first..=last, false),
                }
            }
            Overlap::Some => {
                let half = prefix | 1 << (63 - depth);
                self.descend(prefix, depth + 1, leaves.clone(), descent);
                self.descend(half, depth + 1, leaves, descent);
            }
        }
    }

    /// Returns an upper bound of the number of points in the cover, without reading a leaf.
    pub fn count_at_most(&self, cover: &Cover) -> u64 {
        self.points.count_in_cover_at_most(cover)
    }

    /// Returns the number of positions in the cover, which is the number of documents if the field [is
    /// single-valued](SpatialPoints::is_single_valued). Does not read leaves that are wholly inside.
    pub fn count(&self, cover: &Cover, mut contains: impl FnMut(i64) -> bool) -> Result<u64> {
        let (mut decoded, mut count) = (Leaf::boxed(), 0);
        for leaf in self.points.leaves_of(cover) {
            let (min, max, _) = self.points.entry(leaf);
            let touching = cover.touching(min, max);
            if holds_all(touching, min, max) {
                count += self.points.leaf_len(leaf) as u64;
                continue;
            }
            self.points.parse_leaf(leaf)?.read_values(&mut decoded)?;
            let values = &decoded.values[..self.points.leaf_len(leaf)];
            count += values.iter().filter(|place| is_wanted(touching, **place, &mut contains)).count() as u64;
        }
        Ok(count)
    }

    /// Passes the stored numbers of the positions in the cover to `each`, one leaf at a time and in no
    /// order. Each is another document's if the field [is single-valued](SpatialPoints::is_single_valued).
    /// Uses `contains` as [`SpatialPoints::fill_bits`] does.
    pub fn for_each_leaf<E: From<Error>>(
        &self,
        cover: &Cover,
        mut contains: impl FnMut(i64) -> bool,
        mut each: impl FnMut(&[i64]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let (mut decoded, mut stored) = (Leaf::boxed(), Vec::with_capacity(LEAF_POINTS));
        for leaf in self.points.leaves_of(cover) {
            let (min, max, _) = self.points.entry(leaf);
            let touching = cover.touching(min, max);
            let is_inside = holds_all(touching, min, max);
            self.points.parse_leaf(leaf)?.read_values(&mut decoded)?;
            let values = &decoded.values[..self.points.leaf_len(leaf)];
            stored.clear();
            stored.extend(
                values
                    .iter()
                    .filter(|place| is_inside || is_wanted(touching, **place, &mut contains))
                    .map(|place| stored_at(*place)),
            );
            each(&stored)?;
        }
        Ok(())
    }

    /// Sets the bit of every document with a position in the cover: bit `doc % 64` of word `doc / 64`.
    /// `bits` has one bit for every document of the segment. Calls `contains` with the stored numbers in
    /// ranges that are not wholly inside.
    pub fn fill_bits(
        &self,
        cover: &Cover,
        mut contains: impl FnMut(i64) -> bool,
        bits: &mut [u64],
    ) -> Result<()> {
        if bits.len() < self.points.doc_count().div_ceil(64) as usize {
            return Err(corrupt(bits.len() as u64, "a bit for every document"));
        }
        let mut decoded = Leaf::boxed();
        for leaf in self.points.leaves_of(cover) {
            let (min, max, _) = self.points.entry(leaf);
            let touching = cover.touching(min, max);
            let is_inside = holds_all(touching, min, max);
            if is_inside && self.points.parse_leaf(leaf)?.set_all(bits) {
                continue;
            }
            self.points.read_leaf(leaf, &mut decoded, !is_inside)?;
            // In bounds: `read_leaf` checked that documents ascend and belong to the segment.
            for (doc, place) in decoded.docs[..decoded.len].iter().zip(&decoded.values) {
                let is_wanted = is_inside || is_wanted(touching, *place, &mut contains);
                bits[*doc as usize / 64] |= u64::from(is_wanted) << (doc % 64);
            }
        }
        Ok(())
    }
}

/// Whether only one range touches a leaf, is inside the shape and holds all of the leaf.
fn holds_all(touching: &[CoverRange], min: i64, max: i64) -> bool {
    matches!(touching, [only] if only.is_inside && only.first <= min && max <= only.last)
}

/// Whether a position is in one of the ranges and in the shape.
fn is_wanted(touching: &[CoverRange], place: i64, contains: &mut impl FnMut(i64) -> bool) -> bool {
    let at = touching.partition_point(|range| range.last < place);
    touching
        .get(at)
        .is_some_and(|range| range.first <= place && (range.is_inside || contains(stored_at(place))))
}

/// Returns the cell between two numbers that differ only in their lowest bits.
fn cell(first: u64, last: u64) -> Cell {
    let ((left, bottom), (right, top)) = (deinterleave(first), deinterleave(last));
    Cell {
        x: ((left ^ SIGN) as i32, (right ^ SIGN) as i32),
        y: ((bottom ^ SIGN) as i32, (top ^ SIGN) as i32),
    }
}

/// Returns the smallest cell that holds two points.
fn around(first: i64, last: i64) -> Cell {
    let (first, last) = (first as u64 ^ SIGNS, last as u64 ^ SIGNS);
    let differing = u64::MAX.checked_shr((first ^ last).leading_zeros()).unwrap_or(0);
    cell(first & !differing, first | differing)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::PointsWriter;
    use super::*;

    fn stored(y: i32, x: i32) -> i64 {
        i64::from(y) << 32 | i64::from(x as u32)
    }

    #[test]
    fn places_come_back() {
        for y in [i32::MIN, -1, 0, 1, i32::MAX] {
            for x in [i32::MIN, -7, 0, 12_345, i32::MAX] {
                assert_eq!(stored_at(z_order_of(stored(y, x))), stored(y, x));
            }
        }
        assert!(z_order_of(stored(i32::MIN, i32::MIN)) < z_order_of(stored(0, 0)));
    }

    /// Treats a rectangle as the queried shape.
    fn relate(shape: &Cell, cell: &Cell) -> Overlap {
        let apart = |a: (i32, i32), b: (i32, i32)| a.1 < b.0 || b.1 < a.0;
        let within = |inner: (i32, i32), outer: (i32, i32)| outer.0 <= inner.0 && inner.1 <= outer.1;
        if apart(cell.x, shape.x) || apart(cell.y, shape.y) {
            Overlap::None
        } else if within(cell.x, shape.x) && within(cell.y, shape.y) {
            Overlap::All
        } else {
            Overlap::Some
        }
    }

    #[track_caller]
    fn check(docs: &[Vec<(i32, i32)>], shape: Cell) {
        let (mut writer, mut bytes) = (PointsWriter::default(), Vec::new());
        for (doc, places) in (0u32..).zip(docs) {
            places.iter().for_each(|(y, x)| writer.push(doc, z_order_of(stored(*y, *x))));
        }
        writer.finish(docs.len() as u32, None, &mut bytes).expect("memory");
        let points = SpatialPoints::new(Points::open(&bytes, None).expect("opens"));
        let contains = |y: i32, x: i32| relate(&shape, &Cell { x: (x, x), y: (y, y) }) == Overlap::All;
        let cover = points.cover(|cell| relate(&shape, cell));
        let mut bits = vec![0; docs.len().div_ceil(64)];
        let by_number = |stored: i64| contains((stored >> 32) as i32, stored as i32);
        points.fill_bits(&cover, by_number, &mut bits).expect("reads");
        let mut inside = 0;
        for (doc, places) in docs.iter().enumerate() {
            let expected = places.iter().any(|(y, x)| contains(*y, *x));
            inside += places.iter().filter(|(y, x)| contains(*y, *x)).count() as u64;
            assert_eq!(bits[doc / 64] >> (doc % 64) & 1 != 0, expected, "document {doc}: {places:?}");
        }
        assert!(points.count_at_most(&cover) >= inside);
        assert_eq!(points.count(&cover, by_number).expect("reads"), inside);
        let mut found: Vec<i64> = Vec::new();
        points
            .for_each_leaf(&cover, by_number, |places| {
                found.extend_from_slice(places);
                Ok::<(), Error>(())
            })
            .expect("reads");
        let all = docs.iter().flatten().filter(|(y, x)| contains(*y, *x));
        let mut wanted: Vec<i64> = all.map(|(y, x)| stored(*y, *x)).collect();
        found.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(found, wanted);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn rectangles_find_what_a_scan_finds(
            seed in any::<u64>(), count in 0usize..6000, spread in 2u32..32, several in any::<bool>(),
            shape in (any::<[i32; 2]>(), any::<[i32; 2]>()),
        ) {
            let mut state = seed;
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 32) as i32 >> (32 - spread)
            };
            let docs: Vec<Vec<(i32, i32)>> =
                (0..count).map(|n| (0..if several { n % 3 } else { 1 }).map(|_| (next(), next())).collect()).collect();
            let order = |ends: [i32; 2]| {
                let ends = ends.map(|end| end >> (32 - spread));
                (ends[0].min(ends[1]), ends[0].max(ends[1]))
            };
            check(&docs, Cell { x: order(shape.0), y: order(shape.1) });
        }
    }

    #[test]
    fn shapes_that_hold_all_or_nothing() {
        let docs: Vec<Vec<(i32, i32)>> = (0..2000).map(|n| vec![(n * 1000, -n)]).collect();
        check(&docs, Cell { x: (i32::MIN, i32::MAX), y: (i32::MIN, i32::MAX) });
        check(&docs, Cell { x: (5, 5), y: (5, 5) });
        check(&vec![vec![(3, 4)]; 3000], Cell { x: (4, 4), y: (0, 3) });
        check(&[], Cell { x: (0, 1), y: (0, 1) });
    }

    #[test]
    fn forged_places_are_refused_or_searched_without_panic_or_end() {
        let (mut writer, mut bytes) = (PointsWriter::default(), Vec::new());
        for doc in 0..2000u32 {
            let place = i64::from(doc).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64);
            writer.push(doc, z_order_of(place));
        }
        writer.finish(2000, None, &mut bytes).expect("memory");
        let shape = Cell { x: (i32::MIN / 3, i32::MAX / 2), y: (-5, i32::MAX) };
        // The directory and the footer, which the search reads first, and some of the leaves.
        for bit in (0..bytes.len() * 8).filter(|bit| bit / 8 + 150 > bytes.len() || bit % 97 == 0) {
            let mut forged = bytes.clone();
            forged[bit / 8] ^= 1 << (bit % 8);
            if let Ok(points) = Points::open(&forged, None).map(SpatialPoints::new) {
                let cover = points.cover(|cell| relate(&shape, cell));
                let _ = (points.count_at_most(&cover), points.count(&cover, |stored| stored > 0));
                let _ = points.fill_bits(&cover, |stored| stored > 0, &mut [0; 32]);
            }
        }
    }
}
