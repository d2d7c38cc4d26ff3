//! `char_group`: splits a text at some characters, or at classes of characters.

use std::sync::Arc;

use super::Tokenizer;
use super::cut::{is_java_whitespace, is_letter, length_max, runs};
use crate::RequestError;
use crate::analysis::chain::Emit;
use crate::analysis::char_filter::unescaped_char;
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;
use crate::analysis::unicode;

#[derive(Debug, Default)]
struct CharGroup {
    characters: Vec<char>,
    whitespace: bool,
    letter: bool,
    digit: bool,
    punctuation: bool,
    symbol: bool,
    length_max: usize,
}

/// Reads `tokenize_on_chars` (characters, escapes such as `\n`, and the classes `letter`, `digit`,
/// `whitespace`, `punctuation` and `symbol`) and `max_token_length`.
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<Arc<dyn Tokenizer>, RequestError> {
    let mut group = CharGroup { length_max: length_max(settings)?, ..CharGroup::default() };
    for part in settings.list("tokenize_on_chars").unwrap_or_default() {
        let mut chars = part.chars();
        let (first, second) = (chars.next(), chars.next());
        match (first, second, part.as_str()) {
            (None, ..) => {
                return Err(RequestError::illegal_argument(
                    "[tokenize_on_chars] cannot contain empty characters",
                ));
            }
            (Some(only), None, _) => group.characters.push(only),
            (Some('\\'), ..) => group.characters.push(unescaped_char(&part)?),
            (_, _, "letter") => group.letter = true,
            (_, _, "digit") => group.digit = true,
            (_, _, "whitespace") => group.whitespace = true,
            (_, _, "punctuation") => group.punctuation = true,
            (_, _, "symbol") => group.symbol = true,
            _ => {
                return Err(RequestError::illegal_argument(format!("Invalid escaped char in [{part}]")));
            }
        }
    }
    group.characters.sort_unstable();
    Ok(Arc::new(group))
}

impl CharGroup {
    fn cuts(&self, c: char) -> bool {
        self.characters.binary_search(&c).is_ok()
            || self.whitespace && is_java_whitespace(c)
            || self.letter && is_letter(c)
            || self.digit && unicode::is_digit(c)
            || self.punctuation && unicode::is_punctuation(c)
            || self.symbol && unicode::is_symbol(c)
    }
}

impl Tokenizer for CharGroup {
    fn split(&self, text: &str, _: &mut String, token: &mut TokenBuf, emit: Emit<'_>) {
        runs(text, self.length_max, token, emit, |c| !self.cuts(c));
    }
}
