//! `trim`: Java's `String.trim`, which removes characters up to U+0020 at both ends.

use limber_mapping::RequestError;

use super::super::document::json::push_escaped;
use super::super::options::Options;
use super::Processor;
use super::text::{TextProcessor, Transform};

#[derive(Debug)]
struct Trim;

/// Compiles the processor, whose options are those of [`super::text`].
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    TextProcessor::parse(options, Trim)
}

impl Transform for Trim {
    fn push(&self, text: &str, out: &mut String) -> Result<bool, RequestError> {
        Ok(push_escaped(out, text.trim_matches(|char: char| char <= ' ')))
    }
}
