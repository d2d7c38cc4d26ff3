//! Reads JSON tokens in place: numbers, strings with escapes, and whole values that are skipped.

use super::scan::{skip_space, string_stop};

/// Why the bytes at `offset` are not JSON.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JsonError {
    pub offset: usize,
    pub kind: JsonErrorKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum JsonErrorKind {
    /// The document ends within a value.
    EndOfInput,
    /// Another character was expected; says which.
    Unexpected(&'static str),
    LeadingZero,
    /// A character below 0x20 within a string.
    ControlCharacter,
    BadEscape,
    BadToken(String),
    TooDeep(usize),
    InvalidUtf8,
    Duplicate(String),
    /// A closing bracket after the document.
    CloseMarker(u8),
}

#[cold]
pub(super) fn error(offset: usize, kind: JsonErrorKind) -> JsonError {
    JsonError { offset, kind }
}

/// Returns the error about an unexpected character or end.
#[cold]
pub(super) fn unexpected(bytes: &[u8], offset: usize, expected: &'static str) -> JsonError {
    if offset >= bytes.len() {
        return error(bytes.len(), JsonErrorKind::EndOfInput);
    }
    if expected == VALUE && bytes[offset].is_ascii_alphabetic() {
        return bad_token(bytes, offset);
    }
    let is_end = expected == VALUE && matches!(bytes[offset], b'}' | b']');
    error(offset, JsonErrorKind::Unexpected(if is_end { "expected a value" } else { expected }))
}

/// Returns the error about a word that is not a literal. As in Jackson, its offset is after the word and the
/// byte that ends it.
#[cold]
fn bad_token(bytes: &[u8], start: usize) -> JsonError {
    let rest = String::from_utf8_lossy(&bytes[start..bytes.len().min(start + 256)]);
    let word: String = rest.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '$')).collect();
    let offset = bytes.len().min(start + word.len() + 1);
    error(offset, JsonErrorKind::BadToken(word))
}

pub(super) const VALUE: &str =
    "expected a valid value (JSON String, Number, Array, Object or token 'null', 'true' or 'false')";
pub(super) const COMMA_IN_OBJECT: &str = "was expecting comma to separate Object entries";
pub(super) const COMMA_IN_ARRAY: &str = "was expecting comma to separate Array entries";
pub(super) const COLON: &str = "was expecting a colon to separate field name and value";
pub(super) const FIELD_NAME: &str = "was expecting double-quote to start field name";

/// A number that starts at a given offset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NumberToken {
    pub end: usize,
    /// Its value, if it has neither fraction nor exponent and fits.
    pub integer: Option<i64>,
    pub is_integer: bool,
}

/// Reads the number at `start` (a digit or `-`) by JSON's grammar.
#[inline(always)]
pub(super) fn number(bytes: &[u8], start: usize) -> Result<NumberToken, JsonError> {
    let negative = bytes[start] == b'-';
    let first = start + negative as usize;
    let mut at = first;
    let mut value: u64 = 0;
    while let Some(digit) = bytes.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        value = value.wrapping_mul(10).wrapping_add(digit as u64);
        at += 1;
    }
    let digits = at - first;
    if digits == 0 || (digits > 1 && bytes[first] == b'0') {
        return Err(if digits == 0 {
            unexpected(bytes, at, "expected digit (0-9) to follow minus sign, for valid numeric value")
        } else {
            error(first + 1, JsonErrorKind::LeadingZero)
        });
    }
    if matches!(bytes.get(at), Some(b'.' | b'e' | b'E')) {
        return fraction(bytes, at);
    }
    let integer = if digits <= 18 {
        Some(if negative { -(value as i64) } else { value as i64 })
    } else {
        std::str::from_utf8(&bytes[start..at]).ok().and_then(|text| text.parse().ok())
    };
    Ok(NumberToken { end: at, integer, is_integer: true })
}

#[inline(never)]
fn fraction(bytes: &[u8], mut at: usize) -> Result<NumberToken, JsonError> {
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    if bytes[at] == b'.' {
        let end = digits(at + 1);
        if end == at + 1 {
            return Err(unexpected(bytes, end, "Decimal point not followed by a digit"));
        }
        at = end;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        if matches!(bytes.get(at), Some(b'+' | b'-')) {
            at += 1;
        }
        let end = digits(at);
        if end == at {
            return Err(unexpected(bytes, end, "Exponent indicator not followed by a digit"));
        }
        at = end;
    }
    Ok(NumberToken { end: at, integer: None, is_integer: false })
}

/// Returns the offset of the closing quote of the string whose contents start at `at`, and whether the string
/// contains escapes.
#[inline]
pub(super) fn string_end(bytes: &[u8], mut at: usize) -> Result<(usize, bool), JsonError> {
    let mut has_escapes = false;
    loop {
        at = string_stop(bytes, at);
        match bytes.get(at) {
            Some(b'"') => return Ok((at, has_escapes)),
            Some(b'\\') => {
                has_escapes = true;
                match bytes.get(at + 1) {
                    Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at += 2,
                    Some(b'u') => {
                        for place in at + 2..at + 6 {
                            match bytes.get(place) {
                                Some(byte) if byte.is_ascii_hexdigit() => {}
                                Some(_) => return Err(error(place, JsonErrorKind::BadEscape)),
                                None => return Err(error(bytes.len(), JsonErrorKind::EndOfInput)),
                            }
                        }
                        at += 6;
                    }
                    Some(_) => return Err(error(at + 1, JsonErrorKind::BadEscape)),
                    None => return Err(error(bytes.len(), JsonErrorKind::EndOfInput)),
                }
            }
            Some(_) => return Err(error(at, JsonErrorKind::ControlCharacter)),
            None => return Err(error(bytes.len(), JsonErrorKind::EndOfInput)),
        }
    }
}

/// Appends the contents of a string of JSON, given the checked text between its quotes. An unpaired surrogate
/// becomes U+FFFD, as in Lucene's encoding.
///
/// # Panics
/// The text has an invalid escape.
pub fn unescape(raw: &str, out: &mut String) {
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let bytes = rest.as_bytes();
        let mut next = at + 2;
        match bytes[at + 1] {
            b'b' => out.push('\u{8}'),
            b'f' => out.push('\u{c}'),
            b'n' => out.push('\n'),
            b'r' => out.push('\r'),
            b't' => out.push('\t'),
            b'u' => {
                let unit = hex(bytes, at + 2);
                next = at + 6;
                let is_high = (0xd800..0xdc00).contains(&unit);
                let low =
                    (is_high && bytes.get(next..next + 2) == Some(b"\\u")).then(|| hex(bytes, next + 2));
                match low {
                    Some(low @ 0xdc00..0xe000) => {
                        next += 6;
                        let code = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                        out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                    }
                    _ => out.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)),
                }
            }
            other => out.push(other as char),
        }
        rest = &rest[next..];
    }
    out.push_str(rest);
}

fn hex(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().fold(0, |value, &byte| value << 4 | (byte as char).to_digit(16).unwrap_or(0))
}

/// Checks for the literal `true`, `false` or `null` at `at`. Returns its end.
#[inline]
pub(super) fn literal(bytes: &[u8], at: usize, word: &'static [u8]) -> Result<usize, JsonError> {
    let end = at + word.len();
    if bytes.get(at..end) == Some(word) && !bytes.get(end).is_some_and(u8::is_ascii_alphanumeric) {
        return Ok(end);
    }
    Err(bad_token(bytes, at))
}

/// Returns the end of the scalar at `at`; `None` if an object or an array starts there.
pub(super) fn scalar_end(bytes: &[u8], at: usize) -> Result<Option<usize>, JsonError> {
    Ok(Some(match bytes.get(at) {
        Some(b'"') => string_end(bytes, at + 1)?.0 + 1,
        Some(b'-' | b'0'..=b'9') => number(bytes, at)?.end,
        Some(b't') => literal(bytes, at, b"true")?,
        Some(b'f') => literal(bytes, at, b"false")?,
        Some(b'n') => literal(bytes, at, b"null")?,
        Some(b'{' | b'[') => return Ok(None),
        _ => return Err(unexpected(bytes, at, VALUE)),
    }))
}

/// Maximum number of nesting levels that [`skip_value`] can track.
const DEPTH_MAX: usize = 4096;

/// Returns the end of the value at `at`, checked by JSON's grammar (except for duplicate keys). Does not use
/// recursion, however deep the value is. `depth` is the level of the value, `limit` the deepest level
/// allowed.
pub(super) fn skip_value(
    bytes: &[u8],
    mut at: usize,
    depth: usize,
    limit: usize,
) -> Result<usize, JsonError> {
    // A set bit means that the level is an object.
    let mut levels = [0u64; DEPTH_MAX / 64];
    let limit = limit.min(depth + DEPTH_MAX - 1);
    let mut level = depth;
    let is_object =
        |levels: &[u64], level: usize| levels[(level - depth) / 64] >> ((level - depth) % 64) & 1 == 1;
    loop {
        // A value is expected at `at`.
        match scalar_end(bytes, at)? {
            Some(end) => at = end,
            None => {
                level += 1;
                if level > limit {
                    return Err(error(at, JsonErrorKind::TooDeep(limit)));
                }
                let bit = 1u64 << ((level - depth) % 64);
                let word = &mut levels[(level - depth) / 64];
                let opens_object = bytes[at] == b'{';
                *word = if opens_object { *word | bit } else { *word & !bit };
                at = skip_space(bytes, at + 1);
                if opens_object {
                    if bytes.get(at) != Some(&b'}') {
                        at = key(bytes, at)?;
                        continue;
                    }
                } else if bytes.get(at) != Some(&b']') {
                    continue;
                }
            }
        }
        // After a value, or before the end of an empty object or array.
        loop {
            if level == depth {
                return Ok(at);
            }
            at = skip_space(bytes, at);
            let object = is_object(&levels, level);
            match bytes.get(at) {
                Some(b',') => {
                    at = skip_space(bytes, at + 1);
                    if object {
                        at = key(bytes, at)?;
                    }
                    break;
                }
                Some(b'}') if object => {
                    at += 1;
                    level -= 1;
                }
                Some(b']') if !object => {
                    at += 1;
                    level -= 1;
                }
                _ if object => return Err(unexpected(bytes, at, COMMA_IN_OBJECT)),
                _ => return Err(unexpected(bytes, at, COMMA_IN_ARRAY)),
            }
        }
    }
}

/// Skips a key from its opening quote. Returns the start of its value.
pub(super) fn key(bytes: &[u8], at: usize) -> Result<usize, JsonError> {
    if bytes.get(at) != Some(&b'"') {
        return Err(unexpected(bytes, at, FIELD_NAME));
    }
    let end = string_end(bytes, at + 1)?.0;
    colon(bytes, end + 1)
}

/// Skips the colon after a key. Returns the start of the value.
#[inline(always)]
pub(super) fn colon(bytes: &[u8], at: usize) -> Result<usize, JsonError> {
    let at = skip_space(bytes, at);
    if bytes.get(at) != Some(&b':') {
        return Err(unexpected(bytes, at, COLON));
    }
    Ok(skip_space(bytes, at + 1))
}
