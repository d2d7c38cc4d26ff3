//! Joins a fixed number of adjacent tokens, never fewer; such shingles are used to look up phrases.
//!
//! Source: Lucene's `FixedShingleFilter`, Elasticsearch's `TrailingShingleTokenFilter`. A gap is filled, but
//! no shingle begins with one. If there are several tokens at a position, there is a shingle for each path
//! through them.

use std::collections::VecDeque;

use crate::analysis::chain::{Emit, End, Filter, Stage, Stream};
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct FixedShingle {
    size: usize,
    filler: &'static str,
    /// Whether the last tokens also begin shingles, whose rest is filled.
    reaches_beyond_end: bool,
}

/// Makes a filter. `size` is the number of tokens in a shingle. With `beyond_end` the last tokens also begin
/// shingles, whose rest is filled.
pub fn of(size: usize, filler: &'static str, beyond_end: bool) -> Filter {
    Filter::stream(FixedShingle { size, filler, reaches_beyond_end: beyond_end })
}

impl Stream for FixedShingle {
    fn start(&self) -> Box<dyn Stage + '_> {
        Box::new(Window { own: self, places: VecDeque::new(), skipped: 0 })
    }
}

struct Window<'a> {
    own: &'a FixedShingle,
    /// The tokens at each position; empty for a gap.
    places: VecDeque<Vec<TokenBuf>>,
    /// Positions without a shingle since the last one.
    skipped: u32,
}

impl Window<'_> {
    fn add_place(&mut self, tokens: Vec<TokenBuf>, emit: Emit<'_>) -> bool {
        // More tokens may follow at the newest position, so a window is complete when the next position
        // begins.
        let goes_on = self.places.len() < self.own.size || self.shift(emit);
        self.places.push_back(tokens);
        goes_on
    }

    /// Emits the shingles that begin at the first position, and removes that position.
    fn shift(&mut self, emit: Emit<'_>) -> bool {
        self.skipped += 1;
        let Some(firsts) = self.places.pop_front() else { return true };
        let mut ways: Vec<TokenBuf> = firsts;
        for place in self.places.iter().take(self.own.size - 1) {
            let mut longer = Vec::with_capacity(ways.len() * place.len().max(1));
            for way in &ways {
                if place.is_empty() {
                    longer.push(way.like(format!("{} {}", way.text, self.own.filler)));
                }
                for next in place {
                    if !limber_work::state_bytes(way.text.len() + next.text.len()) {
                        return false;
                    }
                    let whole = way.like(format!("{} {}", way.text, next.text));
                    longer.push(TokenBuf { end: next.end, ..whole });
                }
            }
            ways = longer;
        }
        for mut way in ways {
            (way.increment, way.length, way.kind) = (std::mem::take(&mut self.skipped), 1, "shingle");
            if !emit(&mut way) {
                return false;
            }
        }
        true
    }
}

impl Stage for Window<'_> {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        if token.increment == 0
            && let Some(place) = self.places.back_mut()
        {
            place.push(token.clone());
            return true;
        }
        let holes = token.increment.saturating_sub(1) as usize;
        // More consecutive gaps than a shingle has positions only change positions.
        let filled = holes.min(self.own.size);
        for _ in 0..filled {
            if !self.add_place(Vec::new(), emit) {
                return false;
            }
        }
        if holes > filled {
            self.skipped += (holes - filled) as u32;
        }
        self.add_place(vec![token.clone()], emit)
    }

    fn end(&mut self, End { trailing, .. }: End, emit: Emit<'_>) -> u32 {
        let beyond = if self.own.reaches_beyond_end { self.own.size - 1 } else { trailing as usize };
        for _ in 0..beyond.min(self.own.size) {
            if !self.add_place(Vec::new(), emit) {
                return trailing;
            }
        }
        if self.places.len() >= self.own.size {
            self.shift(emit);
        }
        trailing
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::analysis::Analyzers;

    #[track_caller]
    fn check(analyzer: &str, size: usize, text: &str, expected: &[&str]) {
        let analyzer = Analyzers::built_in().get(analyzer).unwrap().shingled(size, "_");
        let found: Vec<String> = analyzer
            .analyze(text)
            .tokens
            .iter()
            .map(|token| format!("{}@{}", token.token, token.position))
            .collect();
        assert_eq!(json!(found), json!(expected));
    }

    /// The tokens are those that Elasticsearch 7.17.15 shows.
    #[test]
    fn shingles_have_their_size_and_begin_with_a_token() {
        check("standard", 2, "quick brown fox", &["quick brown@0", "brown fox@1"]);
        check("standard", 3, "quick brown", &[]);
        check("standard", 3, "a b c d", &["a b c@0", "b c d@1"]);
        check("stop", 2, "the quick of brown fox", &["quick _@1", "brown fox@3"]);
        check("stop", 2, "quick brown the", &["quick brown@0", "brown _@1"]);
    }

    #[test]
    fn beginnings_of_shingles_reach_beyond_the_end() {
        let analyzer = Analyzers::built_in().get("standard").unwrap().shingle_prefixes(3, 1, 20);
        let found: Vec<String> =
            analyzer.analyze("qu br fo").tokens.into_iter().map(|token| token.token).collect();
        let expected = [
            "q", "qu", "qu ", "qu b", "qu br", "qu br ", "qu br f", "qu br fo", "b", "br", "br ", "br f",
            "br fo", "br fo ", "f", "fo", "fo ", "fo  ",
        ];
        assert_eq!(found, expected);
    }
}
