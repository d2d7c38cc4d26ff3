//! Regular expressions of a script, and the matchers that a script creates from them.

use std::sync::Arc;

use limber_text::pattern::{Groups, Pattern};

use super::value::Value;
use crate::error::{Outcome, ScriptError};

/// Letters of flags, their letters inside a pattern, and their numbers in Java.
const FLAGS: &[(char, &str, i32)] = &[
    ('i', "i", 2),
    ('x', "x", 4),
    ('m', "m", 8),
    ('l', "", 16),
    ('s', "s", 32),
    // The remaining flags are always on: letter case and character classes are those of Unicode.
    ('u', "", 64),
    ('U', "", 256),
];

/// A regular expression, compiled with its script.
#[derive(Debug)]
pub struct Regex {
    /// The pattern as the script writes it.
    pub(crate) source: Arc<str>,
    /// Java's numbers of the flags, added up.
    pub(crate) flags: i32,
    /// Finds the pattern anywhere in a string.
    pub(crate) find: Pattern,
    /// Matches at the beginning of a string.
    pub(crate) begin: Pattern,
    /// Matches a whole string.
    pub(crate) whole: Pattern,
}

impl Regex {
    /// Compiles a pattern. The error of an invalid one is in the words of Painless's compiler.
    pub fn parse(source: &str, letters: &str) -> Result<Regex, String> {
        let (mut flags, mut inline) = (0, String::new());
        for letter in letters.chars() {
            let Some((_, flag, number)) = FLAGS.iter().find(|(known, ..)| *known == letter) else {
                return Err(format!("the flag [{letter}] is not supported by Limber yet"));
            };
            if flags & number == 0 {
                inline.push_str(flag);
            }
            flags |= number;
        }
        let body = if letters.contains('l') { quoted(source) } else { source.to_owned() };
        // A comment at the end of the pattern ends with the line.
        let body = if letters.contains('x') { format!("{body}\n") } else { body };
        let switch = if inline.is_empty() { String::new() } else { format!("(?{inline})") };
        let compile = |pattern: String| {
            Pattern::parse(&pattern).map_err(|reason| {
                format!(
                    "invalid regular expression: could not compile regex constant [{source}] with flags [{letters}]: {reason}"
                )
            })
        };
        Ok(Regex {
            source: source.into(),
            flags,
            find: compile(format!("{switch}{body}"))?,
            begin: compile(format!(r"\A(?:{switch}{body})"))?,
            whole: compile(format!(r"\A(?:{switch}{body})\z"))?,
        })
    }
}

/// Returns `Pattern#quote` as a pattern that both engines read.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if r"\.+*?()|[]{}^$#&-~ ".contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

/// A `java.util.regex.Matcher`. Positions are byte offsets.
#[derive(Debug)]
pub struct Matcher {
    /// The script's number of the pattern.
    pub(crate) pattern: u16,
    pub(crate) text: Arc<str>,
    /// The part of the string that is searched.
    pub(crate) region: (usize, usize),
    /// The start of the next search; `None` if nothing is left.
    pub(crate) next: Option<usize>,
    /// The groups of the last match, as positions in the whole string.
    pub(crate) last: Option<Groups>,
}

impl Matcher {
    pub(crate) fn new(pattern: u16, text: Arc<str>) -> Matcher {
        Matcher { pattern, region: (0, text.len()), next: Some(0), last: None, text }
    }

    pub(crate) fn reset(&mut self) {
        (self.region, self.next, self.last) = ((0, self.text.len()), Some(0), None);
    }

    /// Stores the groups of a match in the region, and where the next search begins.
    pub(crate) fn take(&mut self, found: Option<Groups>) -> bool {
        let start = self.region.0;
        let shift = |(from, to): (usize, usize)| (from + start, to + start);
        self.last = found.map(|groups| groups.into_iter().map(|group| group.map(shift)).collect());
        let whole = self.last.as_ref().and_then(|groups| groups[0]);
        self.next = whole.and_then(|(from, to)| after(&self.text, from, to, self.region.1));
        self.last.is_some()
    }

    pub(crate) fn group(&self, number: i64, at: u32) -> Outcome<Option<(usize, usize)>> {
        let Some(groups) = &self.last else {
            return Err(ScriptError::new(at, "illegal_state_exception", "No match found"));
        };
        let found = usize::try_from(number).ok().and_then(|number| groups.get(number).copied());
        found.ok_or_else(|| {
            ScriptError::new(at, "index_out_of_bounds_exception", format!("No group {number}"))
        })
    }

    /// Converts a byte offset to Java's position in UTF-16 units.
    pub(crate) fn units(&self, bytes: usize) -> Value {
        Value::Int(self.text[..bytes].encode_utf16().count() as i32)
    }

    /// Prints like `Matcher#toString`.
    pub fn text(&self, source: &str) -> String {
        let unit = |bytes| self.units(bytes).i64();
        let last =
            self.last.as_ref().and_then(|groups| groups[0]).map_or("", |(from, to)| &self.text[from..to]);
        format!(
            "java.util.regex.Matcher[pattern={source} region={},{} lastmatch={last}]",
            unit(self.region.0),
            unit(self.region.1)
        )
    }
}

/// Returns where the search continues after a match: at its end, or a character later if the match was
/// empty.
pub(crate) fn after(text: &str, start: usize, end: usize, stop: usize) -> Option<usize> {
    if start < end { Some(end) } else { text[end..stop].chars().next().map(|next| end + next.len_utf8()) }
}

/// Returns the byte offset of a position in UTF-16 units.
pub(crate) fn byte_of(text: &str, units: i64) -> Option<usize> {
    let mut count = 0;
    for (byte, character) in text.char_indices() {
        if count >= units {
            return (count == units && units >= 0).then_some(byte);
        }
        count += character.len_utf16() as i64;
    }
    (count == units).then_some(text.len())
}
