//! Queries whose documents and scores are found in one pass, window by window: terms any or all of which are needed, and phrases.

use limber_segment::{DocId, LiveDocs, Segment};

use super::conjunction::Conjunction;
use super::disjunction::Disjunction;
use crate::error::Result;
use crate::query::BoundQuery;

pub(crate) enum Ranked<'a> {
    Any(Box<Disjunction<'a>>),
    All(Conjunction<'a>),
}

impl<'a> Ranked<'a> {
    /// `None`: the query is something else.
    pub fn open(query: &'a BoundQuery, segment: &'a Segment) -> Result<Option<Ranked<'a>>> {
        if let Some(terms) = query.node.scored_terms() {
            return Ok(Some(Ranked::Any(Box::new(Disjunction::open(&terms, segment)?))));
        }
        if let Some(terms) = query.node.required_scored_terms() {
            return Ok(Some(Ranked::All(Conjunction::of_terms(&terms, segment)?)));
        }
        let Some(phrase) = query.node.as_phrase() else { return Ok(None) };
        Ok(Conjunction::of_phrase(phrase, segment)?.map(Ranked::All))
    }

    /// Whether a threshold spares work although all hits have to be counted.
    pub fn counts_what_it_skips(&self) -> bool {
        matches!(self, Ranked::All(_))
    }

    /// A document at or after `target` before which none matches, or [`limber_segment::NO_MORE_DOCS`].
    pub fn next(&mut self, target: DocId) -> Result<DocId> {
        match self {
            Ranked::Any(any) => any.next(target),
            Ranked::All(all) => all.next(target),
        }
    }

    /// Replaces `docs` and `scores` by the live matches of the window at `start`, ascending. With a threshold those that do not score more
    /// may be missing. Answers how many are, where `counts`, which only those allow that [`Ranked::counts_what_it_skips`].
    pub fn collect(
        &mut self,
        start: DocId,
        (threshold, counts): (Option<f32>, bool),
        live: Option<&LiveDocs>,
        docs: &mut Vec<DocId>,
        scores: &mut Vec<f32>,
    ) -> Result<u64> {
        match self {
            Ranked::Any(any) => any.collect(start, threshold, live, docs, scores).map(|()| 0),
            Ranked::All(all) => all.collect(start, threshold, counts, live, docs, scores),
        }
    }
}
