//! `ngram` and `edge_ngram`: emit the substrings of a token within a range of lengths.
//!
//! Source: Lucene's `NGramTokenFilter` and `EdgeNGramTokenFilter`. All substrings have the token's position
//! and offsets.

use crate::RequestError;
use crate::analysis::chain::{Emit, End, Filter, Parsing, Stage, Stream};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;
use crate::analysis::tokenizer::gram_bounds;
use limber_work as work;

#[derive(Debug, Clone, Copy, PartialEq)]
enum From {
    Everywhere,
    Front,
    Back,
}

#[derive(Debug)]
struct NGram {
    min: usize,
    max: usize,
    from: From,
    keeps_original: bool,
}

struct Grams<'a> {
    own: &'a NGram,
    /// Positions of tokens that were too short.
    skipped: u32,
}

/// Makes `ngram`. Reads `min_gram` (1) and `max_gram` (2), whose difference `index.max_ngram_diff` limits,
/// and `preserve_original`.
pub fn make(settings: &Settings<'_>, context: &Context<'_>) -> Result<Filter, RequestError> {
    let (min, max) = (settings.int("min_gram", 1)?, settings.int("max_gram", 2)?);
    let (diff, diff_max) = (max.saturating_sub(min), context.limits.ngram_diff);
    if diff > diff_max {
        return Err(RequestError::illegal_argument(format!(
            "The difference between max_gram and min_gram in NGram Tokenizer must be less than or equal to: [{diff_max}] but was [{diff}]. This limit can be set by changing the [index.max_ngram_diff] index level setting."
        )));
    }
    of(settings, min, max, From::Everywhere)
}

/// Makes `edge_ngram`. Reads the same settings, and `side` (`front` or `back`).
pub fn make_edge(settings: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    if settings.text("side").is_some() {
        work::warn(
            "The [side] parameter is deprecated and will be removed. Use a [reverse] before and after the [edge_ngram] instead.",
        );
    }
    let from = match settings.text_or("side", "front").as_str() {
        "front" => From::Front,
        "back" => From::Back,
        other => return Err(RequestError::illegal_argument(format!("invalid side: {other}"))),
    };
    // The built-in filter, which is not declared, emits only the first character.
    let max = settings.int("max_gram", if settings.is_declared() { 2 } else { 1 })?;
    of(settings, settings.int("min_gram", 1)?, max, from)
}

fn of(settings: &Settings<'_>, min: i32, max: i32, from: From) -> Result<Filter, RequestError> {
    let (min, max) = gram_bounds(min, max)?;
    let keeps_original = settings.bool("preserve_original", false)?;
    Ok(Filter::stream(NGram { min, max, from, keeps_original }).parsing(Parsing::Refused))
}

/// Makes a filter that emits the prefixes of a token within a range of lengths. With `keeps_original`, a
/// longer or shorter token is emitted too.
pub fn edges(min: usize, max: usize, keeps_original: bool) -> Filter {
    Filter::stream(NGram { min, max, from: From::Front, keeps_original })
}

impl Stream for NGram {
    fn start(&self) -> Box<dyn Stage + '_> {
        Box::new(Grams { own: self, skipped: 0 })
    }
}

impl Stage for Grams<'_> {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        let NGram { min, max, from, keeps_original } = *self.own;
        // The token may be a whole text.
        if !limber_work::has_room_for((token.text.len() * size_of::<usize>()) as u64) {
            return false;
        }
        self.skipped += token.increment;
        let text = std::mem::take(&mut token.text);
        // The byte offsets at which characters begin, and the end.
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let count = places.len() - 1;
        let mut one = |start: usize, end: usize| {
            token.set(&text[places[start]..places[end]]);
            token.increment = std::mem::take(&mut self.skipped);
            emit(token)
        };
        if keeps_original && count < min && !one(0, count) {
            return false;
        }
        let starts = if from == From::Everywhere { count } else { usize::from(count > 0) };
        for start in 0..starts {
            for length in min..=max.min(count - start) {
                let range = match from {
                    From::Back => (count - length, count),
                    _ => (start, start + length),
                };
                if !one(range.0, range.1) {
                    return false;
                }
            }
        }
        !(keeps_original && count > max) || one(0, count)
    }

    fn end(&mut self, End { trailing, .. }: End, _: Emit<'_>) -> u32 {
        trailing + self.skipped
    }
}
