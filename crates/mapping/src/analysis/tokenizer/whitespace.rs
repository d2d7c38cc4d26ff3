//! `whitespace`: tokens are runs of characters that are not white space (Java's `Character.isWhitespace`).

use std::sync::Arc;

use super::Tokenizer;
use super::cut::{is_java_whitespace, length_max, runs};
use crate::RequestError;
use crate::analysis::chain::Emit;
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct Whitespace {
    length_max: usize,
}

/// Reads `max_token_length` (255 by default).
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<Arc<dyn Tokenizer>, RequestError> {
    Ok(Arc::new(Whitespace { length_max: length_max(settings)? }))
}

impl Tokenizer for Whitespace {
    fn split(&self, text: &str, _: &mut String, token: &mut TokenBuf, emit: Emit<'_>) {
        runs(text, self.length_max, token, emit, |c| !is_java_whitespace(c));
    }

    fn ends_at_blanks(&self) -> bool {
        true
    }
}
