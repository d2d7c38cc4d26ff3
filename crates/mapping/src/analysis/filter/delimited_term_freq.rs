//! `delimited_term_freq`: removes a number after a delimiter from the token and makes it the token's
//! frequency.
//!
//! Source: Lucene's `DelimitedTermFrequencyTokenFilter`.

use crate::RequestError;
use crate::analysis::chain::{Each, Filter};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct DelimitedTermFreq {
    delimiter: char,
}

/// Reads `delimiter` (`|`), one character.
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    let text = settings.text_or("delimiter", "|");
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(delimiter), None) => Ok(Filter::each(DelimitedTermFreq { delimiter })),
        _ => Err(RequestError::illegal_argument(
            "Setting [delimiter] must be a single, non-null character. The provided value was null",
        )),
    }
}

impl Each for DelimitedTermFreq {
    fn change(&self, token: &mut TokenBuf, _: &mut String) -> bool {
        let Some((text, frequency)) = token.text.split_once(self.delimiter) else { return true };
        let length = text.len();
        let frequency = frequency.parse::<i32>().ok().filter(|frequency| *frequency > 0);
        token.frequency = frequency.map_or(0, |frequency| frequency as u32);
        token.text.truncate(length);
        true
    }
}
