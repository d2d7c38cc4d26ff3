//! `ngram` and `edge_ngram`: parts of a text of so many characters.
//!
//! Source: Lucene's `NGramTokenizer` and `EdgeNGramTokenizer`; every part has a position of its own.

use std::sync::Arc;

use super::cut::is_letter;
use super::{Context, Emit, Settings, TokenBuf, Tokenizer};
use crate::RequestError;
use crate::analysis::token::WORD;
use crate::analysis::unicode;

/// Classes of characters that tokens are made of.
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
    /// None: all characters.
    classes: Vec<Class>,
    custom: Vec<char>,
}

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

/// Shortest and longest part, in characters.
pub(in crate::analysis) fn bounds(min: i32, max: i32) -> Result<(usize, usize), RequestError> {
    if min < 1 {
        return Err(RequestError::illegal_argument("minGram must be greater than zero"));
    }
    if min > max {
        return Err(RequestError::illegal_argument("minGram must not be greater than maxGram"));
    }
    Ok((min as usize, max as usize))
}

fn classes(settings: &Settings<'_>) -> Result<(Vec<Class>, Vec<char>), RequestError> {
    let mut classes = Vec::new();
    let mut custom = Vec::new();
    for name in settings.list("token_chars").unwrap_or_default() {
        classes.push(match name.trim().to_lowercase().as_str() {
            "letter" => Class::Letter,
            "digit" => Class::Digit,
            "whitespace" => Class::Whitespace,
            "punctuation" => Class::Punctuation,
            "symbol" => Class::Symbol,
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
        });
    }
    Ok((classes, custom))
}

impl NGram {
    fn is_token(&self, c: char) -> bool {
        let takes_all = self.classes.is_empty() && self.custom.is_empty();
        takes_all || self.custom.contains(&c) || self.classes.iter().any(|class| class.has(c))
    }
}

impl Tokenizer for NGram {
    fn split(&self, text: &str, _: &mut String, token: &mut TokenBuf, emit: Emit<'_>) {
        let mut before_is_token = false;
        for (start, c) in text.char_indices() {
            let is_token = self.is_token(c);
            let is_start = is_token && !(self.is_edge && before_is_token);
            before_is_token = is_token;
            if !is_start {
                continue;
            }
            let characters = text[start..].char_indices().take_while(|(_, c)| self.is_token(*c));
            for (number, (at, c)) in (1..=self.max).zip(characters) {
                if number < self.min {
                    continue;
                }
                token.cut(text, start, start + at + c.len_utf8(), WORD);
                if !emit(token) {
                    return;
                }
            }
        }
    }
}
