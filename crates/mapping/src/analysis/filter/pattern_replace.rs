//! `pattern_replace`: replaces the matches of a Java pattern in a token.

use limber_text::pattern::{Pattern, Replacement};
use limber_work as work;

use crate::RequestError;
use crate::analysis::chain::{Each, Filter};
use crate::analysis::context::Context;
use crate::analysis::java_pattern;
use crate::analysis::resources::fail;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct PatternReplace {
    pattern: Pattern,
    replacement: Replacement,
    is_all: bool,
}

/// Reads `pattern` (required), `flags`, `replacement` (nothing) and `all` (true: replaces every match, not
/// only the first).
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    let pattern = settings.text("pattern").ok_or_else(|| {
        RequestError::illegal_argument(format!(
            "pattern is missing for [{}] token filter of type 'pattern_replace'",
            settings.name
        ))
    })?;
    Ok(Filter::each(PatternReplace {
        pattern: java_pattern::parse(&pattern, settings.text("flags").as_deref())?,
        replacement: Replacement::parse(&settings.text_or("replacement", "")),
        is_all: settings.bool("all", true)?,
    })
    .normalizing())
}

impl Each for PatternReplace {
    fn change(&self, token: &mut TokenBuf, _: &mut String) -> bool {
        let replaced = match self.is_all {
            true => self.pattern.replace_all(&token.text, &self.replacement),
            false => self.pattern.replace_first(&token.text, &self.replacement),
        };
        match replaced {
            Ok(text) => {
                let more = text.len().saturating_sub(token.text.len());
                token.text = text;
                more == 0 || work::state_bytes(more)
            }
            Err(error) => fail(error.into()),
        }
    }
}
