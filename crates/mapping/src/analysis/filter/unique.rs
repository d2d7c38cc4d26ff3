//! `unique`: removes tokens that have already occurred in the text, or at the same position.

use hashbrown::HashSet;

use crate::RequestError;
use crate::analysis::chain::{Emit, End, Filter, Stage, Stream};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct Unique {
    at_position: bool,
}

#[derive(Default)]
struct Seen {
    at_position: bool,
    texts: HashSet<String>,
    skipped: u32,
}

/// Reads `only_on_same_position` (false).
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    Ok(Filter::stream(Unique { at_position: settings.bool("only_on_same_position", false)? }))
}

impl Stream for Unique {
    fn start(&self) -> Box<dyn Stage + '_> {
        Box::new(Seen { at_position: self.at_position, ..Seen::default() })
    }
}

impl Stage for Seen {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        if self.at_position && token.increment > 0 {
            self.texts.clear();
        }
        if self.texts.contains(token.text.as_str()) {
            self.skipped += token.increment;
            return true;
        }
        self.texts.insert(token.text.clone());
        token.increment += std::mem::take(&mut self.skipped);
        emit(token)
    }

    fn end(&mut self, End { trailing, .. }: End, _: Emit<'_>) -> u32 {
        trailing + self.skipped
    }
}
