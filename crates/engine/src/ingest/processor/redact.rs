//! `redact`: "hide the parts of this text that look like addresses, names or numbers of cards".
//!
//! Source: Elasticsearch's `RedactProcessor`.

use limber_mapping::RequestError;
use limber_text::grok::{Ecs, Grok, library};
use limber_work as work;

use super::super::document::IngestDocument;
use super::super::document::path::FieldPath;
use super::super::options::Options;
use super::grok::definitions;
use super::text::string_field;
use super::{Flow, Processor};

#[derive(Debug)]
struct Redact {
    field: FieldPath,
    expressions: Vec<Expression>,
    ignore_missing: bool,
    /// Set to true if anything was redacted (`trace_redact`).
    trace: Option<FieldPath>,
}

/// A pattern and what takes the place of its matches.
#[derive(Debug)]
struct Expression {
    grok: Grok,
    replacement: String,
}

/// A part of the text that one or more matches cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    start: usize,
    end: usize,
    /// Length of the longest match in it, whose expression names the part.
    longest: usize,
    expression: usize,
}

/// Compiles the processor. Options: `field` and `patterns`; optional `pattern_definitions`, `prefix` (`<`),
/// `suffix` (`>`), `ignore_missing` (true), `trace_redact` (false) and `skip_if_unlicensed`, which has no
/// effect because there are no licences.
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let field = options.path("field")?;
    let patterns = options.strings("patterns")?;
    let prefix = options.string_or("prefix", "<")?;
    let suffix = options.string_or("suffix", ">")?;
    let ignore_missing = options.bool_or("ignore_missing", true)?;
    let trace = options.bool_or("trace_redact", false)?;
    options.bool_or("skip_if_unlicensed", false)?;
    if patterns.is_empty() {
        return Err(options.error("patterns", "List of patterns must not be empty"));
    }
    let definitions = definitions(options)?;
    let mut expressions = Vec::with_capacity(patterns.len());
    for pattern in &patterns {
        work::check()?;
        let refused = |reason: &str| options.error("patterns", &format!("Invalid regex pattern. {reason}"));
        let grok =
            Grok::parse(pattern, library(Ecs::Disabled), &definitions).map_err(|reason| refused(&reason))?;
        let name = grok.last_name().ok_or_else(|| refused(&format!("[{pattern}] names no capture")))?;
        let replacement = format!("{prefix}{name}{suffix}");
        expressions.push(Expression { grok, replacement });
    }
    let trace = trace.then(|| FieldPath::parse("_ingest._redact._is_redacted")).transpose()?;
    Ok(Box::new(Redact { field, expressions, ignore_missing, trace }))
}

impl Processor for Redact {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let Some(text) = string_field(document, &self.field, self.ignore_missing, "cannot redact it.")?
        else {
            return Ok(Flow::Continue);
        };
        let parts = self.parts(&text)?;
        if parts.is_empty() {
            return Ok(Flow::Continue);
        }
        let redacted = self.redacted(document, &text, &parts)?;
        let value = document.make_string(&redacted)?;
        self.field.set(document, value)?;
        if let Some(trace) = &self.trace {
            let yes = document.make_bool(true)?;
            trace.set(document, yes)?;
        }
        Ok(Flow::Continue)
    }
}

impl Redact {
    /// Returns the parts of `text` that are redacted, ascending and without overlaps.
    fn parts(&self, text: &str) -> Result<Vec<Part>, RequestError> {
        let mut matches = Vec::new();
        for (expression, known) in self.expressions.iter().enumerate() {
            let mut refusal = None;
            known.grok.find_each(text, |start, end| {
                if start == end || refusal.is_some() {
                    return;
                }
                if matches.len() == matches.capacity() {
                    // The list is copied to one of twice the size, and sorted later.
                    refusal = work::claim((matches.len() * 3 * size_of::<Part>()) as u64).err();
                }
                matches.push(Part { start, end, longest: end - start, expression });
            })?;
            if let Some(refusal) = refusal {
                return Err(refusal.into());
            }
        }
        matches.sort_by_key(|part| part.start);
        Ok(merged(matches))
    }

    fn redacted(
        &self,
        document: &mut IngestDocument<'_>,
        text: &str,
        parts: &[Part],
    ) -> Result<String, RequestError> {
        let replacement = |part: &Part| self.expressions[part.expression].replacement.as_str();
        let added: usize = parts.iter().map(|part| replacement(part).len()).sum();
        document.ask_for_text(text.len() + added)?;
        let mut redacted = String::with_capacity(text.len() + added);
        let mut from = 0;
        for part in parts {
            redacted.push_str(&text[from..part.start]);
            redacted.push_str(replacement(part));
            from = part.end;
        }
        redacted.push_str(&text[from..]);
        Ok(redacted)
    }
}

/// Merges overlapping parts, which ascend by their start. The longest of them names the result, and the first
/// of equally long ones.
fn merged(parts: Vec<Part>) -> Vec<Part> {
    let mut merged: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        match merged.last_mut() {
            Some(last) if part.start < last.end => {
                last.end = last.end.max(part.end);
                if part.longest > last.longest {
                    (last.longest, last.expression) = (part.longest, part.expression);
                }
            }
            _ => merged.push(part),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_of_overlapping_matches_names_the_part() {
        let part = |start, end, expression| Part { start, end, longest: end - start, expression };
        let parts = vec![part(0, 3, 0), part(2, 9, 1), part(8, 10, 2), part(10, 12, 3), part(12, 14, 4)];
        let merged: Vec<(usize, usize, usize)> =
            merged(parts).iter().map(|part| (part.start, part.end, part.expression)).collect();
        assert_eq!(merged, [(0, 10, 1), (10, 12, 3), (12, 14, 4)]);
    }
}
