//! Patterns of names in roles: `logs-*`, `log?`, `/logs-[0-9]+/`.
//!
//! Source: `Automatons#pattern`.

use limber_mapping::RequestError;
use regex::{Regex, RegexBuilder};

use crate::Result;

/// Maximum size in bytes of a compiled regular expression; names are short.
const REGEX_BYTES_MAX: usize = 256 << 10;
/// Operators of Lucene's regular expressions that have another meaning here, or none.
const LUCENE_ONLY: [char; 6] = ['~', '&', '@', '<', '>', '#'];

/// A set of names.
#[derive(Debug, Clone)]
pub enum NamePattern {
    /// `*`: every name.
    Everything,
    /// This name only.
    Exact(String),
    /// `*` matches any characters and `?` one character; a backslash escapes the next character.
    Wildcard(String),
    /// `/.../`: names that the whole expression matches.
    Regex(Regex),
    /// `/~(...)/`, Lucene's complement: names that the expression does not match.
    Not(Regex),
}

impl NamePattern {
    /// Parses a pattern of a role.
    ///
    /// # Errors
    /// A regular expression that does not parse, is too large, or uses operators that exist only in Lucene.
    pub fn parse(text: &str) -> Result<NamePattern> {
        if text == "*" {
            return Ok(NamePattern::Everything);
        }
        if let Some(inner) = text.strip_prefix('/') {
            return NamePattern::regex(text, inner);
        }
        Ok(match text.contains(['*', '?', '\\']) {
            true => NamePattern::Wildcard(text.to_owned()),
            false => NamePattern::Exact(text.to_owned()),
        })
    }

    fn regex(whole: &str, inner: &str) -> Result<NamePattern> {
        let bad = |why: String| {
            RequestError::illegal_argument(format!("The pattern [{whole}] is not valid: {why}"))
        };
        let inner = inner.strip_suffix('/').ok_or_else(|| {
            bad(format!("invalid pattern [{whole}]. patterns starting with '/' indicate regular expression pattern but must also end with '/'"))
        })?;
        let complement = inner.strip_prefix("~(").and_then(|rest| rest.strip_suffix(')'));
        let wrap = if complement.is_some() { NamePattern::Not } else { NamePattern::Regex };
        let inner = complement.unwrap_or(inner);
        if let Some(operator) = LUCENE_ONLY.iter().find(|operator| inner.contains(**operator)) {
            return Err(bad(format!("the operator [{operator}] is not supported")));
        }
        RegexBuilder::new(&format!("^(?:{inner})$"))
            .size_limit(REGEX_BYTES_MAX)
            .build()
            .map(wrap)
            .map_err(|error| bad(error.to_string()))
    }

    /// Whether `name` is in the set.
    pub fn matches(&self, name: &str) -> bool {
        match self {
            NamePattern::Everything => true,
            NamePattern::Exact(exact) => exact == name,
            NamePattern::Wildcard(pattern) => wildcard_matches(pattern, name),
            NamePattern::Regex(regex) => regex.is_match(name),
            NamePattern::Not(regex) => !regex.is_match(name),
        }
    }
}

/// Whether `text` matches `pattern`. Takes linear space, and time of at most the product of their lengths.
pub(crate) fn wildcard_matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        let step = match pattern.get(p) {
            Some('*') => {
                star = Some((p + 1, t));
                p += 1;
                continue;
            }
            Some('?') => Some(1),
            Some('\\') if pattern.get(p + 1) == Some(&text[t]) => Some(2),
            Some(&literal) if literal != '\\' && literal == text[t] => Some(1),
            _ => None,
        };
        match (step, star) {
            (Some(count), _) => {
                p += count;
                t += 1;
            }
            (None, Some((after, end))) => {
                star = Some((after, end + 1));
                (p, t) = (after, end + 1);
            }
            (None, None) => return false,
        }
    }
    pattern[p..].iter().all(|&rest| rest == '*')
}

/// Whether every name that matches `narrow` also matches `wide`; in both only `*` is special. Returns
/// `false` if this cannot be decided.
pub(crate) fn covers(wide: &str, narrow: &str) -> bool {
    // Each star of `narrow` becomes a character that occurs in no name, so that only a star of `wide` can
    // match it.
    wildcard_matches(wide, &narrow.replace('*', "\u{1}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let check = |pattern: &str, name: &str, expected: bool| {
            let pattern = NamePattern::parse(pattern).expect("valid");
            assert_eq!(pattern.matches(name), expected, "{pattern:?} {name}");
        };
        check("*", "", true);
        check("a*", "abc", true);
        check("a*", "ba", false);
        check("a?c", "abc", true);
        check("a?c", "ac", false);
        check("a\\*", "a*", true);
        check("a\\*", "ab", false);
        check("*a*b", "xaxxb", true);
        check("/a[0-9]+/", "a12", true);
        check("/a[0-9]+/", "xa12", false);
        check("/a|b/", "ab", false);
        check("/~(([.]|ilm-history-).*)/", ".kibana", false);
        check("/~(([.]|ilm-history-).*)/", "logs", true);
        for broken in ["/a", "/a(/", "/a&b/", "/~a/", "/(a{1000}){1000}/"] {
            assert!(NamePattern::parse(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn patterns_within_patterns() {
        let check = |wide: &str, narrow: &str, expected: bool| {
            assert_eq!(covers(wide, narrow), expected, "{wide} {narrow}");
        };
        check("*", "a*", true);
        check("a*", "a*", true);
        check("a*", "ab*", true);
        check("ab*", "a*", false);
        check("a", "a*", false);
    }
}
