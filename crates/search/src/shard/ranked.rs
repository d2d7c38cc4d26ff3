//! Searches that find documents together with their scores, or count them without visiting them: terms and
//! phrases.

use limber_segment::{DocId, NO_MORE_DOCS};

use super::run::{OpenSegment, Progress, Run};
use super::top::Top;
use crate::error::Result;
use crate::matcher::{Gathered, Ranked, WINDOW};

/// Documents that are visited for the best hits, or counted, between two checks of the clock.
const CHECKED_DOCS: u32 = 16 * WINDOW;

impl Run<'_, '_, '_, '_> {
    /// Ranks terms or a phrase by score: matches and scores in one pass.
    pub(super) fn ranked_windows(
        &mut self,
        open: &mut OpenSegment<'_>,
        mut ranked: Ranked<'_>,
    ) -> Result<Progress> {
        let mut start = 0;
        loop {
            if self.claims.is_none()
                && self.needs_only_best(open)
                && (self.may_skip() || ranked.counts_what_it_skips())
            {
                return self.ranked_best(open, ranked, start);
            }
            start = match self.claimed(open.number, start) {
                Some(claimed) => claimed,
                None => return Ok(Progress::GoOn),
            };
            let next = ranked.next(start)?;
            if next == NO_MORE_DOCS {
                return Ok(Progress::GoOn);
            }
            start = next / WINDOW * WINDOW;
            if self.claimed(open.number, start) != Some(start) {
                continue;
            }
            self.context.check()?;
            let may_skip = self.may_skip();
            self.is_lower_bound |= may_skip;
            let threshold = if may_skip { self.top.threshold() } else { None };
            self.docs.clear();
            self.scores.clear();
            let mut gathered = Gathered { threshold, docs: &mut self.docs, scores: &mut self.scores };
            ranked.best(start..start.saturating_add(WINDOW), !may_skip, &mut gathered)?;
            self.drop_below_min_score();
            self.deliver(open, start)?;
            if self.is_terminated() {
                return Ok(Progress::Stop);
            }
            start += WINDOW;
        }
    }

    /// Counts documents without visiting any.
    pub(super) fn counted_windows(
        &mut self,
        open: &OpenSegment<'_>,
        mut counted: Ranked<'_>,
    ) -> Result<Progress> {
        let (mut start, doc_count) = (0, open.view.segment.doc_count());
        loop {
            start = match self.claimed(open.number, start) {
                Some(claimed) if claimed < doc_count => claimed,
                _ => return Ok(Progress::GoOn),
            };
            self.context.check()?;
            if self.may_skip() {
                self.is_lower_bound = true;
                return Ok(Progress::Stop);
            }
            // Threads that share the segment claim it by windows.
            let span = if self.claims.is_some() { WINDOW } else { CHECKED_DOCS };
            let end = start.saturating_add(span);
            self.total += counted.count(start..end)?;
            start = end;
        }
    }

    /// Finds the best hits from document `start` on. Other documents are only counted.
    fn ranked_best(
        &mut self,
        open: &OpenSegment<'_>,
        mut ranked: Ranked<'_>,
        mut start: DocId,
    ) -> Result<Progress> {
        let doc_count = open.view.segment.doc_count();
        while start < doc_count {
            self.context.check()?;
            let may_skip = self.may_skip();
            self.is_lower_bound |= may_skip;
            let end = start.saturating_add(CHECKED_DOCS).min(doc_count);
            let Top::Scores(top) = &mut self.top else { return Ok(Progress::GoOn) };
            let mut keeper = top.keeper(open.base);
            self.total += ranked.best(start..end, !may_skip, &mut keeper)?;
            self.total += keeper.offered;
            start = end;
        }
        Ok(Progress::GoOn)
    }

    /// Whether hits that are not among the best are needed for nothing but counting.
    pub(super) fn needs_only_best(&self, open: &OpenSegment<'_>) -> bool {
        self.sink.is_none()
            && open.post_filter.is_none()
            && self.request.min_score.is_none()
            && self.request.terminate_after == 0
    }
}
