//! `limit`: keeps a number of tokens at the beginning of a text.

use crate::RequestError;
use crate::analysis::chain::{Emit, Filter, Stage, Stream};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct Limit {
    count: usize,
}

struct Counted(usize);

/// Reads `max_token_count` (1) and checks `consume_all_tokens`.
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    let count =
        settings.count("max_token_count", 1, 1, |_| "maxTokenCount must be greater than zero".into())?;
    // The output does not depend on whether the rest is consumed.
    settings.bool("consume_all_tokens", false)?;
    Ok(Filter::stream(Limit { count }))
}

impl Stream for Limit {
    fn start(&self) -> Box<dyn Stage + '_> {
        Box::new(Counted(self.count))
    }
}

impl Stage for Counted {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        let Some(left) = self.0.checked_sub(1) else { return false };
        self.0 = left;
        emit(token) && left > 0
    }
}
