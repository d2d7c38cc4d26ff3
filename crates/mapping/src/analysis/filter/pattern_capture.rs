//! `pattern_capture`: adds the groups that Java patterns capture in a token, at its position.
//!
//! Source: Lucene's `PatternCaptureGroupTokenFilter`.

use limber_text::pattern::Pattern;

use crate::RequestError;
use crate::analysis::chain::{Emit, Filter, Stage, Stream};
use crate::analysis::context::Context;
use crate::analysis::java_pattern;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct PatternCapture {
    patterns: Vec<Pattern>,
    keeps_original: bool,
}

/// Reads `patterns` (required) and `preserve_original` (true).
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    let patterns = match settings.value("patterns") {
        Some(serde_json::Value::String(one)) => Some(vec![one.clone()]),
        _ => settings.list("patterns"),
    };
    let patterns = patterns.ok_or_else(|| {
        RequestError::illegal_argument(format!(
            "required setting 'patterns' is missing for token filter [{}]",
            settings.name
        ))
    })?;
    let patterns: Result<_, _> = patterns.iter().map(|pattern| java_pattern::parse(pattern, None)).collect();
    Ok(Filter::stream(PatternCapture {
        patterns: patterns?,
        keeps_original: settings.bool("preserve_original", true)?,
    }))
}

struct Capture<'a>(&'a PatternCapture);

impl Stream for PatternCapture {
    fn start(&self) -> Box<dyn Stage + '_> {
        Box::new(Capture(self))
    }
}

impl Stage for Capture<'_> {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        // The start, the end and the pattern of each group, in the order in which they are emitted.
        let mut found: Vec<(usize, usize, usize, usize)> = Vec::new();
        for (number, pattern) in self.0.patterns.iter().enumerate() {
            let goes_on = java_pattern::each(pattern, &token.text, |groups| {
                for (group, range) in groups.iter().enumerate().skip(1) {
                    if let Some((start, end)) = range
                        && start < end
                        && !(self.0.keeps_original && (*start, *end) == (0, token.text.len()))
                    {
                        found.push((*start, number, group, *end));
                    }
                }
                true
            });
            if !goes_on {
                return false;
            }
        }
        found.sort_by_key(|(start, ..)| *start);
        let mut increment = token.increment;
        if (self.0.keeps_original || found.is_empty()) && !emit(&mut token.clone()) {
            return false;
        }
        if self.0.keeps_original {
            increment = 0;
        }
        found.iter().all(|(start, _, _, end)| {
            let mut part = token.like(token.text[*start..*end].to_owned());
            part.increment = std::mem::take(&mut increment);
            emit(&mut part)
        })
    }
}
