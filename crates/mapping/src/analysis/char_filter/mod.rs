//! Character filters: they change a whole text before it is tokenized. One file per filter, one line in
//! [`CHAR_FILTERS`].

mod entities;
mod html;
mod html_strip;
mod icu_normalizer;
mod mapping;
mod part;
mod pattern_replace;
mod rewrite;

use super::context::Context;
use super::settings::Settings;
use crate::RequestError;

pub use html::strip_html;
pub(super) use mapping::{of as mapping_of, unescaped_char};
pub(super) use part::{CharFilter, Rewrite};
pub(super) use rewrite::{Rewriter, Rewritten};

/// A type of character filter.
pub(super) struct CharFilterType {
    pub name: &'static str,
    /// Whether it can be used by this name without being declared.
    pub is_ready: bool,
    pub make: fn(&Settings<'_>, &Context<'_>) -> Result<CharFilter, RequestError>,
}

pub(super) const CHAR_FILTERS: &[CharFilterType] = &[
    CharFilterType { name: "html_strip", is_ready: true, make: html_strip::make },
    CharFilterType { name: "icu_normalizer", is_ready: true, make: icu_normalizer::make },
    CharFilterType { name: "mapping", is_ready: false, make: mapping::make },
    CharFilterType { name: "pattern_replace", is_ready: false, make: pattern_replace::make },
];
