//! Who takes the documents that are found with their scores: "how good must the next one be?"

use limber_segment::DocId;

/// Takes scored documents, ascending.
pub(crate) trait Keeper {
    /// A document that is still to come has to score more than this to be wanted; `None`: any is wanted. It
    /// never falls.
    fn threshold(&self) -> Option<f32>;

    /// Takes documents, each with its score. Some of them may not beat the threshold.
    fn offer(&mut self, docs: &[DocId], scores: &[f32]);
}

/// Counts what it is offered.
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

/// Keeps what it is offered, for somebody who has to see it first.
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
