//! Matches documents by their shapes (`geo_shape`): the index returns candidates, whose shapes are then
//! examined.

use limber_codec::Corrupt;
use limber_mapping::Field;
use limber_mapping::geo::GridShape;
use limber_segment::columns::Batch;
use limber_segment::points::{CellDocs, Overlap, ShapeCells};
use limber_segment::shapes::ShapeColumn;
use limber_segment::{DocId, Segment};
use limber_work as work;

use super::places::present;
use crate::error::Result;
use crate::geo::{ShapeRelation, Target};
use crate::matcher::simple::NoDocs;
use crate::matcher::{Bits, BoxedMatcher, Matcher};

/// Matches the documents of `segment` whose shapes have this relation to `target`.
pub(in crate::matcher) fn shapes<'a>(
    segment: &'a Segment,
    field: &Field,
    target: &'a Target,
    relation: ShapeRelation,
) -> Result<BoxedMatcher<'a>> {
    let Some(column) = segment.shapes(&field.path)? else { return Ok(Box::new(NoDocs)) };
    let words = segment.doc_count().div_ceil(64) as usize;
    let found = match (segment.shape_cells(&field.path)?, relation) {
        (None, _) => CellDocs { certain: vec![0; words], possible: present(segment, field)?.words },
        (Some(cells), ShapeRelation::Intersects) => near(&cells, target)?,
        (Some(cells), ShapeRelation::Disjoint) => {
            let mut found = near(&cells, target)?;
            let all = present(segment, field)?.words;
            let apart = all.iter().zip(&found.certain).zip(&found.possible);
            found.certain = apart.map(|((all, near), possible)| all & !near & !possible).collect();
            found
        }
        (Some(cells), ShapeRelation::Within) => {
            let CellDocs { certain, mut possible } = near(&cells, target)?;
            possible.iter_mut().zip(&certain).for_each(|(possible, certain)| *possible |= certain);
            CellDocs { certain: vec![0; words], possible }
        }
        (Some(cells), ShapeRelation::Contains) => around_anchors(&cells, target, words)?,
    };
    let count: u32 = found.certain.iter().chain(&found.possible).map(|word| word.count_ones()).sum();
    let (docs, batch, decoded) = (Vec::new(), Batch::default(), Vec::new());
    Ok(Box::new(ShapeDocs { column, target, relation, found, count, docs, batch, decoded }))
}

fn near(cells: &ShapeCells<'_>, target: &Target) -> Result<CellDocs> {
    let cover = cells.cover(|cell| target.overlap(cell));
    Ok(cells.docs(&cover, |cell| target.overlap(cell))?)
}

/// Returns the documents that have a cell around each of the target's anchors, which a shape must contain to
/// contain the target.
fn around_anchors(cells: &ShapeCells<'_>, target: &Target, words: usize) -> Result<CellDocs> {
    let mut all: Option<Vec<u64>> = None;
    for anchor in target.anchors() {
        let relate = |cell: &limber_segment::points::Cell| {
            let holds = cell.x.0 <= anchor.x.0
                && anchor.x.0 <= cell.x.1
                && cell.y.0 <= anchor.y.0
                && anchor.y.0 <= cell.y.1;
            if holds { Overlap::Some } else { Overlap::None }
        };
        let here = cells.docs(&cells.cover(relate), relate)?.possible;
        match &mut all {
            None => all = Some(here),
            Some(all) => all.iter_mut().zip(&here).for_each(|(all, here)| *all &= here),
        }
    }
    Ok(CellDocs { certain: vec![0; words], possible: all.unwrap_or_else(|| vec![0; words]) })
}

/// The candidates of a segment. They are examined when their window is requested.
struct ShapeDocs<'a> {
    column: ShapeColumn<'a>,
    target: &'a Target,
    relation: ShapeRelation,
    /// Documents that certainly or possibly have the relation; not only those whose cells overlap the
    /// target's.
    found: CellDocs,
    count: u32,
    docs: Vec<DocId>,
    batch: Batch<i64>,
    decoded: Vec<GridShape>,
}

impl ShapeDocs<'_> {
    /// Returns the matches among the documents of a window that are in `wanted`, or among all of them if it
    /// is `None`.
    fn matches(&mut self, start: DocId, wanted: Option<&Bits>) -> Result<Bits> {
        let words = start as usize / 64;
        let window = |source: &[u64]| {
            let mut bits = Bits::default();
            bits.0.iter_mut().zip(&source[words.min(source.len())..]).for_each(|(bits, word)| *bits = *word);
            if let Some(wanted) = wanted {
                bits.and(wanted);
            }
            bits
        };
        let mut matches = window(&self.found.certain);
        let possible = window(&self.found.possible);
        self.docs.clear();
        possible.append_to(start, &mut self.docs);
        if self.docs.is_empty() {
            return Ok(matches);
        }
        let ShapeDocs { column, target, relation, docs, batch, decoded, .. } = self;
        let mut open = None;
        decoded.clear();
        // Comparing a target of many edges with a shape of many edges takes long.
        let mut stopped = None;
        let mut settle = |position: Option<usize>, decoded: &mut Vec<GridShape>| {
            if let Some(position) = position
                && stopped.is_none()
            {
                let holds = target.holds(*relation, decoded);
                stopped = work::check_beyond_deadline().err();
                if holds && stopped.is_none() {
                    matches.set(docs[position] - start);
                }
            }
            decoded.clear();
        };
        column.for_each(docs, batch, |position, bytes| {
            if open != Some(position) {
                settle(open.replace(position), decoded);
            }
            decoded.push(GridShape::decode(bytes).map_err(unreadable)?);
            Ok(())
        })?;
        settle(open, decoded);
        match stopped {
            None => Ok(matches),
            Some(stop) => Err(stop.into()),
        }
    }
}

fn unreadable(corrupt: Corrupt) -> limber_segment::Error {
    limber_segment::Error::in_section("shapes", 0)(corrupt)
}

impl Matcher for ShapeDocs<'_> {
    fn cost(&self) -> u64 {
        u64::from(self.count)
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        let mut at = target as usize / 64;
        let word = |at: usize| Some(self.found.certain.get(at)? | self.found.possible.get(at)?);
        let Some(first) = word(at) else { return Ok(limber_segment::NO_MORE_DOCS) };
        let mut bits = first >> (target % 64) << (target % 64);
        while bits == 0 {
            at += 1;
            match word(at) {
                Some(next) => bits = next,
                None => return Ok(limber_segment::NO_MORE_DOCS),
            }
        }
        Ok(at as u32 * 64 + bits.trailing_zeros())
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        bits.or(&self.matches(start, None)?);
        Ok(())
    }

    fn restrict(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        *bits = self.matches(start, Some(bits))?;
        Ok(())
    }
}
