//! `apostrophe`: removes an apostrophe and everything after it.

use crate::RequestError;
use crate::analysis::chain::{Each, Filter};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct Apostrophe;

/// Makes `apostrophe`, which has no settings.
pub fn make(_: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    Ok(Filter::each(Apostrophe))
}

impl Each for Apostrophe {
    fn change(&self, token: &mut TokenBuf, _: &mut String) -> bool {
        if let Some(at) = token.text.find(['\'', '\u{2019}']) {
            token.text.truncate(at);
        }
        true
    }
}
