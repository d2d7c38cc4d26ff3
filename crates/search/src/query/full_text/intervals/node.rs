//! An `intervals` query that is bound to a shard.

use limber_segment::{DocId, Segment};

use crate::cache::KeyWriter;
use crate::error::Result;
use crate::matcher::{self, BoxedMatcher, BoxedScorer};
use crate::primitives::{IntervalsNode, Source};
use crate::query::bound_node::{BoundNode, Part, WeightedPart, boosted, constant_scorer};
use crate::query::cached::FREQUENCY_OF_OTHERS;
use crate::query::extract::required_terms::RequiredTerms;
use crate::score::Explanation;

impl BoundNode for IntervalsNode {
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        matcher::text::intervals::confirmed(self, segment)
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>> {
        match matcher::text::intervals::scorer(self, segment)? {
            None => constant_scorer(self, 0.0, segment, is_known),
            Some(scorer) => Ok(Box::new(scorer)),
        }
    }

    /// Source: Lucene's `IntervalScoreFunction#explain`.
    fn explain(&self, segment: &Segment, doc: DocId) -> Result<Explanation> {
        let freq = matcher::text::intervals::interval_freq(self, segment, doc)?;
        let details = vec![
            Explanation::leaf(self.boost, "w, weight of this function"),
            Explanation::leaf(
                1.0,
                "k, pivot feature value that would give a score contribution equal to w/2",
            ),
            Explanation::leaf(
                freq,
                format!("S, the sloppy frequency of the interval query {}", self.unboosted_text()),
            ),
        ];
        let text = "Saturation function on interval frequency, computed as w * S / (S + k) from:";
        Ok(Explanation::of(self.score(freq), text, details))
    }

    fn class(&self) -> &'static str {
        "IntervalQuery"
    }

    fn text(&self) -> String {
        boosted(&self.unboosted_text(), self.boost)
    }

    fn bit_set_count(&self) -> u64 {
        self.source.pattern_count()
    }

    fn required_terms(&self) -> RequiredTerms {
        required(&self.source)
    }

    fn word_parts(&self) -> Vec<WeightedPart<'_>> {
        vec![WeightedPart { part: Part::Intervals(&self.source), boost: self.boost, field: &self.field }]
    }

    fn write_key(&self, key: &mut KeyWriter) -> bool {
        key.tag(b'v');
        key.text(self.field.path.as_bytes());
        key.text(&self.source.key());
        self.source.is_lasting()
    }

    fn uses_before_kept(&self) -> Option<u32> {
        Some(FREQUENCY_OF_OTHERS)
    }
}

impl IntervalsNode {
    fn unboosted_text(&self) -> String {
        format!("{}:{}", self.field.path, self.source.text())
    }
}

fn required(source: &Source) -> RequiredTerms {
    match source {
        Source::Nothing => RequiredTerms::exactly(Vec::new()).inexact(),
        Source::Term { field, term } => RequiredTerms::one(field, term),
        Source::Terms(_) => RequiredTerms::Unknown,
        Source::Any(sources) => RequiredTerms::union(sources.iter().map(required)).inexact(),
        _ => RequiredTerms::longest(source.sought_parts().map(required)),
    }
}
