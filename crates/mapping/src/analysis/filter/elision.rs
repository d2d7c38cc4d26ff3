//! `elision`: removes articles that are joined to a word by an apostrophe.

use super::Words;
use crate::RequestError;
use crate::analysis::chain::{Each, Filter};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

/// Lucene's `FrenchAnalyzer.DEFAULT_ARTICLES`, and those of other languages.
const ARTICLES: &[(&str, &str)] = &[
    ("catalan", "d l m n s t"),
    ("french", "l m t qu n s j d c jusqu quoiqu lorsqu puisqu"),
    ("irish", "d m b"),
    ("italian", "c l all dall dell nell sull coll pell gl agl dagl degl negl sugl un m t s v d"),
];

#[derive(Debug)]
struct Elision(Words);

/// Reads `articles` or `articles_path`, and `articles_case`. Without a declaration the articles are French.
pub fn make(settings: &Settings<'_>, context: &Context<'_>) -> Result<Filter, RequestError> {
    let ignores_case = settings.bool("articles_case", false)?;
    Ok(match Words::read(settings, context, "articles", ignores_case)? {
        Some(words) => Filter::each(Elision(words)).normalizing(),
        None if settings.is_declared() => {
            return Err(RequestError::illegal_argument(
                "elision filter requires [articles] or [articles_path] setting",
            ));
        }
        None => articles("french"),
    })
}

/// Makes a filter with the articles of a language.
pub(in crate::analysis) fn articles(language: &str) -> Filter {
    let list = ARTICLES.iter().find(|(known, _)| *known == language).map_or("", |(_, list)| list);
    Filter::each(Elision(Words::new(list.split(' ').map(str::to_owned), true))).normalizing()
}

impl Each for Elision {
    fn change(&self, token: &mut TokenBuf, scratch: &mut String) -> bool {
        if let Some(at) = token.text.find(['\'', '\u{2019}'])
            && self.0.has(&token.text[..at], scratch)
        {
            let width = token.text[at..].chars().next().map_or(0, char::len_utf8);
            token.text.drain(..at + width);
        }
        true
    }
}
