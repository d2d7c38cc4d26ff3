//! The receiver of scored documents, which sets the threshold for later ones.

use limber_segment::DocId;

/// Receives scored documents in ascending order.
pub(crate) trait Keeper {
    /// Returns the score that later documents must exceed; `None` if any document is wanted. It never
    /// decreases.
    fn threshold(&self) -> Option<f32>;

    /// Receives documents with their scores, some of which may not exceed the threshold.
    fn offer(&mut self, docs: &[DocId], scores: &[f32]);
}

/// Counts the documents that it is offered.
#[derive(Default)]
pub(crate) struct Counted(pub u64);

impl Keeper for Counted {
    fn threshold(&self) -> Option<f32> {
        None
    }

    fn offer(&mut self, docs: &[DocId], _: &[f32]) {
        self.0 += docs.len() as u64;
    }
}

/// Stores the documents that it is offered, for a caller that examines them first.
pub(crate) struct Gathered<'v> {
    pub threshold: Option<f32>,
    pub docs: &'v mut Vec<DocId>,
    pub scores: &'v mut Vec<f32>,
}

impl Keeper for Gathered<'_> {
    fn threshold(&self) -> Option<f32> {
        self.threshold
    }

    fn offer(&mut self, docs: &[DocId], scores: &[f32]) {
        self.docs.extend_from_slice(docs);
        self.scores.extend_from_slice(scores);
    }
}
