//! `keyword_repeat`: emits every token twice at its position; the first one is marked as a keyword, which
//! stemmers leave unchanged.

use crate::RequestError;
use crate::analysis::chain::{Emit, Filter, Stage, Stream};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct KeywordRepeat;

/// Makes `keyword_repeat`, which has no settings.
pub fn make(_: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    Ok(Filter::stream(KeywordRepeat).knowing_keywords())
}

impl Stream for KeywordRepeat {
    fn start(&self) -> Box<dyn Stage + '_> {
        Box::new(KeywordRepeat)
    }
}

impl Stage for KeywordRepeat {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        let mut twin = token.clone();
        token.is_keyword = true;
        (twin.is_keyword, twin.increment) = (false, 0);
        emit(token) && emit(&mut twin)
    }
}
