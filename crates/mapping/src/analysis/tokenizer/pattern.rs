//! `pattern`: tokens are the text between the matches of a Java pattern, or a group of each match.

use std::sync::Arc;

use limber_text::pattern::Pattern;

use super::Tokenizer;
use crate::RequestError;
use crate::analysis::chain::Emit;
use crate::analysis::context::Context;
use crate::analysis::java_pattern;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;
use crate::analysis::token::WORD;

#[derive(Debug)]
struct ByPattern {
    pattern: Pattern,
    /// The group whose matches are the tokens; `None` if the pattern separates tokens.
    group: Option<usize>,
}

/// Reads `pattern` (`\W+`), `flags` and `group` (-1: the text between the matches).
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<Arc<dyn Tokenizer>, RequestError> {
    let group = settings.int("group", -1)?;
    let Some(pattern) = settings.text("pattern").or(Some("\\W+".into())) else {
        return Err(RequestError::illegal_argument(format!(
            "pattern is missing for [{}] tokenizer of type 'pattern'",
            settings.name
        )));
    };
    let pattern = java_pattern::parse(&pattern, settings.text("flags").as_deref())?;
    let groups = pattern.group_names().len().saturating_sub(1);
    let group = usize::try_from(group).ok();
    if group.is_some_and(|group| group > groups) {
        return Err(RequestError::illegal_argument(format!(
            "invalid group specified: pattern only has: {groups} capturing groups"
        )));
    }
    Ok(Arc::new(ByPattern { pattern, group }))
}

/// Creates a tokenizer with the pattern as separator.
pub(in crate::analysis) fn splitting(pattern: Pattern) -> Arc<dyn Tokenizer> {
    Arc::new(ByPattern { pattern, group: None })
}

impl Tokenizer for ByPattern {
    fn split(&self, text: &str, _: &mut String, token: &mut TokenBuf, emit: Emit<'_>) {
        let mut one = |start: usize, end: usize| {
            token.cut(text, start, end, WORD);
            emit(token)
        };
        match self.group {
            None => {
                let mut read = 0;
                let goes_on = java_pattern::each(&self.pattern, text, |groups| {
                    let (start, end) = groups[0].unwrap_or_default();
                    let goes_on = start <= read || one(read, start);
                    read = end;
                    goes_on
                });
                if goes_on && read < text.len() {
                    one(read, text.len());
                }
            }
            Some(group) => {
                java_pattern::each(&self.pattern, text, |groups| {
                    match groups.get(group).copied().flatten() {
                        Some((start, end)) if start < end => one(start, end),
                        _ => true,
                    }
                });
            }
        }
    }
}
