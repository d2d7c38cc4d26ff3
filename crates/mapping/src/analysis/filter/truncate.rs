//! `truncate`: cuts tokens to a maximum number of UTF-16 units.

use crate::RequestError;
use crate::analysis::chain::{Each, Filter};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct Truncate {
    length: usize,
}

/// Reads `length`, which is required if the filter is declared. The built-in filter uses 10.
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    if settings.is_declared() && settings.value("length").is_none() {
        return Err(RequestError::illegal_argument("length parameter must be provided"));
    }
    let length =
        settings.count("length", 10, 1, |_| "length parameter must be a positive number: -1".into())?;
    Ok(Filter::each(Truncate { length }).knowing_keywords())
}

impl Each for Truncate {
    fn change(&self, token: &mut TokenBuf, _: &mut String) -> bool {
        if token.is_keyword || token.text.len() <= self.length {
            return true;
        }
        let mut units = 0;
        let end = token.text.char_indices().find(|(_, c)| {
            units += c.len_utf16();
            units > self.length
        });
        if let Some((at, _)) = end {
            token.text.truncate(at);
        }
        true
    }
}
