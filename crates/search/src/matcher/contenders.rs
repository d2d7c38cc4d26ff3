//! The documents that can still be among the best, found in the index of the values that their scores are made from.
//!
//! A leaf of points holds neighbouring values of some 500 documents. Where the most that any of them can score is no more than the
//! worst wanted hit has, none is looked at. Lucene does so for `distance_feature` alone (`LongDistanceFeatureQuery#setMinCompetitiveScore`).

use limber_mapping::FieldType;
use limber_segment::points::Overlap;
use limber_segment::{DocId, Segment};
use limber_store::{Charge, Ledger};

use super::WINDOW;
use super::scorer::Scorer;
use crate::collect::Pace;
use crate::error::Result;
use crate::query::{Ceiling, Span};

const WINDOW_WORDS: usize = WINDOW as usize / 64;

/// The documents of a segment that can still be among the best.
#[derive(Default)]
pub(crate) struct Contenders {
    /// In whole windows; `None`: any of them, as far as is known.
    bits: Option<(Vec<u64>, Charge)>,
    pace: Pace,
    is_hopeless: bool,
}

impl Contenders {
    /// Asks again from time to time, as the score to beat grows.
    pub fn look(
        &mut self,
        threshold: f32,
        scorer: &dyn Scorer,
        segment: &Segment,
        ledger: &Ledger,
    ) -> Result<()> {
        if self.is_hopeless || !self.pace.is_due() {
            return Ok(());
        }
        let bytes = u64::from(segment.doc_count()).div_ceil(8);
        let charge = ledger.request.charge(bytes, "<documents that can be among the best>")?;
        match scorer.contenders(threshold.next_up(), segment)? {
            Some(bits) => self.bits = Some((bits, charge)),
            None => self.is_hopeless = true,
        }
        Ok(())
    }

    /// Those of the window at `start`, all where `Some(None)`; `None`: none.
    pub fn in_window(&self, start: DocId) -> Option<Option<&[u64]>> {
        let Some((bits, _)) = &self.bits else { return Some(None) };
        let words = &bits[start as usize / 64..][..WINDOW_WORDS];
        words.iter().any(|word| *word != 0).then_some(Some(words))
    }
}

/// Bits of the documents of `segment` whose function value may be one that `beats` holds of, in whole windows; `None`: not known. `beats`
/// must hold of every number above one it holds of.
pub(super) fn contenders(
    ceiling: &dyn Ceiling,
    segment: &Segment,
    beats: impl Fn(f64) -> bool,
) -> Result<Option<Vec<u64>>> {
    let doc_count = segment.doc_count();
    let field = ceiling.field();
    // Documents without a value, or with several, score by rules of their own.
    let is_one_each = |is_single: bool, with_value: u32| is_single && with_value == doc_count;
    let mut bits = vec![0; doc_count.div_ceil(WINDOW) as usize * WINDOW_WORDS];
    if field.kind == FieldType::GeoPoint {
        let Some(places) = segment.spatial_points(&field.path)? else { return Ok(None) };
        if !ceiling.is_of_best_value()
            && !is_one_each(places.is_single_valued(), places.doc_count_with_value())
        {
            return Ok(None);
        }
        let cover = places.cover(|cell| match beats(ceiling.most(&Span::Places(*cell))) {
            true => Overlap::Some,
            false => Overlap::None,
        });
        places.fill_bits(&cover, |_| true, &mut bits)?;
        return Ok(Some(bits));
    }
    let Some(points) = segment.points(&field.path)? else { return Ok(None) };
    if !ceiling.is_of_best_value() && !is_one_each(points.is_single_valued(), points.doc_count_with_value()) {
        return Ok(None);
    }
    // Neighbouring spans are filled as one.
    let mut open: Option<(i64, i64)> = None;
    for (min, max) in points.spans()? {
        if beats(ceiling.most(&Span::Numbers(min, max))) {
            open = Some((open.map_or(min, |(first, _)| first), max));
        } else if let Some((first, last)) = open.take() {
            points.fill_bits(first..=last, &mut bits)?;
        }
    }
    if let Some((first, last)) = open {
        points.fill_bits(first..=last, &mut bits)?;
    }
    Ok(Some(bits))
}
