//! Matches documents whose `geo_point` has a relation to a shape.

use limber_mapping::Field;
use limber_segment::columns::{Batch, NumberColumn};
use limber_segment::points::{Cover, Overlap, SpatialPoints};
use limber_segment::{DocId, Segment};

use crate::error::Result;
use crate::geo::{Relation, Shape};
use crate::matcher::simple::{DocBits, NoDocs};
use crate::matcher::{Bits, BoxedMatcher, Matcher, WINDOW};

/// If fewer than one document in this many is a candidate, and the index was not queried yet, the candidates
/// are looked up in the column.
const FEW: u32 = 8;

/// Matches the documents of `segment` whose points have this relation to `shape`.
pub(in crate::matcher) fn places<'a>(
    segment: &'a Segment,
    field: &Field,
    shape: &'a Shape,
    relation: Relation,
) -> Result<BoxedMatcher<'a>> {
    let column = segment.numbers(&field.path)?;
    let Some(source) = Source::open(segment, field, column)? else { return Ok(Box::new(NoDocs)) };
    match relation {
        Relation::Intersects => {
            let (cover, cost) = match &source {
                Source::Index(points) => {
                    let cover = points.cover(|cell| shape.overlap(cell));
                    let cost = points.count_at_most(&cover);
                    (Some(cover), cost)
                }
                Source::Column(column) => (None, u64::from(column.doc_count_with_value())),
            };
            if cover.as_ref().is_some_and(Cover::is_empty) {
                return Ok(Box::new(NoDocs));
            }
            let cost = cost.min(u64::from(segment.doc_count()));
            let doc_count = segment.doc_count();
            let (docs, batch) = (Vec::new(), Batch::default());
            Ok(Box::new(PlaceDocs { source, column, shape, cover, cost, doc_count, bits: None, docs, batch }))
        }
        Relation::Disjoint => {
            let mut bits = present(segment, field)?;
            let inside = source.bits(segment, |cell| shape.overlap(cell), |place| shape.contains(place))?;
            bits.words.iter_mut().zip(&inside.words).for_each(|(word, inside)| *word &= !inside);
            Ok(Box::new(bits.finish()))
        }
        Relation::Within => {
            let mut bits = source.bits(segment, |cell| shape.overlap(cell), |place| shape.contains(place))?;
            let inverted = |cell: &_| match shape.overlap(cell) {
                Overlap::None => Overlap::All,
                Overlap::All => Overlap::None,
                Overlap::Some => Overlap::Some,
            };
            if !source.is_single_valued() {
                let outside = source.bits(segment, inverted, |place| !shape.contains(place))?;
                bits.words.iter_mut().zip(&outside.words).for_each(|(word, outside)| *word &= !outside);
            }
            Ok(Box::new(bits.finish()))
        }
    }
}

pub(in crate::matcher) fn present(segment: &Segment, field: &Field) -> Result<DocBits> {
    let mut bits = DocBits::new(segment.doc_count());
    if let Some(presence) = segment.presence(&field.path)? {
        let mut window = Bits::default();
        for (number, words) in bits.words.chunks_mut(WINDOW as usize / 64).enumerate() {
            window.clear();
            presence.fill_window(number, &mut window.0)?;
            words.copy_from_slice(&window.0[..words.len()]);
        }
    }
    Ok(bits)
}

/// The source of points.
enum Source<'a> {
    Index(SpatialPoints<'a>),
    /// For a field without an index.
    Column(NumberColumn<'a>),
}

impl<'a> Source<'a> {
    /// Opens the source; `None` if no document of the segment has the field.
    fn open(
        segment: &'a Segment,
        field: &Field,
        column: Option<NumberColumn<'a>>,
    ) -> Result<Option<Source<'a>>> {
        Ok(match segment.spatial_points(&field.path)? {
            Some(points) => Some(Source::Index(points)),
            None => column.map(Source::Column),
        })
    }

    fn is_single_valued(&self) -> bool {
        match self {
            Source::Index(points) => points.is_single_valued(),
            Source::Column(column) => column.value_count() == u64::from(column.doc_count_with_value()),
        }
    }

    /// Returns the documents with any point for which `contains` returns true. `relate` does the same for
    /// cells of the index.
    fn bits(
        &self,
        segment: &Segment,
        relate: impl FnMut(&limber_segment::points::Cell) -> Overlap,
        contains: impl Fn(i64) -> bool,
    ) -> Result<DocBits> {
        let mut bits = DocBits::new(segment.doc_count());
        match self {
            Source::Index(points) => {
                let cover = points.cover(relate);
                points.fill_bits(&cover, contains, &mut bits.words)?;
            }
            Source::Column(column) => {
                let (mut docs, mut batch) = (Vec::new(), Batch::default());
                for start in (0..segment.doc_count()).step_by(WINDOW as usize) {
                    docs.clear();
                    docs.extend(start..segment.doc_count().min(start + WINDOW));
                    column.gather(&docs, &mut batch)?;
                    for (position, _) in batch.iter().filter(|(_, place)| contains(*place)) {
                        bits.set(docs[position]);
                    }
                }
            }
        }
        Ok(bits.finish())
    }
}

/// Matches documents with any point in the shape.
struct PlaceDocs<'a> {
    source: Source<'a>,
    column: Option<NumberColumn<'a>>,
    shape: &'a Shape,
    cover: Option<Cover>,
    cost: u64,
    doc_count: u32,
    /// The result of the index, once it was queried.
    bits: Option<DocBits>,
    docs: Vec<DocId>,
    batch: Batch<i64>,
}

impl PlaceDocs<'_> {
    fn ask_index(&mut self) -> Result<()> {
        if let (None, Source::Index(points), Some(cover)) = (&self.bits, &self.source, &self.cover) {
            let mut bits = DocBits::new(self.doc_count);
            points.fill_bits(cover, |place| self.shape.contains(place), &mut bits.words)?;
            self.bits = Some(bits.finish());
        }
        Ok(())
    }

    /// Sets the bits of those of `self.docs` that have a point in the shape, using the column.
    fn gather(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        let Some(column) = &self.column else { return Ok(()) };
        column.gather(&self.docs, &mut self.batch)?;
        for (position, place) in self.batch.iter() {
            if self.shape.contains(place) {
                bits.set(self.docs[position] - start);
            }
        }
        Ok(())
    }
}

impl Matcher for PlaceDocs<'_> {
    fn cost(&self) -> u64 {
        self.cost
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        match &mut self.bits {
            Some(bits) => bits.next(target),
            None => Ok(target),
        }
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        self.ask_index()?;
        if let Some(found) = &mut self.bits {
            return found.fill(start, bits);
        }
        self.docs.clear();
        self.docs.extend(start..self.doc_count.min(start + WINDOW));
        self.gather(start, bits)
    }

    fn restrict(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        let mut matches = Bits::default();
        if self.bits.is_none() && self.column.is_some() && bits.count() < WINDOW / FEW {
            self.docs.clear();
            bits.append_to(start, &mut self.docs);
            self.gather(start, &mut matches)?;
        } else {
            self.fill(start, &mut matches)?;
        }
        bits.and(&matches);
        Ok(())
    }
}
