//! `standard`: tokens are the words of UAX #29.

use std::sync::Arc;

use super::Tokenizer;
use super::cut::{length_max, lower_and_pad, word_pieces};
use crate::RequestError;
use crate::analysis::ascii;
use crate::analysis::chain::Emit;
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;
use crate::analysis::token::UNSETTLED;

#[derive(Debug)]
struct Standard {
    length_max: usize,
}

/// Reads `max_token_length` (255 by default).
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<Arc<dyn Tokenizer>, RequestError> {
    Ok(Arc::new(Standard { length_max: length_max(settings)? }))
}

impl Tokenizer for Standard {
    fn split(&self, text: &str, scratch: &mut String, token: &mut TokenBuf, emit: Emit<'_>) {
        lower_and_pad(text, scratch);
        let mut goes_on = true;
        let mut one = |start: usize, end: usize| {
            if goes_on {
                token.cut(text, start, end, UNSETTLED);
                goes_on = emit(token);
            }
        };
        ascii::words(text, scratch.as_bytes(), |start, end, _| {
            if end - start <= self.length_max {
                one(start, end);
            } else {
                word_pieces(text, start, end, self.length_max, &mut one);
            }
        });
    }

    fn ends_at_blanks(&self) -> bool {
        true
    }

    fn standard_length_max(&self) -> Option<usize> {
        Some(self.length_max)
    }
}
