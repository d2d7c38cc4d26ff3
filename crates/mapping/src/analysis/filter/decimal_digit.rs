//! `decimal_digit`: replaces the digits of any script by 0 to 9.

use crate::RequestError;
use crate::analysis::chain::{Each, Filter};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;
use crate::analysis::unicode::digit_value;

#[derive(Debug)]
struct DecimalDigit;

/// Makes `decimal_digit`, which has no settings.
pub fn make(_: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    Ok(Filter::each(DecimalDigit).normalizing())
}

impl Each for DecimalDigit {
    fn change(&self, token: &mut TokenBuf, scratch: &mut String) -> bool {
        if !token.text.is_ascii() {
            scratch.clear();
            scratch.extend(
                token
                    .text
                    .chars()
                    .map(|c| digit_value(c).and_then(|value| char::from_digit(value, 10)).unwrap_or(c)),
            );
            std::mem::swap(&mut token.text, scratch);
        }
        true
    }
}
