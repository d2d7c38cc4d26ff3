//! `classic`, and the removal of the English `'s`.

use crate::RequestError;
use crate::analysis::chain::{Each, Filter};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct Possessive;

#[derive(Debug)]
struct Classic;

/// Makes a filter like Lucene's `EnglishPossessiveFilter`.
pub(in crate::analysis) fn english() -> Filter {
    Filter::each(Possessive)
}

/// Makes `classic`, which has no settings: it removes `'s` from words and dots from acronyms.
pub fn make_classic(_: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    Ok(Filter::each(Classic).reading_kinds())
}

impl Each for Possessive {
    fn change(&self, token: &mut TokenBuf, _: &mut String) -> bool {
        let stripped = token
            .text
            .strip_suffix(['s', 'S'])
            .and_then(|rest| rest.strip_suffix(['\'', '\u{2019}', '\u{ff07}']));
        if let Some(length) = stripped.map(str::len) {
            token.text.truncate(length);
        }
        true
    }
}

impl Each for Classic {
    fn change(&self, token: &mut TokenBuf, _: &mut String) -> bool {
        match token.kind {
            "<APOSTROPHE>" if token.text.ends_with("'s") || token.text.ends_with("'S") => {
                token.text.truncate(token.text.len() - 2);
            }
            "<ACRONYM>" => token.text.retain(|c| c != '.'),
            _ => {}
        }
        true
    }
}
