//! Shared code of tokenizers: runs of characters, and splitting of tokens that are too long.

use crate::RequestError;
use crate::analysis::ascii;
use crate::analysis::chain::Emit;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;
use crate::analysis::unicode;

/// Lucene's `StandardAnalyzer.DEFAULT_MAX_TOKEN_LENGTH`, which is also the default of its `CharTokenizer`.
pub(in crate::analysis) const TOKEN_LENGTH_MAX: usize = 255;

/// Reads the setting `max_token_length`.
pub fn length_max(settings: &Settings<'_>) -> Result<usize, RequestError> {
    match settings.int("max_token_length", TOKEN_LENGTH_MAX as i32)? {
        length @ 1..=1_048_576 => Ok(length as usize),
        length => Err(RequestError::illegal_argument(format!(
            "maxTokenLength must be greater than 0 and less than 1048576 passed: {length}"
        ))),
    }
}

/// Fills `lower` with `text` in lower case (ASCII letters only), followed by the padding that
/// [`ascii::words`] needs.
#[inline]
pub(in crate::analysis) fn lower_and_pad(text: &str, lower: &mut String) {
    const ZEROS: &str = match std::str::from_utf8(&[0; ascii::PADDING]) {
        Ok(zeros) => zeros,
        Err(_) => "",
    };
    lower.clear();
    lower.push_str(text);
    lower.make_ascii_lowercase();
    lower.push_str(ZEROS);
}

/// Splits a token into pieces of at most `length_max` UTF-16 units, like Lucene's tokenizers.
pub(in crate::analysis) fn pieces(
    text: &str,
    start: usize,
    end: usize,
    length_max: usize,
    mut one: impl FnMut(usize, usize),
) {
    let mut from = start;
    let mut units = 0;
    for (at, c) in text[start..end].char_indices() {
        let at = start + at;
        if units + c.len_utf16() > length_max && at > from {
            one(from, at);
            from = at;
            units = 0;
        }
        units += c.len_utf16();
    }
    one(from, end);
}

/// Splits a word of UAX #29 that is longer than `length_max` UTF-16 units, like the scanner of Lucene's
/// `StandardTokenizer`: each piece is the first word within the next `length_max` units.
#[cold]
pub(in crate::analysis) fn word_pieces(
    text: &str,
    start: usize,
    end: usize,
    length_max: usize,
    mut one: impl FnMut(usize, usize),
) {
    let mut scratch = String::new();
    let mut from = start;
    while from < end {
        let mut units = 0;
        let fits = |(_, c): &(usize, char)| {
            units += c.len_utf16();
            units <= length_max
        };
        let inside = text[from..end].char_indices().take_while(fits).last();
        // A character of two units is a piece of its own.
        let last = inside.or_else(|| text[from..end].char_indices().next());
        let Some((at, c)) = last else { return };
        let window = &text[from..from + at + c.len_utf8()];
        lower_and_pad(window, &mut scratch);
        let mut first = None;
        ascii::words(window, scratch.as_bytes(), |word_start, word_end, _| {
            first.get_or_insert((word_start, word_end));
        });
        from += match first {
            Some((0, word_end)) => {
                one(from, from + word_end);
                word_end
            }
            // The scanner reads on before it looks for the word.
            Some((word_start, _)) => word_start,
            None => window.len(),
        };
    }
}

/// Emits the runs of characters that satisfy `is_inside`, in pieces of at most `length_max` UTF-16 units.
pub fn runs(
    text: &str,
    length_max: usize,
    token: &mut TokenBuf,
    emit: Emit<'_>,
    is_inside: impl Fn(char) -> bool,
) {
    let mut goes_on = true;
    let mut run = |start: usize, end: usize| {
        if end - start <= length_max {
            token.cut(text, start, end, crate::analysis::token::WORD);
            goes_on = goes_on && emit(token);
        } else {
            pieces(text, start, end, length_max, |start, end| {
                token.cut(text, start, end, crate::analysis::token::WORD);
                goes_on = goes_on && emit(token);
            });
        }
        goes_on
    };
    let mut start = None;
    for (at, c) in text.char_indices() {
        match (is_inside(c), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                if !run(from, at) {
                    return;
                }
                start = None;
            }
            _ => {}
        }
    }
    if let Some(from) = start {
        run(from, text.len());
    }
}

/// Whether a character has the general category L.
pub(in crate::analysis) fn is_letter(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphabetic() } else { unicode::is_letter(c) }
}

/// Whether Java's `Character.isWhitespace` is true: for Unicode's separators except non-breaking ones, and
/// for some control characters.
pub fn is_java_whitespace(c: char) -> bool {
    match c {
        '\t'..='\r' | '\x1c'..='\x1f' | ' ' => true,
        '\u{a0}' | '\u{2007}' | '\u{202f}' | '\u{85}' => false,
        _ => !c.is_ascii() && c.is_whitespace(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As 9.4.3 answers.
    #[test]
    fn long_words_are_cut_as_lucene_scans() {
        let check = |text: &str, length_max: usize, expected: &[&str]| {
            let mut found = Vec::new();
            word_pieces(text, 0, text.len(), length_max, |start, end| found.push(&text[start..end]));
            assert_eq!(found, expected, "{text}");
        };
        check("1,000,000.55", 5, &["1,000", "000.5", "5"]);
        check("hello_world.foo", 5, &["hello", "_worl", "d.foo"]);
        check("abcdefgh", 3, &["abc", "def", "gh"]);
        check("don't", 3, &["don", "t"]);
        check("O'Neil's", 4, &["O'Ne", "il's"]);
    }
}
