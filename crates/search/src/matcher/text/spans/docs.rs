//! Matches documents with spans, and scores them.

use limber_segment::norms::Norms;
use limber_segment::{DocId, Segment};

use super::iterator::BoxedSpans;
use super::open::{candidates, open};
use crate::error::Result;
use crate::matcher::BoxedMatcher;
use crate::matcher::confirmed::{Confirm, ConfirmedDocs};
use crate::matcher::scorer::Scorer;
use crate::matcher::simple::{AllDocs, NoDocs};
use crate::matcher::text::positions::{NO_MORE, SegmentLeaves};
use crate::primitives::SpansNode;
use crate::score::Bm25;

struct HasSpan<'a>(BoxedSpans<'a>);

impl Confirm for HasSpan<'_> {
    /// Reading the positions of a candidate is expensive.
    const COST_FACTOR: u64 = 2;

    fn holds(&mut self, doc: DocId) -> Result<bool> {
        let has_span = self.0.reset(doc)? && self.0.next() != NO_MORE;
        limber_work::check()?;
        Ok(has_span)
    }
}

/// Matches the documents with a span.
pub(crate) fn confirmed<'a>(node: &'a SpansNode, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
    let Some(spans) = open(&node.span, &mut SegmentLeaves(segment))? else { return Ok(Box::new(NoDocs)) };
    let all = || Box::new(AllDocs(segment.doc_count())) as BoxedMatcher<'a>;
    let candidates = candidates(&node.span, segment)?.unwrap_or_else(all);
    Ok(Box::new(ConfirmedDocs { candidates, confirm: HasSpan(spans) }))
}

/// BM25 of all terms together; wide spans count for less than one.
pub(crate) struct SpanScorer<'a> {
    spans: BoxedSpans<'a>,
    norms: Option<&'a Norms>,
    bm25: &'a Bm25,
}

/// Opens the scorer; `None` if no document of the segment has a score.
pub(crate) fn scorer<'a>(node: &'a SpansNode, segment: &'a Segment) -> Result<Option<SpanScorer<'a>>> {
    let spans = open(&node.span, &mut SegmentLeaves(segment))?;
    let Some((spans, bm25)) = spans.zip(node.scorer.as_ref()) else { return Ok(None) };
    let norms = match &node.field {
        Some(field) => segment.norms(&field.path)?,
        None => None,
    };
    Ok(Some(SpanScorer { spans, norms, bm25 }))
}

impl SpanScorer<'_> {
    /// Returns the weighted frequency in a document. Source: Lucene's `SpanScorer`.
    fn freq(&mut self, doc: DocId) -> Result<f32> {
        let mut freq = 0.0f32;
        if self.spans.reset(doc)? {
            while self.spans.next() != NO_MORE {
                // Added as a double and stored as a float, as Java's `+=` does.
                freq = (f64::from(freq) + 1.0 / (1.0 + self.spans.width() as f64)) as f32;
            }
        }
        limber_work::check()?;
        Ok(freq)
    }
}

impl Scorer for SpanScorer<'_> {
    fn score(&mut self, docs: &[DocId], sums: &mut [f64]) -> Result<()> {
        for (doc, sum) in docs.iter().zip(sums) {
            let freq = self.freq(*doc)?;
            if freq > 0.0 {
                let norm = self.norms.map_or(1, |norms| norms.get(*doc));
                *sum += f64::from(self.bm25.score(freq, norm));
            }
        }
        Ok(())
    }

    fn max_score(&mut self, _: DocId, _: DocId) -> Result<f32> {
        Ok(self.bm25.max_score())
    }
}

/// Returns the number of spans of a document; wide ones have a lower weight.
pub(crate) fn span_freq(node: &SpansNode, segment: &Segment, doc: DocId) -> Result<f32> {
    match scorer(node, segment)? {
        Some(mut scorer) => scorer.freq(doc),
        None => Ok(0.0),
    }
}
