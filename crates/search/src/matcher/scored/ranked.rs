//! Queries that are matched and scored in one pass: terms of which any or all are required, optional terms,
//! and phrases; each with filters on their documents.

use std::ops::Range;

use limber_segment::{DocId, Segment};

use super::conjunction::Conjunction;
use super::disjunction::Disjunction;
use super::guards::Guards;
use super::keeper::{Counted, Keeper};
use crate::error::Result;
use crate::primitives::TermNode;

pub(crate) struct Ranked<'a> {
    found_by: FoundBy<'a>,
    guards: Guards<'a>,
}

enum FoundBy<'a> {
    Any(Box<Disjunction<'a>>),
    All(Box<Conjunction<'a>>),
}

impl<'a> Ranked<'a> {
    /// Matches documents with any of these terms.
    pub fn any_of(terms: &[&'a TermNode], guards: Guards<'a>, segment: &'a Segment) -> Result<Ranked<'a>> {
        let found_by = FoundBy::Any(Box::new(Disjunction::open(terms, segment)?));
        Ok(Ranked { found_by, guards })
    }

    /// Matches documents with all required terms, or with a phrase.
    pub fn all_of(conjunction: Conjunction<'a>, guards: Guards<'a>) -> Ranked<'a> {
        Ranked { found_by: FoundBy::All(Box::new(conjunction)), guards }
    }

    /// Counts the matches of `range`; ranges must ascend.
    pub fn count(&mut self, range: Range<DocId>) -> Result<u64> {
        match &mut self.found_by {
            FoundBy::Any(any) => {
                let mut counted = Counted::default();
                any.best(range, &mut self.guards, &mut counted)?;
                Ok(counted.0)
            }
            FoundBy::All(all) => all.count_range(range, &mut self.guards),
        }
    }

    /// Whether a threshold saves work even if all hits have to be counted.
    pub fn counts_what_it_skips(&self) -> bool {
        matches!(self.found_by, FoundBy::All(_))
    }

    /// Returns a document at or after `target` such that no earlier one from `target` on matches, or
    /// [`limber_segment::NO_MORE_DOCS`].
    pub fn next(&mut self, target: DocId) -> Result<DocId> {
        match &mut self.found_by {
            FoundBy::Any(any) => any.next(target),
            FoundBy::All(all) => all.next(target),
        }
    }

    /// Offers the matches of `range` in ascending order; ranges must ascend as well. Matches that do not
    /// exceed the keeper's threshold can be left out. Returns their number if `counts` is set, which requires
    /// [`Ranked::counts_what_it_skips`] or a keeper without a threshold.
    pub fn best(&mut self, range: Range<DocId>, counts: bool, keeper: &mut dyn Keeper) -> Result<u64> {
        match &mut self.found_by {
            FoundBy::Any(any) => any.best(range, &mut self.guards, keeper).map(|()| 0),
            FoundBy::All(all) => all.best(range, counts, &mut self.guards, keeper),
        }
    }
}
