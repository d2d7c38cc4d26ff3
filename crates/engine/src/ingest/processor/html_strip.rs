//! `html_strip`: "this text without its HTML". Source: Elasticsearch's `HtmlStripProcessor`.

use limber_mapping::RequestError;
use limber_mapping::analysis::strip_html;

use super::super::document::json::push_escaped;
use super::super::options::Options;
use super::Processor;
use super::text::{TextProcessor, Transform};

#[derive(Debug)]
struct HtmlStrip;

/// Compiles the processor, whose options are those of [`super::text`].
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    TextProcessor::parse(options, HtmlStrip)
}

impl Transform for HtmlStrip {
    /// Strips HTML. A string that lacks `<` or `>` is returned unchanged, with its character references.
    fn push(&self, text: &str, out: &mut String) -> Result<bool, RequestError> {
        match text.contains('<') && text.contains('>') {
            true => Ok(push_escaped(out, &strip_html(text))),
            false => Ok(push_escaped(out, text)),
        }
    }
}
