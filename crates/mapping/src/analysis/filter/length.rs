//! `length`: keeps tokens whose length in UTF-16 units lies between two numbers, both inclusive.

use crate::RequestError;
use crate::analysis::chain::{Each, Filter};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct Length {
    min: usize,
    max: usize,
}

/// Reads `min` (0) and `max` (no limit). Fails if `min` is larger.
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    let min =
        settings.count("min", 0, 0, |_| "minimum length must be greater than or equal to zero".into())?;
    let max = settings
        .count("max", i32::MAX, 0, |_| "maximum length must not be greater than minimum length".into())?;
    if min > max {
        return Err(RequestError::illegal_argument("maximum length must not be greater than minimum length"));
    }
    Ok(Filter::each(Length { min, max }))
}

impl Each for Length {
    fn change(&self, token: &mut TokenBuf, _: &mut String) -> bool {
        (self.min..=self.max).contains(&token.units())
    }
}
