//! Normalizers: they convert a whole string to the form in which a keyword is indexed and searched.

use std::borrow::Cow;

use super::analyzer::normalized;
use super::chain::Filter;
use super::char_filter::CharFilter;
use super::token::{Analyzed, AnalyzedToken, WORD};

/// Character filters followed by token filters, applied to a string that stays one term.
#[derive(Debug)]
pub struct Normalizer {
    /// The name that fields and requests use.
    pub name: String,
    char_filters: Vec<CharFilter>,
    filters: Vec<Filter>,
    /// Whether it only converts to lower case.
    is_lowercase: bool,
}

impl Normalizer {
    pub(super) fn new(name: &str, char_filters: Vec<CharFilter>, filters: Vec<Filter>) -> Normalizer {
        Normalizer { name: name.to_owned(), char_filters, filters, is_lowercase: false }
    }

    /// Creates a normalizer that only converts to lower case.
    pub(super) fn lowercase(name: &str, filter: Filter) -> Normalizer {
        Normalizer { is_lowercase: true, ..Normalizer::new(name, Vec::new(), vec![filter]) }
    }

    /// Returns the single token, as `_analyze` shows it.
    pub fn analyze(&self, text: &str) -> Analyzed {
        let token = AnalyzedToken {
            token: self.normalize(text).into_owned(),
            start_offset: 0,
            end_offset: text.encode_utf16().count() as u32,
            kind: WORD,
            position: 0,
            position_length: 1,
            is_keyword: None,
            frequency: 1,
            payload: None,
        };
        Analyzed { tokens: vec![token], trailing: 0 }
    }

    /// Returns the string in normal form.
    pub fn normalize<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let is_lower = || text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
        if self.is_lowercase && is_lower() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(normalized(&self.char_filters, &self.filters, text))
    }
}
