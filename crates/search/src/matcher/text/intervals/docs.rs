//! Matches documents with intervals, and scores them.

use limber_segment::{DocId, Segment};

use super::iterator::{BoxedIntervals, is_end};
use super::open::{candidates, open};
use crate::error::Result;
use crate::matcher::BoxedMatcher;
use crate::matcher::confirmed::{Confirm, ConfirmedDocs};
use crate::matcher::scorer::Scorer;
use crate::matcher::simple::NoDocs;
use crate::matcher::text::positions::SegmentLeaves;
use crate::primitives::IntervalsNode;

struct HasInterval<'a>(BoxedIntervals<'a>);

impl Confirm for HasInterval<'_> {
    /// Reading the positions of a candidate is expensive.
    const COST_FACTOR: u64 = 2;

    fn holds(&mut self, doc: DocId) -> Result<bool> {
        let has_interval = self.0.reset(doc)? && !is_end(self.0.next()?);
        limber_work::check()?;
        Ok(has_interval)
    }
}

/// Matches the documents with an interval.
pub(crate) fn confirmed<'a>(node: &'a IntervalsNode, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
    Ok(match open(&node.source, &mut SegmentLeaves(segment), false)? {
        Some(intervals) => {
            let candidates = candidates(&node.source, segment)?;
            Box::new(ConfirmedDocs { candidates, confirm: HasInterval(intervals) })
        }
        None => Box::new(NoDocs),
    })
}

/// Scores increase with the number of intervals, and decrease with the gaps inside them.
pub(crate) struct IntervalScorer<'a> {
    node: &'a IntervalsNode,
    intervals: BoxedIntervals<'a>,
}

/// Opens the scorer; `None` if no document of the segment has an interval.
pub(crate) fn scorer<'a>(
    node: &'a IntervalsNode,
    segment: &'a Segment,
) -> Result<Option<IntervalScorer<'a>>> {
    let intervals = open(&node.source, &mut SegmentLeaves(segment), false)?;
    Ok(intervals.map(|intervals| IntervalScorer { node, intervals }))
}

impl IntervalScorer<'_> {
    /// Returns the weighted frequency in a document. Source: Lucene's `IntervalScorer`.
    fn freq(&mut self, doc: DocId) -> Result<f32> {
        let mut freq = 0.0f32;
        if !self.intervals.reset(doc)? {
            return Ok(freq);
        }
        while !is_end(self.intervals.next()?) {
            let length = self.intervals.end() - self.intervals.start() + 1;
            let weight = 1.0 / (length - self.node.extent_min + 1).max(1) as f64;
            // Added as a double and stored as a float, as Java's `+=` does.
            freq = (f64::from(freq) + weight) as f32;
        }
        limber_work::check()?;
        Ok(freq)
    }
}

impl Scorer for IntervalScorer<'_> {
    fn score(&mut self, docs: &[DocId], sums: &mut [f64]) -> Result<()> {
        for (doc, sum) in docs.iter().zip(sums) {
            let freq = self.freq(*doc)?;
            if freq > 0.0 {
                *sum += f64::from(self.node.score(freq));
            }
        }
        Ok(())
    }

    fn max_score(&mut self, _: DocId, _: DocId) -> Result<f32> {
        Ok(self.node.boost)
    }
}

/// Returns the number of intervals of a document; those that are longer than their terms have a lower weight.
pub(crate) fn interval_freq(node: &IntervalsNode, segment: &Segment, doc: DocId) -> Result<f32> {
    match scorer(node, segment)? {
        Some(mut scorer) => scorer.freq(doc),
        None => Ok(0.0),
    }
}
