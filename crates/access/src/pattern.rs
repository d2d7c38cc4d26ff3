//! Patterns of names in roles: `logs-*`, `log?`, `/logs-[0-9]+/`.
//!
//! Source: `Automatons#pattern`.

use std::collections::HashMap;
use std::str::Chars;
use std::sync::{Arc, LazyLock, Weak};

use limber_mapping::RequestError;
use parking_lot::Mutex;
use regex::{Regex, RegexBuilder};

use crate::Result;

/// Sizes in bytes that a compiled regular expression may have: it counts as the first that suffices. Names
/// are short, so one that needs more than the last is refused.
const REGEX_BYTES: [usize; 4] = [8 << 10, 32 << 10, 128 << 10, 256 << 10];
/// Longest text of a regular expression, in bytes. A longer one would need more than the last size; to parse
/// it takes a hundred times its length.
const REGEX_TEXT_BYTES_MAX: usize = 64 << 10;
/// Bytes that a regular expression keeps of its last matches.
const REGEX_CACHE_BYTES: usize = 64 << 10;
/// How much of an expression that is too long an error shows.
const SHOWN_CHARS: usize = 100;
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
    Regex(Arc<SizedRegex>),
    /// `/~(...)/`, Lucene's complement: names that the expression does not match.
    Not(Arc<SizedRegex>),
}

/// A regular expression, which all roles that contain it share.
#[derive(Debug)]
pub struct SizedRegex {
    regex: Regex,
    bytes: usize,
}

/// The expressions in use, by their text.
static SHARED: LazyLock<Mutex<HashMap<String, Weak<SizedRegex>>>> = LazyLock::new(Mutex::default);
/// At this many expressions those that are not used any more are dropped.
const SWEPT_FROM: usize = 256;

impl SizedRegex {
    /// Compiles an expression that must match whole names, or returns the shared one.
    fn shared(expression: &str) -> std::result::Result<Arc<SizedRegex>, regex::Error> {
        if let Some(known) = SHARED.lock().get(expression).and_then(Weak::upgrade) {
            return Ok(known);
        }
        let whole = format!("^(?:{expression})$");
        let build = |bytes: usize| {
            let built = RegexBuilder::new(&whole).size_limit(bytes).dfa_size_limit(REGEX_CACHE_BYTES).build();
            built.map(|regex| Arc::new(SizedRegex { regex, bytes: bytes + REGEX_CACHE_BYTES }))
        };
        let mut built = build(REGEX_BYTES[0]);
        for bytes in &REGEX_BYTES[1..] {
            if matches!(built, Err(regex::Error::CompiledTooBig(_))) {
                built = build(*bytes);
            }
        }
        let built = built?;
        let mut shared = SHARED.lock();
        if shared.len() >= SWEPT_FROM {
            shared.retain(|_, known| known.strong_count() > 0);
        }
        shared.insert(expression.to_owned(), Arc::downgrade(&built));
        Ok(built)
    }
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
        if inner.len() > REGEX_TEXT_BYTES_MAX {
            let shown: String = whole.chars().take(SHOWN_CHARS).collect();
            return Err(RequestError::illegal_argument(format!(
                "The pattern [{shown}...] has more than [{REGEX_TEXT_BYTES_MAX}] bytes"
            )));
        }
        if let Some(operator) = LUCENE_ONLY.iter().find(|operator| inner.contains(**operator)) {
            return Err(bad(format!("the operator [{operator}] is not supported")));
        }
        SizedRegex::shared(inner).map(wrap).map_err(|error| bad(error.to_string()))
    }

    /// Estimates the heap bytes; of a regular expression, this pattern's share.
    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            NamePattern::Everything => 0,
            NamePattern::Exact(text) | NamePattern::Wildcard(text) => text.len(),
            NamePattern::Regex(shared) | NamePattern::Not(shared) => {
                shared.bytes / Arc::strong_count(shared).max(1)
            }
        }
    }

    /// Whether a pattern is written as a regular expression, which takes more memory than others.
    pub(crate) fn is_regex(text: &str) -> bool {
        text.starts_with('/')
    }

    /// Whether `name` is in the set.
    pub fn matches(&self, name: &str) -> bool {
        match self {
            NamePattern::Everything => true,
            NamePattern::Exact(exact) => exact == name,
            NamePattern::Wildcard(pattern) => wildcard_matches(pattern, name),
            NamePattern::Regex(shared) => shared.regex.is_match(name),
            NamePattern::Not(shared) => !shared.regex.is_match(name),
        }
    }
}

/// Whether `text` matches `pattern`. Takes no memory, and time of at most the product of their lengths.
pub(crate) fn wildcard_matches(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    // What follows the last star, and the text from which it was tried last.
    let mut star: Option<(Chars<'_>, Chars<'_>)> = None;
    while let Some(character) = text.clone().next() {
        let mut rest = pattern.clone();
        let fits = match rest.next() {
            Some('*') => {
                star = Some((rest.clone(), text.clone()));
                pattern = rest;
                continue;
            }
            Some('?') => true,
            Some('\\') => rest.next() == Some(character),
            literal => literal == Some(character),
        };
        if fits {
            pattern = rest;
            text.next();
            continue;
        }
        let Some((after, tried)) = &mut star else { return false };
        tried.next();
        (pattern, text) = (after.clone(), tried.clone());
    }
    pattern.all(|rest| rest == '*')
}

/// Two characters that occur in no name.
const NO_NAME: &str = "\u{1}\u{2}";

/// Whether every name that matches `narrow` also matches `wide`, in both of which `*` and `?` are special.
/// Returns `false` if this cannot be decided.
pub(crate) fn covers(wide: &str, narrow: &str) -> bool {
    // Each star of `narrow` becomes characters that occur in no name, so that only a star of `wide` can match
    // them: one character would also match a question mark, and no character a name that ends before the
    // star.
    let names = [NO_NAME, ""].map(|star| narrow.replace('*', star));
    narrow == wide || names.iter().all(|name| wildcard_matches(wide, name))
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
        check("*a?c*", "xabcabd", true);
        check("*ab", "aaaaab", true);
        check("é*", "éa", true);
        check("\\", "a", false);
        let long = "/".to_owned() + &"a".repeat(REGEX_TEXT_BYTES_MAX + 1) + "/";
        assert!(NamePattern::parse(&long).expect_err("too long").reason.len() < 200);
        for broken in ["/a", "/a(/", "/a&b/", "/~a/", "/(a{1000}){1000}/"] {
            assert!(NamePattern::parse(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn equal_expressions_are_compiled_once_and_counted_by_their_size() {
        let parse = |text: &str| NamePattern::parse(text).expect("valid");
        let (small, large) = (parse("/shared-[0-9]+/"), parse("/shared-(a{40}){20}/"));
        assert!(small.memory_bytes() < large.memory_bytes());
        let alone = small.memory_bytes();
        let again = parse("/shared-[0-9]+/");
        assert_eq!((small.memory_bytes(), again.memory_bytes()), (alone / 2, alone / 2));
        drop(again);
        assert_eq!(small.memory_bytes(), alone);
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
        check("a?", "a*", false);
        check("a?*", "a*", false);
        check("a?*", "ab*", true);
        check("a??", "a*", false);
        check("a*", "a?", true);
        check("a?", "a?", true);
    }
}
