//! Normalizers: a whole text in the form in which a keyword is indexed and looked for.

use std::borrow::Cow;

use super::analyzer::AnalyzedToken;
use super::char_filter::CharFilter;
use super::filter::Filter;

/// Character filters, then token filters, over a text that stays one term.
#[derive(Debug)]
pub struct Normalizer {
    pub name: String,
    char_filters: Vec<CharFilter>,
    filters: Vec<Filter>,
}

impl Normalizer {
    pub(super) fn new(name: &str, char_filters: Vec<CharFilter>, filters: Vec<Filter>) -> Normalizer {
        Normalizer { name: name.to_owned(), char_filters, filters }
    }

    /// The built-in one: lower case.
    pub(super) fn lowercase() -> Normalizer {
        Normalizer::new("lowercase", Vec::new(), vec![Filter::Lowercase])
    }

    /// The one token that `_analyze` shows.
    pub fn analyze(&self, text: &str) -> Vec<AnalyzedToken> {
        vec![AnalyzedToken {
            token: self.normalize(text).into_owned(),
            start_offset: 0,
            end_offset: text.encode_utf16().count() as u32,
            kind: "word",
            position: 0,
        }]
    }

    /// The text in normal form.
    pub fn normalize<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let is_lower = || text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
        if self.char_filters.is_empty() && matches!(self.filters[..], [Filter::Lowercase]) && is_lower() {
            return Cow::Borrowed(text);
        }
        let mut normal = text.to_owned();
        for filter in &self.char_filters {
            normal = filter.apply(&normal).text;
        }
        let mut other = String::new();
        for filter in &self.filters {
            filter.apply(&mut normal, &mut other);
        }
        Cow::Owned(normal)
    }
}
