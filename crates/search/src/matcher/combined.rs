//! A term in several fields as if they were one.

use limber_segment::norms::Norms;
use limber_segment::postings::{Postings, Want};
use limber_segment::{DocId, NO_MORE_DOCS, Segment};

use super::open::open_postings;
use super::scorer::Scorer;
use crate::error::Result;
use crate::query::CombinedNode;

/// The scores of a term by what all its fields have together.
pub(crate) struct CombinedScorer<'a> {
    node: &'a CombinedNode,
    /// By field; `None`: the segment has no such term.
    postings: Vec<Option<Postings>>,
    norms: Vec<Option<&'a Norms>>,
}

impl<'a> CombinedScorer<'a> {
    pub fn open(node: &'a CombinedNode, segment: &'a Segment) -> Result<CombinedScorer<'a>> {
        let (mut postings, mut norms) = (Vec::new(), Vec::new());
        for (field, _) in node.fields.iter() {
            postings.push(open_postings(segment, field, &node.term, Want::Freqs)?);
            norms.push(segment.norms(&field.path)?);
        }
        Ok(CombinedScorer { node, postings, norms })
    }

    /// How often the term is in a document, by the weights of the fields. Documents ascend from call to call.
    pub fn freq(&mut self, doc: DocId) -> f32 {
        let mut sum = 0.0;
        for (postings, (_, weight)) in self.postings.iter_mut().zip(self.node.fields.iter()) {
            let Some(postings) = postings else { continue };
            if postings.doc() < doc {
                postings.advance(doc);
            }
            if postings.doc() == doc {
                sum += weight * postings.freq() as f32;
            }
        }
        sum
    }

    pub fn norm(&self, doc: DocId) -> u8 {
        self.node.norm(self.norms.iter().map(|norms| norms.map(|norms| norms.get(doc))))
    }
}

impl Scorer for CombinedScorer<'_> {
    fn score(&mut self, docs: &[DocId], sums: &mut [f64]) -> Result<()> {
        for (doc, sum) in docs.iter().zip(sums) {
            let freq = self.freq(*doc);
            if freq > 0.0 {
                *sum += f64::from(self.node.scorer.score(freq, self.norm(*doc)));
            }
        }
        for postings in self.postings.iter().flatten() {
            postings.status()?;
        }
        Ok(())
    }

    fn max_score(&mut self, _: DocId, end: DocId) -> Result<f32> {
        let is_over = |postings: &Option<Postings>| {
            postings.as_ref().is_none_or(|postings| postings.doc() == NO_MORE_DOCS || postings.doc() >= end)
        };
        match self.postings.iter().all(is_over) {
            true => Ok(0.0),
            false => Ok(self.node.scorer.max_score()),
        }
    }
}
