//! `html_strip`: removes HTML from a text.

use super::html::without_html;
use super::{CharFilter, Rewrite, Rewritten};
use crate::RequestError;
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;

#[derive(Debug)]
struct HtmlStrip {
    /// Sorted and in lower case.
    escaped_tags: Vec<String>,
}

/// Reads `escaped_tags`, the names of tags that are kept; none by default.
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<CharFilter, RequestError> {
    let mut escaped_tags = settings.list("escaped_tags").unwrap_or_default();
    escaped_tags.iter_mut().for_each(|tag| tag.make_ascii_lowercase());
    escaped_tags.sort_unstable();
    Ok(CharFilter::new(HtmlStrip { escaped_tags }, false))
}

impl Rewrite for HtmlStrip {
    fn apply(&self, text: &str) -> Rewritten {
        without_html(text, &self.escaped_tags)
    }
}
