//! `simple_pattern` and `simple_pattern_split`: tokens are the matches of Lucene's own regular expressions,
//! or the text between them.
//!
//! Source: Lucene's `SimplePatternTokenizer` and `SimplePatternSplitTokenizer`. The longest match at a
//! position counts.

use std::sync::Arc;

use limber_text::automaton::{Regexp, RegexpOptions};
use limber_work as work;

use super::Tokenizer;
use crate::RequestError;
use crate::analysis::chain::Emit;
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;
use crate::analysis::token::WORD;

#[derive(Debug)]
struct SimplePattern {
    pattern: Regexp,
    splits: bool,
}

/// Makes `simple_pattern`. Reads `pattern`; tokens are the matches.
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<Arc<dyn Tokenizer>, RequestError> {
    of(settings, false)
}

/// Makes `simple_pattern_split`. Reads `pattern`; tokens are the text between the matches.
pub fn make_split(settings: &Settings<'_>, _: &Context<'_>) -> Result<Arc<dyn Tokenizer>, RequestError> {
    of(settings, true)
}

fn of(settings: &Settings<'_>, splits: bool) -> Result<Arc<dyn Tokenizer>, RequestError> {
    let source = settings.text_or("pattern", "");
    let pattern = Regexp::parse(&source, RegexpOptions::default())
        .map_err(|error| RequestError::illegal_argument(error.to_string()))?;
    Ok(Arc::new(SimplePattern { pattern, splits }))
}

/// Number of characters examined in vain between two checks for cancellation.
const STEPS_BEFORE_CHECK: usize = 1 << 20;

impl Tokenizer for SimplePattern {
    fn split(&self, text: &str, _: &mut String, token: &mut TokenBuf, emit: Emit<'_>) {
        let (mut at, mut read) = (0, 0);
        let mut steps = 0;
        while let Some(c) = text[at..].chars().next() {
            let (found, is_open) = self.pattern.longest(&text[at..]);
            steps += if is_open { text.len() - at } else { found.unwrap_or(1) };
            if steps > STEPS_BEFORE_CHECK {
                steps = 0;
                if !work::analysis_goes_on() {
                    return;
                }
            }
            match found {
                Some(length) => {
                    let (start, end) = if self.splits { (read, at) } else { (at, at + length) };
                    at += length;
                    read = at;
                    if start < end {
                        token.cut(text, start, end, WORD);
                        if !emit(token) {
                            return;
                        }
                    }
                }
                // If a candidate reaches the end of the text without a match, tokenization ends.
                None if is_open => break,
                None => at += c.len_utf8(),
            }
        }
        if self.splits && read < text.len() {
            token.cut(text, read, text.len(), WORD);
            emit(token);
        }
    }
}
