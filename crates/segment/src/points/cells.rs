//! Points that are cells of shapes: "which documents may have a shape that meets this one?"
//!
//! A value is the number of a [`ShapeCell`]. A search splits the map into quarters while the edge of the
//! queried shape crosses a cell and more than one leaf lies in it. The cells on the way down are included
//! as well, because the shape of a document may be wider than each of their quarters.

use std::ops::Range;

use limber_mapping::geo::{GridBounds, ShapeCell};

use super::cover::{Cover, Descent};
use super::leaf::{Leaf, corrupt};
use super::reader::Points;
use super::spatial::{Cell, Overlap};
use crate::Result;

/// Cells of the shapes of one field; a view, free to copy.
#[derive(Debug, Clone, Copy)]
pub struct ShapeCells<'a> {
    points: Points<'a>,
}

/// Sets of documents by the relation of their cells to the shape; one bit each, `doc % 64` of word `doc /
/// 64`.
#[derive(Debug)]
pub struct CellDocs {
    /// Their shapes meet the queried shape.
    pub certain: Vec<u64>,
    /// Their shapes have to be compared exactly.
    pub possible: Vec<u64>,
}

impl<'a> ShapeCells<'a> {
    pub(crate) fn new(points: Points<'a>) -> ShapeCells<'a> {
        ShapeCells { points }
    }

    /// Finds the cells that may hold parts of shapes that meet the queried shape, which `relate` describes.
    /// Reads no leaf.
    pub fn cover(&self, mut relate: impl FnMut(&Cell) -> Overlap) -> Cover {
        let mut cover = Cover::default();
        let leaves = self.points.leaves(&(i64::MIN..=i64::MAX));
        let mut descent = Descent::new(leaves.len(), &mut relate, &mut cover);
        self.descend(ShapeCell::MAP, leaves, &mut descent);
        cover
    }

    fn descend(
        &self,
        cell: ShapeCell,
        leaves: Range<usize>,
        descent: &mut Descent<'_, impl FnMut(&Cell) -> Overlap>,
    ) {
        let (first, last) = cell.numbers_within();
        let numbers = first..=last;
        let leaves = self.points.leaves_within(leaves, &numbers);
        if leaves.is_empty() {
            return;
        }
        descent.steps_left = descent.steps_left.saturating_sub(1);
        match (descent.relate)(&stored(cell)) {
            Overlap::None => {}
            Overlap::All => descent.cover.push(numbers, true),
            Overlap::Some
                if leaves.len() == 1 || cell.level() == ShapeCell::LEVEL_MAX || descent.steps_left == 0 =>
            {
                descent.cover.push(numbers, false);
            }
            Overlap::Some => {
                let [first, second, third, fourth] = cell.quarters();
                self.descend(first, leaves.clone(), descent);
                self.descend(second, leaves.clone(), descent);
                // In the order of numbers, the cell itself lies between its second and third quarter.
                descent.cover.push(cell.number()..=cell.number(), false);
                self.descend(third, leaves.clone(), descent);
                self.descend(fourth, leaves, descent);
            }
        }
    }

    /// Returns an upper bound of the number of cells in the cover, without reading a leaf.
    pub fn count_at_most(&self, cover: &Cover) -> u64 {
        self.points.count_in_cover_at_most(cover)
    }

    /// Returns the documents of a cover. Calls `relate` for each cell in the ranges that are not inside.
    pub fn docs(&self, cover: &Cover, mut relate: impl FnMut(&Cell) -> Overlap) -> Result<CellDocs> {
        let words = self.points.doc_count().div_ceil(64) as usize;
        let mut found = CellDocs { certain: vec![0; words], possible: vec![0; words] };
        let mut decoded = Leaf::boxed();
        for leaf in self.points.leaves_of(cover) {
            let (min, max, _) = self.points.entry(leaf);
            let touching = cover.touching(min, max);
            self.points.read_leaf(leaf, &mut decoded, true)?;
            let mut last = None;
            for (doc, number) in decoded.docs[..decoded.len].iter().zip(&decoded.values) {
                let at = touching.partition_point(|range| range.last < *number);
                let Some(range) = touching.get(at).filter(|range| range.first <= *number) else {
                    continue;
                };
                let overlap = match (range.is_inside, last) {
                    (true, _) => Overlap::All,
                    (false, Some((same, overlap))) if same == *number => overlap,
                    (false, _) => {
                        let cell = ShapeCell::of_number(*number)
                            .ok_or_else(|| corrupt(leaf as u64, "numbers of cells"))?;
                        relate(&stored(cell))
                    }
                };
                last = Some((*number, overlap)).filter(|_| !range.is_inside).or(last);
                // In bounds: `read_leaf` checked that documents ascend and belong to the segment.
                let (word, bit) = (*doc as usize / 64, 1 << (doc % 64));
                match overlap {
                    Overlap::All => found.certain[word] |= bit,
                    Overlap::Some => found.possible[word] |= bit,
                    Overlap::None => {}
                }
            }
        }
        found.possible.iter_mut().zip(&found.certain).for_each(|(possible, certain)| *possible &= !certain);
        Ok(found)
    }

    /// Checks that every value is the number of a cell.
    pub(crate) fn check(&self) -> Result<()> {
        let mut decoded = Leaf::boxed();
        for leaf in self.points.leaves(&(i64::MIN..=i64::MAX)) {
            self.points.read_leaf(leaf, &mut decoded, true)?;
            if decoded.values[..decoded.len].iter().any(|number| ShapeCell::of_number(*number).is_none()) {
                return Err(corrupt(leaf as u64, "numbers of cells"));
            }
        }
        Ok(())
    }
}

/// Returns the rectangle of a cell in stored coordinates; it includes the first coordinates of its
/// neighbours.
fn stored(cell: ShapeCell) -> Cell {
    let GridBounds { x, y } = cell.bounds();
    let end = |(low, high): (i64, i64)| (low as i32, high.min(i64::from(i32::MAX)) as i32);
    Cell { x: end(x), y: end(y) }
}

#[cfg(test)]
mod tests {
    use limber_mapping::geo::{GridShape, Part, PartKind, Surface, cells_of};
    use proptest::prelude::*;

    use super::super::PointsWriter;
    use super::*;

    /// Returns how a cell relates to a rectangle that is treated as a cell itself.
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

    fn rectangle(cell: &Cell) -> GridShape {
        let [left, right, bottom, top] = [cell.x.0, cell.x.1, cell.y.0, cell.y.1].map(i64::from);
        let ring = vec![(left, bottom), (right, bottom), (right, top), (left, top), (left, bottom)];
        GridShape { parts: vec![Part { kind: PartKind::Polygon, lists: vec![ring] }] }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn rectangles_that_meet_are_found(seed in any::<u64>(), count in 1usize..400, spread in 8u32..32) {
            let mut state = seed;
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 32) as i32 >> (32 - spread)
            };
            let mut random = || {
                let (x, y, width, height) = (next(), next(), next().abs() / 16 + 2, next().abs() / 16 + 2);
                Cell { x: (x, x.saturating_add(width)), y: (y, y.saturating_add(height)) }
            };
            let docs: Vec<Cell> = (0..count).map(|_| random()).collect();
            let (mut writer, mut bytes) = (PointsWriter::default(), Vec::new());
            for (doc, shape) in (0u32..).zip(&docs) {
                let numbers = cells_of(Surface::Globe, &rectangle(shape));
                numbers.into_iter().for_each(|number| writer.push(doc, number));
            }
            writer.finish(docs.len() as u32, None, &mut bytes).expect("memory");
            let cells = ShapeCells::new(Points::open(&bytes, None).expect("opens"));
            cells.check().expect("sound");
            for _ in 0..20 {
                let asked = random();
                let cover = cells.cover(|cell| relate(&asked, cell));
                let found = cells.docs(&cover, |cell| relate(&asked, cell)).expect("reads");
                for (doc, shape) in docs.iter().enumerate() {
                    let bit = |words: &[u64]| words[doc / 64] >> (doc % 64) & 1 != 0;
                    let meets = relate(&asked, shape) != Overlap::None;
                    prop_assert!(!bit(&found.certain) || meets, "{doc}: {shape:?} {asked:?}");
                    prop_assert!(!meets || bit(&found.certain) || bit(&found.possible), "{doc}: {shape:?} {asked:?}");
                }
            }
        }
    }
}
