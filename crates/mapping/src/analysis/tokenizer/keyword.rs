//! `keyword`: the whole text is one token, even if it is empty.

use std::sync::Arc;

use super::Tokenizer;
use crate::RequestError;
use crate::analysis::chain::Emit;
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;
use crate::analysis::token::WORD;

#[derive(Debug)]
struct Keyword;

/// Checks `buffer_size`, which has no effect.
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<Arc<dyn Tokenizer>, RequestError> {
    match settings.int("buffer_size", 256)? {
        size @ ..=0 => {
            let reason = format!("maxTokenLen must be greater than 0 and less than 1048576 passed: {size}");
            Err(RequestError::illegal_argument(reason))
        }
        _ => Ok(Arc::new(Keyword)),
    }
}

impl Tokenizer for Keyword {
    fn split(&self, text: &str, _: &mut String, token: &mut TokenBuf, emit: Emit<'_>) {
        token.cut(text, 0, text.len(), WORD);
        emit(token);
    }
}
