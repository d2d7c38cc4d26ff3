//! A span query that is bound to a shard.

use limber_mapping::number::java_float;
use limber_segment::{DocId, Segment};

use crate::cache::KeyWriter;
use crate::error::Result;
use crate::matcher::{self, BoxedMatcher, BoxedScorer};
use crate::primitives::{SpanTree, SpansNode};
use crate::query::bound_node::{BoundNode, Part, WeightedPart, boosted, constant_scorer};
use crate::query::cached::FREQUENCY_OF_OTHERS;
use crate::query::extract::required_terms::RequiredTerms;
use crate::query::scoring::norm_of;
use crate::score::Explanation;

impl BoundNode for SpansNode {
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        matcher::text::spans::confirmed(self, segment)
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, is_known: bool) -> Result<BoxedScorer<'a>> {
        match matcher::text::spans::scorer(self, segment)? {
            None => constant_scorer(self, 0.0, segment, is_known),
            Some(scorer) => Ok(Box::new(scorer)),
        }
    }

    /// Source: Lucene's `SpanWeight#explain`.
    fn explain(&self, segment: &Segment, doc: DocId) -> Result<Explanation> {
        let Some(scorer) = &self.scorer else {
            return Ok(Explanation::leaf(0.0, format!("match {} in {doc} without score", self.span.text())));
        };
        let freq = matcher::text::spans::span_freq(self, segment, doc)?;
        let freq = Explanation::leaf(freq, format!("phraseFreq={}", java_float(freq)));
        let norm = match &self.field {
            Some(field) => norm_of(segment, &field.path, doc)?,
            None => None,
        };
        Ok(scorer.explain_weight(&self.span.text(), freq, norm, doc))
    }

    fn class(&self) -> &'static str {
        self.span.class()
    }

    fn text(&self) -> String {
        boosted(&self.span.text(), self.boost)
    }

    fn bit_set_count(&self) -> u64 {
        self.span.pattern_count()
    }

    fn required_terms(&self) -> RequiredTerms {
        required(&self.span)
    }

    fn word_parts(&self) -> Vec<WeightedPart<'_>> {
        let part = Part::Spans(&self.span);
        self.field.iter().map(|field| WeightedPart { part, boost: self.boost, field }).collect()
    }

    fn write_key(&self, key: &mut KeyWriter) -> bool {
        let mut span = Vec::new();
        self.span.write(&mut span);
        key.tag(b'S');
        key.text(&span);
        true
    }

    fn uses_before_kept(&self) -> Option<u32> {
        Some(FREQUENCY_OF_OTHERS)
    }
}

fn required(tree: &SpanTree) -> RequiredTerms {
    match tree {
        SpanTree::Nothing { .. } => RequiredTerms::exactly(Vec::new()).inexact(),
        SpanTree::Term { field, term } => RequiredTerms::one(field, term),
        // The terms of the documents that will be percolated are not known yet.
        SpanTree::Terms { .. } | SpanTree::Gap { .. } => RequiredTerms::Unknown,
        SpanTree::Any(trees) => RequiredTerms::union(trees.iter().map(required)).inexact(),
        SpanTree::Near { spans, .. } => RequiredTerms::longest(spans.iter().map(required)),
        SpanTree::Contained { big, little, .. } => {
            RequiredTerms::longest([required(big), required(little)].into_iter())
        }
        SpanTree::Not { include: tree, .. }
        | SpanTree::First { span: tree, .. }
        | SpanTree::Masked { span: tree, .. } => required(tree),
    }
}
