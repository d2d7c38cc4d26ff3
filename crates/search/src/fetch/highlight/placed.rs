//! Finds the tokens of intervals and spans: "where do the terms in the values of a field have the positions
//! that a query asks for?"
//!
//! The values are one text with a gap of positions between them, as in the index. Where it can enumerate a
//! query's terms, Lucene's highlighter indexes only these. Terms that only exclude are then absent, so that
//! what they exclude is highlighted.

use std::collections::{HashMap, HashSet};

use limber_mapping::Field;

use super::parts::Part;
use super::tokens::Tokens;
use crate::error::{Result, check_request};
use crate::matcher::text::intervals::open as open_intervals;
use crate::matcher::text::spans::open as open_spans;
use crate::matcher::{Leaf, Leaves, NO_MORE, selects_constant};
use crate::primitives::{Docs, PatternTerms, Source, SpanTree};

/// A token of an interval or span.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlacedToken {
    /// Index of the value, and index of the token in it.
    pub value: usize,
    pub place: u32,
    /// A number that is equal for equal terms.
    pub term: usize,
}

/// The tokens of several values as one text.
pub(super) struct Text<'t> {
    /// The field of the text; terms of other fields are not searched for. `None`: terms of all fields are.
    field: Option<&'t Field>,
    values: &'t [Tokens],
    /// For each value: the position that its positions start from, and the number of its first token.
    bases: Vec<(u32, u32)>,
}

impl<'t> Text<'t> {
    /// Joins the values. `gap`: positions left free between two values.
    pub fn new(values: &'t [Tokens], field: Option<&'t Field>, gap: u32) -> Text<'t> {
        let (mut position, mut token) = (0u32, 0);
        let mut bases = Vec::with_capacity(values.len());
        for tokens in values {
            bases.push((position, token));
            token += tokens.len() as u32;
            let end = tokens.last_position().map_or(position, |last| position.saturating_add(last + 1));
            position = end.saturating_add(gap);
        }
        Text { field, values, bases }
    }

    /// Returns the tokens of all intervals and spans of these parts, one after the other.
    pub fn placed(&self, parts: &[Part<'_>]) -> Result<Vec<PlacedToken>> {
        let mut found = Vec::new();
        let mut leaves = TextLeaves { text: self, known: Known::of(parts) };
        for part in parts {
            match part {
                Part::Intervals(source) => {
                    if let Some(mut intervals) = open_intervals(source, &mut leaves, true)?
                        && intervals.reset(0)?
                    {
                        while intervals.next()? != NO_MORE {
                            check_request()?;
                            intervals.tokens(&mut found);
                        }
                    }
                }
                Part::Spans(tree) => {
                    if let Some(mut spans) = open_spans(tree, &mut leaves)?
                        && spans.reset(0)?
                    {
                        while spans.next() != NO_MORE {
                            check_request()?;
                            spans.tokens(&mut found);
                        }
                    }
                }
                _ => {}
            }
        }
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let terms = self.terms();
        let placed = |token: u32| {
            let value = self.bases.partition_point(|(_, first)| *first <= token) - 1;
            PlacedToken { value, place: token - self.bases[value].1, term: terms[token as usize] }
        };
        Ok(found.into_iter().map(placed).collect())
    }

    /// Returns first and last position of every span of a tree, whichever fields its terms belong to.
    pub fn spans(&self, tree: &SpanTree) -> Result<Vec<(i64, i64)>> {
        let mut found = Vec::new();
        let known = Known { has_all: true, ..Known::default() };
        if let Some(mut spans) = open_spans(tree, &mut TextLeaves { text: self, known })?
            && spans.reset(0)?
        {
            while spans.next() != NO_MORE {
                check_request()?;
                found.push((spans.start(), spans.end() - 1));
            }
        }
        Ok(found)
    }

    /// Returns for each token the number of its term.
    fn terms(&self) -> Vec<usize> {
        let mut numbers: HashMap<&[u8], usize> = HashMap::new();
        let mut of_tokens = vec![0; self.values.iter().map(Tokens::len).sum()];
        for (tokens, (_, first)) in self.values.iter().zip(&self.bases) {
            for (term, places) in tokens.terms() {
                let next = numbers.len();
                let number = *numbers.entry(term).or_insert(next);
                places.iter().for_each(|place| of_tokens[(first + place) as usize] = number);
            }
        }
        of_tokens
    }
}

/// The terms that a query searches for.
#[derive(Default)]
struct Known<'q> {
    terms: HashSet<&'q [u8]>,
    patterns: Vec<&'q Docs>,
    /// Whether the query searches for terms that Lucene cannot enumerate, so that no term is left out.
    has_all: bool,
}

impl<'q> Known<'q> {
    fn of(parts: &[Part<'q>]) -> Known<'q> {
        let mut known = Known::default();
        for part in parts {
            match part {
                Part::Term(term) => {
                    known.terms.insert(term);
                }
                Part::Terms(docs) => known.patterns.push(docs),
                Part::Phrase(phrase) => {
                    known
                        .terms
                        .extend(phrase.slots.iter().flat_map(|(_, terms)| terms.iter().map(|term| &**term)));
                }
                Part::Intervals(source) => known.add_intervals(source),
                Part::MoreLikeThis(_) => known.has_all = true,
                Part::Spans(tree) => {
                    let mut terms = Vec::new();
                    tree.terms(&mut terms);
                    known.has_all |= tree.is_opaque();
                    known.terms.extend(terms.into_iter().map(|(_, term)| term));
                }
            }
        }
        known
    }

    fn add_intervals(&mut self, source: &'q Source) {
        match source {
            Source::Term { term, .. } => {
                self.terms.insert(term);
            }
            Source::Terms(_) => self.has_all = true,
            _ => source.sought_parts().for_each(|part| self.add_intervals(part)),
        }
    }

    fn has(&self, term: &[u8]) -> bool {
        self.has_all
            || self.terms.contains(term)
            || self.patterns.iter().any(|docs| selects_constant(docs, Some(term)))
    }
}

/// The leaves of intervals and spans over a text.
struct TextLeaves<'t> {
    text: &'t Text<'t>,
    known: Known<'t>,
}

impl TextLeaves<'_> {
    /// Returns a leaf over the tokens of the terms that `selects` selects.
    fn leaf(&self, field: &Field, selects: impl Fn(&Tokens, &mut Vec<u32>)) -> Option<Leaf> {
        if self.text.field.is_some_and(|own| own.path != field.path) {
            return None;
        }
        let (mut positions, mut numbers, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for (tokens, (base, first)) in self.text.values.iter().zip(&self.text.bases) {
            places.clear();
            selects(tokens, &mut places);
            places.sort_unstable();
            positions.extend(places.iter().map(|place| base + tokens.get(*place).position));
            numbers.extend(places.iter().map(|place| first + place));
        }
        Leaf::of_text(positions, numbers)
    }
}

impl Leaves for TextLeaves<'_> {
    fn term(&mut self, field: &Field, term: &[u8]) -> Result<Option<Leaf>> {
        if !self.known.has(term) {
            return Ok(None);
        }
        Ok(self.leaf(field, |tokens, places| places.extend_from_slice(tokens.indexes_of(term))))
    }

    fn terms(&mut self, terms: &PatternTerms) -> Result<Option<Leaf>> {
        Ok(self.leaf(&terms.field, |tokens, places| {
            let selected = tokens
                .terms()
                .filter(|(term, _)| selects_constant(&terms.docs, Some(term)) && self.known.has(term));
            places.extend(selected.flat_map(|(_, places)| places.iter().copied()));
        }))
    }
}
