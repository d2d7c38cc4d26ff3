//! Java's regular expressions with the flags that Elasticsearch names.

use std::time::Instant;

use limber_text::pattern::{Groups, Pattern};
use limber_work as work;

use crate::RequestError;

/// What is stated to be made by a text that a pattern cannot be run over: nothing has room for it, so that
/// its document is refused.
const REFUSED_BYTES: usize = 1 << 40;

/// A pattern with flags between bars.
pub(super) fn parse(source: &str, flags: Option<&str>) -> Result<Pattern, RequestError> {
    let mut inline = String::new();
    let mut is_literal = false;
    for flag in flags.unwrap_or_default().split('|').map(str::trim).filter(|flag| !flag.is_empty()) {
        match flag.to_ascii_uppercase().as_str() {
            "CASE_INSENSITIVE" => inline.push('i'),
            "MULTILINE" => inline.push('m'),
            "DOTALL" => inline.push('s'),
            "COMMENTS" | "COMMENT" => inline.push('x'),
            "LITERAL" => is_literal = true,
            // So it is in any case.
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

/// Refuses the document that the text is of; always false: nothing goes on.
pub(super) fn refuse() -> bool {
    work::makes(REFUSED_BYTES);
    false
}

/// Calls `found` with the groups of every match that Java's `Matcher.find` would give, until it says that no
/// more are wanted: false. A text that the pattern cannot be run over, or takes too long for, is refused.
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

/// Whether the pattern is found in the text.
pub(super) fn finds(pattern: &Pattern, text: &str) -> bool {
    let mut found = false;
    each(pattern, text, |_| {
        found = true;
        false
    });
    found
}
