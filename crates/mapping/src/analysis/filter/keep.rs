//! `keep` and `keep_types`: only keep tokens that are in a list of words, or that have certain types.

use hashbrown::HashSet;

use super::Words;
use crate::RequestError;
use crate::analysis::chain::{Each, Filter};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct Keep(Words);

#[derive(Debug)]
struct KeepTypes {
    types: HashSet<String>,
    excludes: bool,
}

/// Makes `keep`. Reads `keep_words` or `keep_words_path`, one of which is required, and `keep_words_case`.
pub fn make(settings: &Settings<'_>, context: &Context<'_>) -> Result<Filter, RequestError> {
    let (words, path) = (settings.value("keep_words").is_some(), settings.value("keep_words_path").is_some());
    if words == path {
        return Err(RequestError::illegal_argument(
            "keep requires either `keep_words` or `keep_words_path` to be configured",
        ));
    }
    let words = Words::read(settings, context, "keep_words", settings.bool("keep_words_case", false)?)?;
    Ok(Filter::each(Keep(words.unwrap_or_else(|| Words::new([], false)))))
}

/// Makes `keep_types`. Reads `types`, which must not be empty, and `mode` (`include` or `exclude`).
pub fn make_types(settings: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    let types = settings
        .list("types")
        .filter(|types| !types.is_empty())
        .ok_or_else(|| RequestError::illegal_argument("keep_types requires `types` to be configured"))?;
    let excludes = match settings.text_or("mode", "include").to_lowercase().as_str() {
        "include" => false,
        "exclude" => true,
        other => {
            return Err(RequestError::illegal_argument(format!(
                "`keep_types` tokenfilter mode can only be [include] or [exclude] but was [{other}]."
            )));
        }
    };
    let types = types.into_iter().collect();
    Ok(Filter::each(KeepTypes { types, excludes }).reading_kinds())
}

impl Each for Keep {
    fn change(&self, token: &mut TokenBuf, scratch: &mut String) -> bool {
        self.0.has(&token.text, scratch)
    }
}

impl Each for KeepTypes {
    fn change(&self, token: &mut TokenBuf, _: &mut String) -> bool {
        self.types.contains(token.kind) != self.excludes
    }
}
