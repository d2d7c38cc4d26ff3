//! Patterns of `*` and `?` over terms.

use std::borrow::Cow;

use limber_text::automaton::{TermAutomaton, Verdict};
use memchr::memmem;

/// Tests every term, which is all that a field with coded terms needs.
impl TermAutomaton for TermPattern {
    fn ask(&self, term: &[u8], _: &mut Vec<u8>) -> Verdict {
        if self.matches(term) { Verdict::Accepts(0) } else { Verdict::Refuses }
    }

    fn prefix(&self) -> &[u8] {
        &[]
    }
}

/// A part of a pattern.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Piece {
    One(char),
    /// `?`
    Any,
    /// `*`
    Many,
}

/// A pattern over whole terms. Matching takes no memory, and at most time proportional to pattern times
/// term; for case-sensitive patterns without `?`, proportional to their sum.
#[derive(Debug)]
pub(crate) struct TermPattern {
    pieces: Vec<Piece>,
    /// For each `*`, by its index in `pieces`: the characters up to the next `*` or the end, and the index
    /// of their end, if there is no `?` among them.
    literals: Vec<Option<(Box<str>, usize)>>,
    ignores_case: bool,
}

/// Returns the simple case folding of one character.
fn folded(character: char) -> char {
    let mut lower = character.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(only), None) => only,
        _ => character,
    }
}

/// Returns the entry of [`TermPattern::literals`] for a `*`.
fn literal_after(pieces: &[Piece], star: usize) -> Option<(Box<str>, usize)> {
    if pieces[star] != Piece::Many {
        return None;
    }
    let run = pieces[star + 1..].iter().take_while(|piece| **piece != Piece::Many);
    let characters = run.map(|piece| match piece {
        Piece::One(character) => Some(*character),
        _ => None,
    });
    let literal: String = characters.collect::<Option<_>>()?;
    let end = star + 1 + literal.chars().count();
    (!literal.is_empty()).then(|| (literal.into(), end))
}

impl TermPattern {
    /// Creates the pattern that consists of these pieces in sequence.
    pub fn new(pieces: Vec<Piece>, ignores_case: bool) -> TermPattern {
        let mut pieces: Vec<Piece> = pieces
            .into_iter()
            .map(|piece| match piece {
                Piece::One(character) if ignores_case => Piece::One(folded(character)),
                other => other,
            })
            .collect();
        pieces.dedup_by(|left, right| *left == Piece::Many && *right == Piece::Many);
        let literals = match ignores_case {
            true => Vec::new(),
            false => (0..pieces.len()).map(|star| literal_after(&pieces, star)).collect(),
        };
        TermPattern { pieces, literals, ignores_case }
    }

    /// Parses a pattern: `*` matches any string, `?` any character, and `\\` escapes the next character.
    /// The characters between wildcards are normalized.
    pub fn parse(pattern: &str, normalize: impl Fn(&str) -> Cow<'_, str>, ignores_case: bool) -> TermPattern {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let end_literal = |literal: &mut String, pieces: &mut Vec<Piece>| {
            if !literal.is_empty() {
                pieces.extend(normalize(literal).chars().map(Piece::One));
                literal.clear();
            }
        };
        let mut characters = pattern.chars();
        while let Some(character) = characters.next() {
            let piece = match character {
                '*' => Piece::Many,
                '?' => Piece::Any,
                other => {
                    let is_escape = other == '\\';
                    literal.push(if is_escape { characters.next().unwrap_or('\\') } else { other });
                    continue;
                }
            };
            end_literal(&mut literal, &mut pieces);
            pieces.push(piece);
        }
        end_literal(&mut literal, &mut pieces);
        TermPattern::new(pieces, ignores_case)
    }

    /// Returns the prefix that all matching terms have.
    pub fn prefix(&self) -> String {
        if self.ignores_case {
            return String::new();
        }
        self.pieces
            .iter()
            .map_while(|piece| match piece {
                Piece::One(character) => Some(*character),
                _ => None,
            })
            .collect()
    }

    /// Whether the whole term matches.
    pub fn matches(&self, term: &[u8]) -> bool {
        let Ok(term) = std::str::from_utf8(term) else { return false };
        let (mut piece, mut at) = (0, 0);
        // Where to continue if the pieces after the last `*` do not match: that `*` takes one character
        // more.
        let mut retry: Option<(usize, usize)> = None;
        loop {
            let next = term[at..].chars().next();
            match (self.pieces.get(piece), next) {
                (None, None) => return true,
                (Some(Piece::Many), _) if self.literals.get(piece).is_some_and(Option::is_some) => {
                    let Some((literal, end)) = &self.literals[piece] else { return false };
                    let rest = &term[at..];
                    if *end == self.pieces.len() {
                        return rest.ends_with(&**literal);
                    }
                    // The first occurrence is as good as any later one, because another `*` follows.
                    let Some(found) = memmem::find(rest.as_bytes(), literal.as_bytes()) else { return false };
                    at += found + literal.len();
                    (piece, retry) = (*end, None);
                    continue;
                }
                (Some(Piece::Many), _) => {
                    retry = Some((piece, at));
                    piece += 1;
                    continue;
                }
                (Some(Piece::Any), Some(found)) => {
                    piece += 1;
                    at += found.len_utf8();
                    continue;
                }
                (Some(Piece::One(wanted)), Some(found))
                    if *wanted == found || (self.ignores_case && *wanted == folded(found)) =>
                {
                    piece += 1;
                    at += found.len_utf8();
                    continue;
                }
                _ => {}
            }
            let Some((star, from)) = retry else { return false };
            let Some(taken) = term[from..].chars().next() else { return false };
            at = from + taken.len_utf8();
            retry = Some((star, at));
            piece = star + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn as_it_is(text: &str) -> Cow<'_, str> {
        text.into()
    }

    #[test]
    fn patterns_match_whole_terms() {
        for (pattern, term, ignores_case, expected) in [
            ("a*", "abc", false, true),
            ("a*", "ba", false, false),
            ("a?c", "abc", false, true),
            ("a?c", "aéc", false, true),
            ("a?c", "abbc", false, false),
            ("*c", "abc\nc", false, true),
            ("a\\*", "a*", false, true),
            ("a\\*", "ab", false, false),
            ("A*", "abc", true, true),
            ("É", "é", true, true),
            ("a.c", "abc", false, false),
            ("*", "", false, true),
            ("**", "abc", false, true),
            ("*ab*ab", "abxabab", false, true),
            ("*ab*ab", "ab", false, false),
            ("*ab", "ab", false, true),
            ("a*ab", "ab", false, false),
            ("*b?d*e", "xbcbcde", false, true),
            ("*éa*?b", "xéaéb", false, true),
            ("*éa*?b", "xéab", false, false),
            ("*a*b*", "xxb-a", false, false),
            ("a b-[c]", "a b-[c]", false, true),
        ] {
            assert_eq!(
                TermPattern::parse(pattern, as_it_is, ignores_case).matches(term.as_bytes()),
                expected,
                "{pattern} {term}"
            );
        }
        assert_eq!(TermPattern::parse("ab\\*c?d", as_it_is, false).prefix(), "ab*c");
    }

    #[test]
    fn a_bomb_costs_little() {
        let pattern = TermPattern::parse(&"*a".repeat(500), as_it_is, false);
        assert!(!pattern.matches("ab".repeat(400).as_bytes()));
        let pattern = TermPattern::parse(&format!("*{}b", "a".repeat(900)), as_it_is, false);
        assert!(!pattern.matches("a".repeat(30_000).as_bytes()));
    }
}
