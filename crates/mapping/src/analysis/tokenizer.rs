//! Tokenizers: where a text is cut.

use super::analyzer::pieces;
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
    /// Calls `token(start, end)` for every token, in order; offsets in bytes.
    #[inline]
    pub fn split(self, text: &str, length_max: usize, mut token: impl FnMut(usize, usize)) {
        match self {
            Tokenizer::Standard => ascii::words(text, |start, end, _| {
                if end - start <= length_max {
                    token(start, end);
                } else {
                    pieces(text, start, end, length_max, &mut token);
                }
            }),
            Tokenizer::Letter => runs(text, length_max, is_letter, token),
            Tokenizer::Whitespace => runs(text, length_max, |c| !is_java_whitespace(c), token),
            Tokenizer::Keyword => token(0, text.len()),
        }
    }
}

#[inline]
fn runs(
    text: &str,
    length_max: usize,
    is_inside: impl Fn(char) -> bool,
    mut token: impl FnMut(usize, usize),
) {
    let mut start = None;
    let mut emit = |from: usize, to: usize| pieces(text, from, to, length_max, &mut token);
    for (at, c) in text.char_indices() {
        match (is_inside(c), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                emit(from, at);
                start = None;
            }
            _ => {}
        }
    }
    if let Some(from) = start {
        emit(from, text.len());
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
