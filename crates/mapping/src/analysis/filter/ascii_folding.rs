//! `asciifolding`: replaces characters by similar ASCII characters.

use super::folding::fold_into;
use crate::RequestError;
use crate::analysis::chain::{Each, Emit, Filter, Stage, Stream};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct AsciiFolding;

/// Emits the original token in addition to the folded one.
#[derive(Debug)]
struct Both;

/// Reads `preserve_original` (false): whether the original token is kept in addition to its folded form.
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    Ok(match settings.bool("preserve_original", false)? {
        false => Filter::each(AsciiFolding).normalizing(),
        true => Filter::stream(Both).normalizing_by(AsciiFolding),
    })
}

impl Each for AsciiFolding {
    fn change(&self, token: &mut TokenBuf, scratch: &mut String) -> bool {
        if !token.text.is_ascii() {
            scratch.clear();
            fold_into(&token.text, scratch);
            std::mem::swap(&mut token.text, scratch);
        }
        true
    }
}

impl Stream for Both {
    fn start(&self) -> Box<dyn Stage + '_> {
        Box::new(Both)
    }
}

impl Stage for Both {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        let mut folded = String::new();
        fold_into(&token.text, &mut folded);
        if folded == token.text {
            return emit(token);
        }
        let mut original = token.clone();
        original.increment = 0;
        token.text = folded;
        emit(token) && emit(&mut original)
    }
}
