//! `stemmer_override`: replaces some words by others, which stemmers leave unchanged.

use hashbrown::HashMap;

use crate::RequestError;
use crate::analysis::chain::{Each, Filter};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct StemmerOverride(HashMap<String, String>);

/// Reads the rules `words => stem` of `rules` or `rules_path`, one of which is required.
pub fn make(settings: &Settings<'_>, context: &Context<'_>) -> Result<Filter, RequestError> {
    let rules = context.list(settings, "rules")?.ok_or_else(|| {
        RequestError::illegal_argument(
            "stemmer override filter requires either `rules` or `rules_path` to be configured",
        )
    })?;
    let mut stems = HashMap::new();
    for rule in &rules {
        let invalid = || RequestError::illegal_argument(format!("Invalid Keyword override Rule:{rule}"));
        let (words, stem) = rule.split_once("=>").ok_or_else(invalid)?;
        let stem = stem.trim();
        if stem.is_empty() || stem.contains("=>") || stem.contains(',') {
            return Err(invalid());
        }
        for word in words.split(',').map(str::trim) {
            if word.is_empty() {
                return Err(invalid());
            }
            stems.entry(word.to_owned()).or_insert_with(|| stem.to_owned());
        }
    }
    Ok(Filter::each(StemmerOverride(stems)).knowing_keywords())
}

impl Each for StemmerOverride {
    fn change(&self, token: &mut TokenBuf, _: &mut String) -> bool {
        if !token.is_keyword
            && let Some(stem) = self.0.get(token.text.as_str())
        {
            token.set(stem);
            token.is_keyword = true;
        }
        true
    }
}
