//! Finds the documents that can still be among the best, with the index of the values that scores are
//! computed from.
//!
//! A leaf of points contains similar values of some 500 documents. If the highest possible score of a leaf is
//! not above that of the worst wanted hit, its documents are skipped. Lucene does this only for
//! `distance_feature` (`LongDistanceFeatureQuery#setMinCompetitiveScore`).

use limber_segment::Segment;
use limber_segment::points::Overlap;

use crate::error::Result;
use crate::matcher::SegmentBits;
use crate::score::{MaxScores, Span};

/// Returns the documents of `segment` whose function value can be one for which `beats` returns true; `None`
/// if they cannot be determined. If `beats` returns true for a number, it must do so for every greater one.
pub(crate) fn contenders(
    max_scores: &dyn MaxScores,
    segment: &Segment,
    beats: impl Fn(f64) -> bool,
) -> Result<Option<SegmentBits>> {
    let doc_count = segment.doc_count();
    let field = max_scores.field();
    // Documents without a value or with several are scored differently.
    let is_one_each = |is_single: bool, with_value: u32| is_single && with_value == doc_count;
    let mut bits = SegmentBits::none_of(doc_count);
    if field.is_point() {
        let Some(places) = segment.spatial_points(&field.path)? else { return Ok(None) };
        if !max_scores.is_of_best_value()
            && !is_one_each(places.is_single_valued(), places.doc_count_with_value())
        {
            return Ok(None);
        }
        let cover = places.cover(|cell| match beats(max_scores.max_score(&Span::Places(*cell))) {
            true => Overlap::Some,
            false => Overlap::None,
        });
        places.fill_bits(&cover, |_| true, bits.words_mut())?;
        return Ok(Some(bits));
    }
    let Some(points) = segment.points(&field.path)? else { return Ok(None) };
    if !max_scores.is_of_best_value()
        && !is_one_each(points.is_single_valued(), points.doc_count_with_value())
    {
        return Ok(None);
    }
    // Adjacent spans are filled together.
    let mut open: Option<(i64, i64)> = None;
    for (min, max) in points.spans()? {
        if beats(max_scores.max_score(&Span::Numbers(min, max))) {
            open = Some((open.map_or(min, |(first, _)| first), max));
        } else if let Some((first, last)) = open.take() {
            points.fill_bits(first..=last, bits.words_mut())?;
        }
    }
    if let Some((first, last)) = open {
        points.fill_bits(first..=last, bits.words_mut())?;
    }
    Ok(Some(bits))
}
