//! `ngram` and `edge_ngram`: tokens are the substrings of a text within a range of lengths.
//!
//! Source: Lucene's `NGramTokenizer` and `EdgeNGramTokenizer`. Each substring has its own position.

use std::sync::Arc;

use hashbrown::HashSet;

use super::Tokenizer;
use super::cut::is_letter;
use crate::RequestError;
use crate::analysis::chain::Emit;
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;
use crate::analysis::token::WORD;
use crate::analysis::unicode;

/// Classes of characters that tokens may consist of.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Class {
    Letter,
    Digit,
    Whitespace,
    Punctuation,
    Symbol,
}

impl Class {
    fn has(self, c: char) -> bool {
        match self {
            Class::Letter => is_letter(c),
            Class::Digit => unicode::is_digit(c),
            Class::Whitespace => super::cut::is_java_whitespace(c),
            Class::Punctuation => unicode::is_punctuation(c),
            Class::Symbol => unicode::is_symbol(c),
        }
    }
}

#[derive(Debug)]
struct NGram {
    min: usize,
    max: usize,
    is_edge: bool,
    /// Empty means all characters.
    classes: Vec<Class>,
    custom: HashSet<char>,
}

/// Makes `ngram`. Reads `min_gram` (1), `max_gram` (2), whose difference `index.max_ngram_diff` limits, and
/// the classes of characters that a substring may contain.
pub fn make(settings: &Settings<'_>, context: &Context<'_>) -> Result<Arc<dyn Tokenizer>, RequestError> {
    let (min, max) = (settings.int("min_gram", 1)?, settings.int("max_gram", 2)?);
    if max.saturating_sub(min) > context.limits.ngram_diff {
        return Err(RequestError::illegal_argument(format!(
            "The difference between max_gram and min_gram in NGram Tokenizer must be less than or equal to: [{}] but was [{}]. This limit can be set by changing the [index.max_ngram_diff] index level setting.",
            context.limits.ngram_diff,
            max.saturating_sub(min)
        )));
    }
    of(settings, min, max, false)
}

/// Makes `edge_ngram`. Reads the same settings. Substrings begin where a run of such characters begins, and
/// their number is not limited.
pub fn make_edge(settings: &Settings<'_>, _: &Context<'_>) -> Result<Arc<dyn Tokenizer>, RequestError> {
    let (min, max) = (settings.int("min_gram", 1)?, settings.int("max_gram", 2)?);
    of(settings, min, max, true)
}

fn of(
    settings: &Settings<'_>,
    min: i32,
    max: i32,
    is_edge: bool,
) -> Result<Arc<dyn Tokenizer>, RequestError> {
    let (min, max) = bounds(min, max)?;
    let (classes, custom) = classes(settings)?;
    Ok(Arc::new(NGram { min, max, is_edge, classes, custom }))
}

/// Returns the minimum and maximum length in characters.
pub(in crate::analysis) fn bounds(min: i32, max: i32) -> Result<(usize, usize), RequestError> {
    if min < 1 {
        return Err(RequestError::illegal_argument("minGram must be greater than zero"));
    }
    if min > max {
        return Err(RequestError::illegal_argument("minGram must not be greater than maxGram"));
    }
    Ok((min as usize, max as usize))
}

fn classes(settings: &Settings<'_>) -> Result<(Vec<Class>, HashSet<char>), RequestError> {
    let mut classes = Vec::new();
    let mut custom = HashSet::new();
    for name in settings.list("token_chars").unwrap_or_default() {
        let class = match name.trim().to_lowercase().as_str() {
            "letter" => Class::Letter,
            "digit" => Class::Digit,
            "whitespace" => Class::Whitespace,
            "punctuation" => Class::Punctuation,
            "symbol" => Class::Symbol,
            "custom" if !custom.is_empty() => continue,
            "custom" => {
                let characters = settings.text("custom_token_chars").ok_or_else(|| {
                    RequestError::illegal_argument(
                        "Token type: 'custom' requires setting `custom_token_chars`",
                    )
                })?;
                custom.extend(characters.chars());
                continue;
            }
            other => {
                return Err(RequestError::illegal_argument(format!(
                    "Unknown token type: '{other}', must be one of [letter, whitespace, digit, punctuation, symbol, custom]"
                )));
            }
        };
        if !classes.contains(&class) {
            classes.push(class);
        }
    }
    Ok((classes, custom))
}

impl NGram {
    fn is_token(&self, c: char) -> bool {
        let takes_all = self.classes.is_empty() && self.custom.is_empty();
        takes_all || self.custom.contains(&c) || self.classes.iter().any(|class| class.has(c))
    }
}

impl NGram {
    /// Emits the substrings of a run of characters that begin at these positions and end at `end`. Takes time
    /// in proportion to their number.
    fn parts(&self, text: &str, places: &[u32], end: usize, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        let place = |at: usize| places.get(at).map_or(end, |place| *place as usize);
        let starts = if self.is_edge { places.len().min(1) } else { places.len() };
        for start in 0..starts {
            for length in self.min..=self.max.min(places.len() - start) {
                token.cut(text, place(start), place(start + length), WORD);
                if !emit(token) {
                    return false;
                }
            }
        }
        true
    }
}

impl Tokenizer for NGram {
    fn split(&self, text: &str, _: &mut String, token: &mut TokenBuf, emit: Emit<'_>) {
        let mut run: Vec<u32> = Vec::new();
        for (at, c) in text.char_indices() {
            if self.is_token(c) {
                // At the edge of a run only the first characters are needed.
                if !self.is_edge || run.len() <= self.max {
                    run.push(at as u32);
                }
                continue;
            }
            if !run.is_empty() && !self.parts(text, &run, at, token, emit) {
                return;
            }
            run.clear();
        }
        self.parts(text, &run, text.len(), token, emit);
    }
}
