//! Synonyms in one field, scored as one term that occurs wherever any of them does.
//!
//! Source: Lucene's `SynonymQuery`.

use std::sync::Arc;

use limber_mapping::Field;
use limber_mapping::number::java_float;
use limber_segment::norms::Norms;
use limber_segment::postings::{Postings, Want};
use limber_segment::{DocId, NO_MORE_DOCS, Segment};

use super::match_text::any_of;
use crate::cache::KeyWriter;
use crate::error::{Error, Result};
use crate::matcher::{self, BoxedMatcher, BoxedScorer, Scorer, Union};
use crate::query::bind::Binder;
use crate::query::bound::BoundQuery;
use crate::query::bound_node::{BoundNode, Part, WeightedPart};
use crate::query::extract::required_terms::RequiredTerms;
use crate::query::scoring::norm_of;
use crate::score::{Bm25, Explanation};

#[derive(Debug)]
pub(crate) struct SynonymNode {
    field: Arc<Field>,
    /// Sorted, without duplicates.
    terms: Vec<Box<[u8]>>,
    scorer: Bm25,
}

/// Makes a query for any of these terms.
pub(in crate::query) fn bind(
    field: &Arc<Field>,
    mut terms: Vec<Box<[u8]>>,
    boost: f32,
    binder: &Binder<'_>,
) -> Result<BoundQuery, Error> {
    terms.sort_unstable();
    terms.dedup();
    // Terms that are not scored by their frequency.
    if terms.len() == 1 || !field.index || field.match_only || field.is_wildcard {
        return any_of(field, &terms, boost, binder);
    }
    binder.count_terms(terms.len())?;
    let mut doc_freq = 0;
    for term in &terms {
        doc_freq = binder.doc_freq(field, term)?.max(doc_freq);
    }
    let scorer = binder.synonym_scorer(field, boost, &terms, doc_freq)?;
    Ok(SynonymNode { field: field.clone(), terms, scorer }.into())
}

impl BoundNode for SynonymNode {
    fn matcher<'a>(&'a self, segment: &'a Segment) -> Result<BoxedMatcher<'a>> {
        let parts = self.terms.iter().map(|term| matcher::term(segment, &self.field, term));
        Ok(Box::new(Union { parts: parts.collect::<Result<_>>()? }))
    }

    fn scorer<'a>(&'a self, segment: &'a Segment, _: bool) -> Result<BoxedScorer<'a>> {
        Ok(Box::new(SynonymScorer::open(self, segment)?))
    }

    fn explain(&self, segment: &Segment, doc: DocId) -> Result<Explanation> {
        let freq = SynonymScorer::open(self, segment)?.freq(doc);
        let freq = Explanation::leaf(freq, format!("termFreq={}", java_float(freq)));
        let norm = norm_of(segment, &self.field.path, doc)?;
        Ok(self.scorer.explain_weight(&self.text(), freq, norm, doc))
    }

    fn class(&self) -> &'static str {
        "SynonymQuery"
    }

    fn text(&self) -> String {
        let shown = |term: &[u8]| format!("{}:{}", self.field.path, String::from_utf8_lossy(term));
        let terms: Vec<String> = self.terms.iter().map(|term| shown(term)).collect();
        format!("Synonym({})", terms.join(" "))
    }

    fn required_terms(&self) -> RequiredTerms {
        RequiredTerms::exactly(
            self.terms.iter().map(|term| (self.field.path.clone(), term.clone())).collect(),
        )
    }

    fn word_parts(&self) -> Vec<WeightedPart<'_>> {
        let boost = self.scorer.boost();
        let part = |term| WeightedPart { part: Part::Term(term), boost, field: &self.field };
        self.terms.iter().map(|term| part(term)).collect()
    }

    fn write_key(&self, key: &mut KeyWriter) -> bool {
        key.tag(b'y');
        key.text(self.field.path.as_bytes());
        key.number(self.terms.len() as u64);
        self.terms.iter().for_each(|term| key.text(term));
        true
    }
}

/// Scores by the combined frequency of all terms.
struct SynonymScorer<'a> {
    scorer: &'a Bm25,
    postings: Vec<Postings>,
    norms: Option<&'a Norms>,
}

impl<'a> SynonymScorer<'a> {
    fn open(node: &'a SynonymNode, segment: &'a Segment) -> Result<SynonymScorer<'a>> {
        let mut postings = Vec::new();
        for term in &node.terms {
            postings.extend(matcher::open_postings(segment, &node.field, term, Want::Freqs)?);
        }
        Ok(SynonymScorer { scorer: &node.scorer, postings, norms: segment.norms(&node.field.path)? })
    }

    /// Returns the sum of the terms' frequencies in a document. Documents must ascend from call to call.
    fn freq(&mut self, doc: DocId) -> f32 {
        let mut sum = 0.0;
        for postings in &mut self.postings {
            if postings.doc() < doc {
                postings.advance(doc);
            }
            if postings.doc() == doc {
                sum += postings.freq() as f32;
            }
        }
        sum
    }
}

impl Scorer for SynonymScorer<'_> {
    fn score(&mut self, docs: &[DocId], sums: &mut [f64]) -> Result<()> {
        for (doc, sum) in docs.iter().zip(sums) {
            let freq = self.freq(*doc);
            if freq > 0.0 {
                let norm = self.norms.map_or(1, |norms| norms.get(*doc));
                *sum += f64::from(self.scorer.score(freq, norm));
            }
        }
        for postings in &self.postings {
            postings.status()?;
        }
        Ok(())
    }

    fn max_score(&mut self, _: DocId, end: DocId) -> Result<f32> {
        let is_over = |postings: &Postings| postings.doc() == NO_MORE_DOCS || postings.doc() >= end;
        match self.postings.iter().all(is_over) {
            true => Ok(0.0),
            false => Ok(self.scorer.max_score()),
        }
    }
}
