//! Where parts of a query match in a text.
//!
//! Source: Lucene's `Weight#matches`, where all words of a phrase are one match. With
//! `require_field_match: false` its `PhraseHelper`, where each word is one.

use std::collections::{HashMap, HashSet};

use super::parts::Part;
use super::phrases::phrases_in;
use super::tokens::Tokens;
use crate::error::{Result, check_request};
use crate::matcher::selects_constant;

/// Start and end of a match in UTF-16 units of the text, and which of the parts matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Match {
    pub start: usize,
    pub end: usize,
    pub part: usize,
}

impl Match {
    fn at(tokens: &Tokens, place: u32, part: usize) -> Match {
        let token = tokens.get(place);
        Match { start: token.start, end: token.end, part }
    }

    /// Returns the unit in its middle, which the passage is built around.
    pub fn center(&self) -> usize {
        self.start + ((self.end - self.start) / 2).saturating_sub(1)
    }
}

/// Numbers for the words of a query that are matches by themselves, whichever parts they belong to.
#[derive(Default)]
pub(super) struct Words<'q>(HashMap<&'q [u8], usize>);

impl<'q> Words<'q> {
    /// Returns the number of a word. Numbers count down from the greatest, so they differ from those of
    /// parts.
    fn number(&mut self, term: &'q [u8]) -> usize {
        let next = usize::MAX - self.0.len();
        *self.0.entry(term).or_insert(next)
    }
}

/// Returns all words that match among the tokens of a value, in order; words of phrases only where the
/// phrase matches.
///
/// # Errors
/// There is not enough memory, or the request must end.
pub(super) fn words_in<'q>(parts: &[Part<'q>], tokens: &Tokens, words: &mut Words<'q>) -> Result<Vec<Match>> {
    let mut found = Vec::new();
    for (part, one) in parts.iter().enumerate() {
        match one {
            Part::Term(term) => {
                let part = words.number(term);
                found.extend(tokens.indexes_of(term).iter().map(|place| Match::at(tokens, *place, part)));
            }
            Part::Phrase(phrase) => {
                // Replaces each end by the furthest end so far.
                let mut spans = phrases_in(&phrase.slots, phrase.slop, tokens)?;
                spans.sort_unstable();
                let mut furthest = 0;
                for (_, end) in &mut spans {
                    furthest = furthest.max(*end);
                    *end = furthest;
                }
                let mut seen = HashSet::new();
                let terms = phrase.slots.iter().flat_map(|(_, terms)| terms);
                for term in terms.filter(|term| seen.insert(*term)) {
                    check_request()?;
                    let part = words.number(term);
                    let all = tokens.indexes_of(term).iter().map(|place| Match::at(tokens, *place, part));
                    found.extend(all.filter(|word| {
                        let next = spans.partition_point(|(start, _)| *start <= word.start);
                        next > 0 && word.end <= spans[next - 1].1
                    }));
                }
            }
            _ => found.extend(matches_of(one, part, tokens)?),
        }
        check_request()?;
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Returns all matches among the tokens of a value, in no order.
///
/// # Errors
/// There is not enough memory, or the request must end.
pub(super) fn matches_in(parts: &[Part<'_>], tokens: &Tokens) -> Result<Vec<Match>> {
    let mut found = Vec::new();
    for (part, one) in parts.iter().enumerate() {
        check_request()?;
        found.extend(matches_of(one, part, tokens)?);
    }
    Ok(found)
}

/// Returns the matches of the part with the number `part`.
fn matches_of(one: &Part<'_>, part: usize, tokens: &Tokens) -> Result<Vec<Match>> {
    let at = |place: &u32| Match::at(tokens, *place, part);
    Ok(match one {
        Part::Term(term) => tokens.indexes_of(term).iter().map(at).collect(),
        Part::Terms(docs) => {
            let selected = tokens.terms().filter(|(term, _)| selects_constant(docs, Some(term)));
            selected.flat_map(|(_, places)| places.iter().map(at)).collect()
        }
        Part::Phrase(phrase) => {
            let phrases = phrases_in(&phrase.slots, phrase.slop, tokens)?;
            phrases.into_iter().map(|(start, end)| Match { start, end, part }).collect()
        }
        // They may extend from one value into the next (`placed`), or their terms are chosen from all
        // values.
        Part::Intervals(_) | Part::Spans(_) | Part::MoreLikeThis(_) => Vec::new(),
    })
}
