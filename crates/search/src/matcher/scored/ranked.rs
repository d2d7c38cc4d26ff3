//! Queries whose documents and scores are found in one pass, window by window: terms any or all of which are needed, and phrases.

use limber_segment::{DocId, LiveDocs, Segment};

use super::conjunction::Conjunction;
use super::disjunction::Disjunction;
use crate::error::Result;
use crate::primitives::{PhraseNode, TermNode};

pub(crate) enum Ranked<'a> {
    Any(Box<Disjunction<'a>>),
    All(Conjunction<'a>),
}

impl<'a> Ranked<'a> {
    /// Documents with any of these terms.
    pub fn any(terms: &[&'a TermNode], segment: &'a Segment) -> Result<Ranked<'a>> {
        Ok(Ranked::Any(Box::new(Disjunction::open(terms, segment)?)))
    }

    /// Documents with all of these terms.
    pub fn all(terms: &[&'a TermNode], segment: &'a Segment) -> Result<Ranked<'a>> {
        Ok(Ranked::All(Conjunction::of_terms(terms, segment)?))
    }

    /// Documents with a phrase; `None`: it is not one of single terms, each at its place.
    pub fn phrase(phrase: &'a PhraseNode, segment: &'a Segment) -> Result<Option<Ranked<'a>>> {
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
