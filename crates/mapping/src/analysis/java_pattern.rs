//! Java's regular expressions, with the flags that Elasticsearch accepts.

use std::time::Instant;

use limber_text::pattern::{Groups, PATTERN_BYTES_MAX, Pattern};
use limber_work as work;

use crate::RequestError;

/// Charged for a text to which a pattern cannot be applied. It exceeds any limit, so the document is refused.
const REFUSED_BYTES: usize = 1 << 40;

/// Parses a pattern with flags that are separated by `|`.
pub(super) fn parse(source: &str, flags: Option<&str>) -> Result<Pattern, RequestError> {
    // A request may have thousands of them.
    work::check()?;
    if source.len() > PATTERN_BYTES_MAX {
        return Err(RequestError::bad_request("pattern_syntax_exception", "the pattern is too long"));
    }
    let mut inline = String::new();
    let mut is_literal = false;
    for flag in flags.unwrap_or_default().split('|').map(str::trim).filter(|flag| !flag.is_empty()) {
        match flag.to_ascii_uppercase().as_str() {
            "CASE_INSENSITIVE" => inline.push('i'),
            "MULTILINE" => inline.push('m'),
            "DOTALL" => inline.push('s'),
            "COMMENTS" | "COMMENT" => inline.push('x'),
            "LITERAL" => is_literal = true,
            // This is always the case.
            "UNICODE_CASE" | "UNICODE_CHAR_CLASS" | "UNICODE_CHARACTER_CLASS" => {}
            "CANON_EQ" | "UNIX_LINES" => {
                return Err(RequestError::unsupported(format!("flag [{flag}] of a pattern")));
            }
            _ => return Err(RequestError::illegal_argument(format!("Unknown regex flag [{flag}]"))),
        }
    }
    let body = if is_literal { regex::escape(source) } else { source.to_owned() };
    let body = if inline.contains('x') { format!("{body}\n") } else { body };
    let whole = if inline.is_empty() { body } else { format!("(?{inline}){body}") };
    Pattern::parse(&whole).map_err(|reason| RequestError::bad_request("pattern_syntax_exception", reason))
}

/// Refuses the document to which the text belongs. Returns false, so that analysis stops.
pub(super) fn refuse() -> bool {
    work::state_bytes(REFUSED_BYTES);
    false
}

/// Calls `found` with the groups of every match that Java's `Matcher.find` would return, until it returns
/// false. A text to which the pattern cannot be applied, or that takes too long, is refused.
pub(super) fn each(pattern: &Pattern, text: &str, mut found: impl FnMut(&Groups) -> bool) -> bool {
    let (mut from, mut since) = (Some(0), Instant::now());
    while let Some(at) = from {
        if !work::goes_on(&mut since) {
            return false;
        }
        let groups = match pattern.captures(text, at) {
            Ok(Some(groups)) => groups,
            Ok(None) => return true,
            Err(_) => return refuse(),
        };
        let Some((start, end)) = groups.first().copied().flatten() else { return true };
        if !found(&groups) {
            return false;
        }
        from = limber_text::pattern::after(text, start, end);
    }
    true
}

/// Whether the pattern matches anywhere in the text.
pub(super) fn finds(pattern: &Pattern, text: &str) -> bool {
    let mut found = false;
    each(pattern, text, |_| {
        found = true;
        false
    });
    found
}
