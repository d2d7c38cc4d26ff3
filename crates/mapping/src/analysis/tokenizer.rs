//! Tokenizers: where a text is cut.

use super::analyzer::{lower_and_pad, pieces};
use super::ascii;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Tokenizer {
    /// Words of UAX #29.
    Standard,
    /// Runs of letters (Java's `Character.isLetter`).
    Letter,
    /// Runs of anything but white space (Java's `Character.isWhitespace`).
    Whitespace,
    /// The whole text, even when it is empty.
    Keyword,
}

impl Tokenizer {
    /// Calls `token(start, end)` for every token, in order; offsets in bytes. `lower` is room for a copy of the text.
    #[inline]
    pub fn split(
        self,
        text: &str,
        lower: &mut String,
        length_max: usize,
        mut token: impl FnMut(usize, usize),
    ) {
        if self == Tokenizer::Keyword {
            return token(0, text.len());
        }
        let mut cut = |start: usize, end: usize| {
            if end - start <= length_max {
                token(start, end);
            } else {
                pieces(text, start, end, length_max, &mut token);
            }
        };
        match self {
            Tokenizer::Standard => {
                lower_and_pad(text, lower);
                ascii::words(text, lower.as_bytes(), |start, end, _| cut(start, end));
            }
            Tokenizer::Letter if text.is_ascii() => ascii_runs(text, |byte| byte.is_ascii_alphabetic(), cut),
            Tokenizer::Letter => runs(text, is_letter, cut),
            _ if text.is_ascii() => {
                ascii_runs(text, |byte| byte > b' ' || !is_java_whitespace(byte as char), cut)
            }
            _ => runs(text, |c| !is_java_whitespace(c), cut),
        }
    }
}

#[inline]
fn ascii_runs(text: &str, is_inside: impl Fn(u8) -> bool, mut token: impl FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        while at < bytes.len() && is_inside(bytes[at]) {
            at += 1;
        }
        if at > start {
            token(start, at);
        }
        at += 1;
    }
}

#[inline]
fn runs(text: &str, is_inside: impl Fn(char) -> bool, mut token: impl FnMut(usize, usize)) {
    let mut start = None;
    for (at, c) in text.char_indices() {
        match (is_inside(c), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                token(from, at);
                start = None;
            }
            _ => {}
        }
    }
    if let Some(from) = start {
        token(from, text.len());
    }
}

/// General category L. Rust's `is_alphabetic` also takes letter numbers and some marks; the common ones are left out.
fn is_letter(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphabetic();
    }
    c.is_alphabetic()
        && !c.is_numeric()
        && !matches!(c as u32, 0x0345 | 0x0363..=0x036f | 0x05b0..=0x05bd | 0x0610..=0x061a | 0x064b..=0x0657
            | 0x0900..=0x0903 | 0x093a..=0x093b | 0x093e..=0x094c | 0x0e31 | 0x0e34..=0x0e3a | 0x24b6..=0x24e9)
}

fn is_java_whitespace(c: char) -> bool {
    match c {
        '\t'..='\r' | '\x1c'..='\x1f' | ' ' => true,
        '\u{a0}' | '\u{2007}' | '\u{202f}' | '\u{85}' => false,
        _ => !c.is_ascii() && c.is_whitespace(),
    }
}
