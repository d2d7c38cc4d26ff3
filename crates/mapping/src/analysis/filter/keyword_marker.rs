//! `keyword_marker`: marks tokens that stemmers leave unchanged.

use limber_text::pattern::Pattern;

use super::Words;
use crate::RequestError;
use crate::analysis::chain::{Each, Filter};
use crate::analysis::context::Context;
use crate::analysis::java_pattern;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
enum KeywordMarker {
    Words(Words),
    Pattern(Pattern),
}

/// Reads `keywords`, `keywords_path` or `keywords_pattern`, one of which is required, and `ignore_case`.
pub fn make(settings: &Settings<'_>, context: &Context<'_>) -> Result<Filter, RequestError> {
    if let Some(pattern) = settings.text("keywords_pattern") {
        if settings.value("keywords").is_some() || settings.value("keywords_path").is_some() {
            return Err(RequestError::illegal_argument(
                "cannot specify both `keywords_pattern` and `keywords` or `keywords_path`",
            ));
        }
        let pattern = java_pattern::parse(&format!("^(?:{pattern})$"), None)?;
        return Ok(Filter::each(KeywordMarker::Pattern(pattern)).knowing_keywords());
    }
    let words = Words::read(settings, context, "keywords", settings.bool("ignore_case", false)?)?.ok_or_else(|| {
        RequestError::illegal_argument(
            "keyword filter requires either `keywords`, `keywords_path`, or `keywords_pattern` to be configured",
        )
    })?;
    Ok(of(words))
}

/// Makes a filter with these words.
pub(in crate::analysis) fn of(words: Words) -> Filter {
    Filter::each(KeywordMarker::Words(words)).knowing_keywords()
}

impl Each for KeywordMarker {
    fn change(&self, token: &mut TokenBuf, scratch: &mut String) -> bool {
        token.is_keyword |= match self {
            KeywordMarker::Words(words) => words.has(&token.text, scratch),
            KeywordMarker::Pattern(pattern) => java_pattern::finds(pattern, &token.text),
        };
        true
    }
}
