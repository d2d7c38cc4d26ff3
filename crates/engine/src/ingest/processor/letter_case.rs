//! `uppercase` and `lowercase`: Java's `toUpperCase(Locale.ROOT)` and `toLowerCase(Locale.ROOT)`.

use limber_mapping::RequestError;

use super::super::document::json::push_escaped;
use super::super::options::Options;
use super::Processor;
use super::text::{TextProcessor, Transform};

#[derive(Debug)]
struct Uppercase;

#[derive(Debug)]
struct Lowercase;

/// Compiles the processor, whose options are those of [`super::text`].
pub fn parse_uppercase(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    TextProcessor::parse(options, Uppercase)
}

/// Compiles the processor, whose options are those of [`super::text`].
pub fn parse_lowercase(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    TextProcessor::parse(options, Lowercase)
}

impl Transform for Uppercase {
    #[inline]
    fn push(&self, text: &str, out: &mut String) -> Result<bool, RequestError> {
        let start = out.len();
        if text.is_ascii() && !push_escaped(out, text) {
            out[start..].make_ascii_uppercase();
            return Ok(false);
        }
        out.truncate(start);
        Ok(push_escaped(out, &text.to_uppercase()))
    }
}

impl Transform for Lowercase {
    #[inline]
    fn push(&self, text: &str, out: &mut String) -> Result<bool, RequestError> {
        let start = out.len();
        if text.is_ascii() && !push_escaped(out, text) {
            out[start..].make_ascii_lowercase();
            return Ok(false);
        }
        out.truncate(start);
        Ok(push_escaped(out, &text.to_lowercase()))
    }
}
