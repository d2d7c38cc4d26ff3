//! `urldecode`: Java's `URLDecoder.decode(text, UTF_8)`.

use limber_mapping::RequestError;
use limber_text::url;

use super::super::document::json::push_escaped;
use super::super::options::Options;
use super::Processor;
use super::text::{TextProcessor, Transform};

#[derive(Debug)]
struct UrlDecode;

/// Compiles the processor, whose options are those of [`super::text`].
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    TextProcessor::parse(options, UrlDecode)
}

impl Transform for UrlDecode {
    fn push(&self, text: &str, out: &mut String) -> Result<bool, RequestError> {
        Ok(push_escaped(out, &url::form_decoded(text)?))
    }
}
