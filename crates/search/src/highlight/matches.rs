//! Where in a text parts of a query match.
//!
//! Source: Lucene's `Weight#matches`; the words of a phrase are one match.

use super::parts::Part;
use super::phrases::phrases_in;
use super::tokens::Tokens;
use crate::matcher::selects_constant;

/// Start and end of a match in UTF-16 units of the text, and which of the parts matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Match {
    pub start: usize,
    pub end: usize,
    pub part: usize,
}

impl Match {
    /// The unit in its middle, around which a passage is laid.
    pub fn center(&self) -> usize {
        self.start + ((self.end - self.start) / 2).saturating_sub(1)
    }
}

/// All matches among the tokens of a value, in no order.
pub(super) fn matches_in(parts: &[Part<'_>], tokens: &Tokens) -> Vec<Match> {
    let mut found = Vec::new();
    for (part, one) in parts.iter().enumerate() {
        let at = |place: &u32| {
            let token = tokens.get(*place);
            Match { start: token.start, end: token.end, part }
        };
        match one {
            Part::Term(term) => found.extend(tokens.places_of(term).iter().map(at)),
            Part::Terms(docs) => {
                let selected = tokens.terms().filter(|(term, _)| selects_constant(docs, Some(term)));
                found.extend(selected.flat_map(|(_, places)| places.iter().map(at)));
            }
            Part::Phrase(phrase) => {
                let phrases = phrases_in(&phrase.slots, phrase.slop, tokens);
                found.extend(phrases.into_iter().map(|(start, end)| Match { start, end, part }));
            }
            // They may go from a value to the next (`placed`).
            Part::Intervals(_) | Part::Spans(_) => {}
        }
    }
    found
}
