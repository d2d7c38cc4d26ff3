//! `gsub`: "replace every match of the pattern". Source: Elasticsearch's `GsubProcessor` over
//! `Matcher.replaceAll`.

use limber_mapping::RequestError;

use super::super::document::json::push_escaped;
use super::super::options::Options;
use super::Processor;
use super::text::{TextProcessor, Transform};
use limber_text::pattern::{Pattern, Replacement};

#[derive(Debug)]
struct Gsub {
    pattern: Pattern,
    replacement: Replacement,
}

/// Compiles the processor. Options: those of [`super::text`], `pattern` and `replacement`.
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let pattern = options.string("pattern")?;
    let pattern = Pattern::parse(&pattern)
        .map_err(|reason| options.error("pattern", &format!("Invalid regex pattern. {reason}")))?;
    let replacement = Replacement::parse(&options.string("replacement")?);
    TextProcessor::parse(options, Gsub { pattern, replacement })
}

impl Transform for Gsub {
    fn push(&self, text: &str, out: &mut String) -> Result<bool, RequestError> {
        Ok(push_escaped(out, &self.pattern.replace_all(text, &self.replacement)?))
    }
}
