//! Where a query matches in a text: the places of the words that it is made of.
//!
//! Source: Lucene's `Weight#matches`. A clause of a query that does not match the document matches nowhere in it; the words of a phrase
//! are one match.

use limber_mapping::{Field, Representation};
use limber_segment::{DocId, Segment};

use crate::error::Result;
use crate::matcher::{matches_doc, selects_constant};
use crate::query::{BoundQuery, Docs, Node, PhraseNode};

/// A part of a query that words match.
pub(super) enum Part<'q> {
    Term(&'q [u8]),
    Terms(&'q Docs),
    Phrase(&'q PhraseNode),
}

/// Start and end of a match in units of the text, and the part that matches.
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

/// A token of a text, in UTF-16 units.
struct Token {
    term: Vec<u8>,
    position: u32,
    start: usize,
    end: usize,
}

/// The parts of `query` that match a document and are about `field`, or about any field.
pub(super) fn parts_of<'q>(
    query: &'q BoundQuery,
    field: Option<&Field>,
    place: Option<(&Segment, DocId)>,
    out: &mut Vec<Part<'q>>,
) -> Result<()> {
    if let Some((segment, doc)) = place
        && !matches_doc(query, segment, doc)?
    {
        return Ok(());
    }
    let fits = |other: &Field| field.is_none_or(|field| field.id == other.id);
    match &query.node {
        Node::Term(node) if fits(&node.field) => out.push(Part::Term(&node.term)),
        Node::Phrase(node) if fits(&node.field) => out.push(Part::Phrase(node)),
        Node::Docs { docs, .. } => terms_of(docs, &fits, out),
        // Of the documents inside, which are not looked at one by one.
        Node::Nested(node) => parts_of(&node.query, field, None, out)?,
        Node::Boosting(node) => parts_of(&node.positive, field, place, out)?,
        Node::Cached(node) => parts_of(&node.inner, field, place, out)?,
        _ => {
            for part in query.parts() {
                parts_of(part, field, place, out)?;
            }
        }
    }
    Ok(())
}

fn terms_of<'q>(docs: &'q Docs, fits: &dyn Fn(&Field) -> bool, out: &mut Vec<Part<'q>>) {
    match docs {
        Docs::Terms { field, .. }
        | Docs::TermRange { field, .. }
        | Docs::Pattern { field, .. }
        | Docs::Automaton { field, .. }
            if fits(field) =>
        {
            out.push(Part::Terms(docs));
        }
        Docs::AnyOf(parts) | Docs::AllOf(parts) => parts.iter().for_each(|part| terms_of(part, fits, out)),
        Docs::Runtime { docs, .. } => terms_of(docs, fits, out),
        _ => {}
    }
}

/// All matches in a value of `field`, by their start.
pub(super) fn matches_in(parts: &[Part<'_>], field: &Field, value: &str) -> Vec<Match> {
    let tokens = tokens_of(field, value);
    let mut found = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let at = |token: &Token| Match { start: token.start, end: token.end, part: number };
        match part {
            Part::Term(term) => found.extend(tokens.iter().filter(|token| token.term == *term).map(at)),
            Part::Terms(docs) => {
                found.extend(tokens.iter().filter(|token| selects_constant(docs, Some(&token.term))).map(at));
            }
            Part::Phrase(phrase) => phrases_in(phrase, &tokens, number, &mut found),
        }
    }
    found.sort_unstable();
    found
}

/// A keyword's value is one token.
fn tokens_of(field: &Field, value: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    if field.representation() != Representation::Text {
        let term = field.encode_term(&field.normalize(value)).unwrap_or_default();
        tokens.push(Token { term, position: 0, start: 0, end: value.encode_utf16().count() });
        return tokens;
    }
    let Some(analyzer) = &field.analyzer else { return tokens };
    // Offsets nearly always ascend, so units are counted on from the last one.
    let (mut bytes, mut units) = (0, 0);
    let mut unit = |at: usize| {
        if at < bytes {
            (bytes, units) = (0, 0);
        }
        units += value[bytes..at].encode_utf16().count();
        bytes = at;
        units
    };
    analyzer.tokens(value, |token| {
        let (start, end) = (unit(token.start as usize), unit(token.end as usize));
        tokens.push(Token { term: token.text.as_bytes().to_vec(), position: token.position, start, end });
    });
    tokens
}

/// The runs of tokens that are a phrase: words in their order, or within its slop of one another.
fn phrases_in(phrase: &PhraseNode, tokens: &[Token], part: usize, found: &mut Vec<Match>) {
    let slots: Vec<Vec<&Token>> = phrase
        .slots
        .iter()
        .map(|(_, terms)| {
            tokens.iter().filter(|token| terms.iter().any(|term| **term == *token.term)).collect()
        })
        .collect();
    let Some(first) = slots.first() else { return };
    let offset = |slot: usize| i64::from(phrase.slots[slot].0);
    for token in first {
        let start = i64::from(token.position) - offset(0);
        let mut end = token.end;
        let (mut least, mut most, mut begin) = (start, start, token.start);
        let is_whole = (1..slots.len()).all(|slot| {
            // The nearest place of the word.
            let shifted = |token: &Token| i64::from(token.position) - offset(slot);
            let nearest = slots[slot].iter().min_by_key(|token| (shifted(token) - start).abs());
            nearest.is_some_and(|token| {
                (least, most) = (least.min(shifted(token)), most.max(shifted(token)));
                (begin, end) = (begin.min(token.start), end.max(token.end));
                most - least <= i64::from(phrase.slop)
            })
        });
        if is_whole {
            found.push(Match { start: begin, end, part });
        }
    }
}
