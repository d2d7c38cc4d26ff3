//! `trim`: removes white space around a token.

use crate::RequestError;
use crate::analysis::chain::{Each, Filter};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct Trim;

/// Makes `trim`, which has no settings.
pub fn make(_: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    Ok(Filter::each(Trim).normalizing())
}

impl Each for Trim {
    fn change(&self, token: &mut TokenBuf, _: &mut String) -> bool {
        let is_blank = |c: char| c <= ' ';
        token.text.truncate(token.text.trim_end_matches(is_blank).len());
        let start = token.text.len() - token.text.trim_start_matches(is_blank).len();
        token.text.drain(..start);
        true
    }
}
