//! `remove_duplicates`: removes a token that has already occurred at the same position.

use hashbrown::HashSet;

use crate::RequestError;
use crate::analysis::chain::{Emit, Filter, Stage, Stream};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct RemoveDuplicates;

#[derive(Default)]
struct Seen(HashSet<String>);

/// Makes `remove_duplicates`, which has no settings.
pub fn make(_: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    Ok(Filter::stream(RemoveDuplicates))
}

impl Stream for RemoveDuplicates {
    fn start(&self) -> Box<dyn Stage + '_> {
        Box::new(Seen::default())
    }
}

impl Stage for Seen {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        if token.increment > 0 {
            self.0.clear();
        }
        if token.increment == 0 && self.0.contains(token.text.as_str()) {
            return true;
        }
        self.0.insert(token.text.clone());
        emit(token)
    }
}
