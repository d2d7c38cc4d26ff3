//! `reverse`: reverses the characters of each token.

use crate::RequestError;
use crate::analysis::chain::{Each, Filter};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct Reverse;

/// Makes `reverse`, which has no settings.
pub fn make(_: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    Ok(Filter::each(Reverse))
}

impl Each for Reverse {
    fn change(&self, token: &mut TokenBuf, scratch: &mut String) -> bool {
        scratch.clear();
        scratch.extend(token.text.chars().rev());
        std::mem::swap(&mut token.text, scratch);
        true
    }
}
