//! `letter` and `lowercase`: tokens are runs of letters (Java's `Character.isLetter`).

use std::sync::Arc;

use super::Tokenizer;
use super::cut::{TOKEN_LENGTH_MAX, is_letter, runs};
use crate::RequestError;
use crate::analysis::chain::Emit;
use crate::analysis::context::Context;
use crate::analysis::lowercase_into;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct Letter {
    lowers: bool,
}

/// Makes `letter`, which has no settings.
pub fn make(_: &Settings<'_>, _: &Context<'_>) -> Result<Arc<dyn Tokenizer>, RequestError> {
    Ok(Arc::new(Letter { lowers: false }))
}

/// Makes `lowercase`, which has no settings: tokens like those of `letter`, in lower case.
pub fn make_lowercase(_: &Settings<'_>, _: &Context<'_>) -> Result<Arc<dyn Tokenizer>, RequestError> {
    Ok(Arc::new(Letter { lowers: true }))
}

impl Tokenizer for Letter {
    fn split(&self, text: &str, scratch: &mut String, token: &mut TokenBuf, emit: Emit<'_>) {
        let mut emit = |token: &mut TokenBuf| {
            if self.lowers {
                scratch.clear();
                lowercase_into(&token.text, scratch);
                std::mem::swap(scratch, &mut token.text);
            }
            emit(token)
        };
        runs(text, TOKEN_LENGTH_MAX, token, &mut emit, is_letter);
    }

    fn ends_at_blanks(&self) -> bool {
        true
    }
}
