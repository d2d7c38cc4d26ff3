//! Matches candidates of an index after confirming them one by one.

use limber_segment::DocId;

use super::{Bits, BoxedMatcher, Matcher};
use crate::error::Result;

/// Confirms whether a candidate matches. Documents must ascend from call to call.
pub(crate) trait Confirm {
    /// How much more expensive it is to confirm a document than to find it with the candidates' matcher.
    const COST_FACTOR: u64;

    fn holds(&mut self, doc: DocId) -> Result<bool>;
}

pub(crate) struct ConfirmedDocs<'a, C> {
    /// The candidates, which include all matching documents.
    pub candidates: BoxedMatcher<'a>,
    pub confirm: C,
}

impl<C: Confirm> ConfirmedDocs<'_, C> {
    fn verify(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        bits.retain(|index| self.confirm.holds(start + index))
    }
}

impl<C: Confirm> Matcher for ConfirmedDocs<'_, C> {
    fn cost(&self) -> u64 {
        self.candidates.cost().saturating_mul(C::COST_FACTOR)
    }

    fn next(&mut self, target: DocId) -> Result<DocId> {
        self.candidates.next(target)
    }

    fn fill(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        let mut own = Bits::default();
        self.candidates.fill(start, &mut own)?;
        self.verify(start, &mut own)?;
        bits.or(&own);
        Ok(())
    }

    fn restrict(&mut self, start: DocId, bits: &mut Bits) -> Result<()> {
        self.candidates.restrict(start, bits)?;
        self.verify(start, bits)
    }
}
