//! Finds the words of UAX #29 in ASCII text, 64 bytes at a time as bit masks; anything else is left to
//! [`super::uax29`].
//!
//! Source: Unicode Standard Annex #29 (rules WB5 to WB13b) as Lucene's `StandardTokenizer` applies it.

use super::letters::{self, Kind};
use super::uax29;

/// Number of zero bytes that must follow the text in the buffer given to [`words`].
pub(super) const PADDING: usize = 64;

/// One bit per byte of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Masks {
    /// `a` to `z` and digits.
    content: u64,
    /// Those, `_` (which joins everything and is no word by itself), and characters that join the letters or
    /// digits on both sides, as far as the window shows.
    word: u64,
    /// The characters `: . ' , ;`, which may join what is on both sides.
    mid: u64,
    /// Bytes that are not ASCII.
    beyond: u64,
}

/// Calls `word(start, end, is_ascii)` for every word, in order; offsets are in bytes.
///
/// `lower` is `text` with its ASCII letters in lower case, followed by at least [`PADDING`] zero bytes.
#[inline(always)]
pub(super) fn words(text: &str, lower: &[u8], mut word: impl FnMut(usize, usize, bool)) {
    let length = text.len();
    let mut at = 0;
    'window: while at < length {
        let Some(window) = lower.get(at..).and_then(|rest| rest.first_chunk::<64>()) else { return };
        let masks = masks(window);
        let starts = masks.word | masks.beyond;
        let mut offset = 0;
        while offset < 64 && starts >> offset != 0 {
            let start = offset + (starts >> offset).trailing_zeros() as usize;
            let run = (!(masks.word >> start)).trailing_zeros() as usize;
            let end = start + run;
            // The window does not show what a mid character at its end joins.
            let touches_end = end >= 64 || end == 63 && masks.mid >> 63 == 1;
            if touches_end && start > 0 {
                // The word continues after the window: search again from its start.
                at += start;
                continue 'window;
            }
            // A mid character before a non-ASCII character may join the two.
            let meets_beyond = end < 64 && (masks.beyond | masks.mid & masks.beyond >> 1) >> end & 1 == 1;
            if touches_end || meets_beyond {
                at = joined(text, at + start, &mut word);
                continue 'window;
            }
            if (masks.content >> start) << (64 - run) != 0 {
                word(at + start, at + end, true);
            }
            offset = end + 1;
        }
        at += 64;
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn masks(window: &[u8; 64]) -> Masks {
    // SAFETY: every x86-64 CPU has SSE2.
    unsafe { masks_sse2(window) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[inline]
fn masks_sse2(window: &[u8; 64]) -> Masks {
    use std::arch::x86_64::*;
    let mut found = Masks { content: 0, word: 0, mid: 0, beyond: 0 };
    let (mut letters, mut digits, mut both, mut colons) = (0, 0, 0, 0);
    for place in 0..4 {
        let part: &[u8; 16] = window[place * 16..].first_chunk().expect("four parts of 16 bytes");
        let value = u128::from_le_bytes(*part);
        let bytes = _mm_set_epi64x((value >> 64) as i64, value as i64);
        // Unsigned `byte - low <= width`; SSE2 can only express it as `min(x, width) == x`.
        let within = |low: u8, width: u8| {
            let moved = _mm_sub_epi8(bytes, _mm_set1_epi8(low as i8));
            _mm_cmpeq_epi8(_mm_min_epu8(moved, _mm_set1_epi8(width as i8)), moved)
        };
        let is = |byte: u8| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8));
        let bits = |mask| (_mm_movemask_epi8(mask) as u32 as u64) << (place * 16);
        letters |= bits(within(b'a', 25));
        digits |= bits(within(b'0', 9));
        colons |= bits(is(b':'));
        both |= bits(_mm_or_si128(is(b'.'), is(b'\'')));
        found.mid |= bits(_mm_or_si128(is(b','), is(b';')));
        found.word |= bits(is(b'_'));
        found.beyond |= bits(bytes);
    }
    let between = |kind: u64| kind << 1 & kind >> 1;
    let joins = (colons | both) & between(letters) | (both | found.mid) & between(digits);
    found.mid |= colons | both;
    found.content = letters | digits;
    found.word |= found.content | joins;
    found
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn masks(window: &[u8; 64]) -> Masks {
    masks_by_byte(window)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn masks_by_byte(window: &[u8; 64]) -> Masks {
    let mut found = Masks { content: 0, word: 0, mid: 0, beyond: 0 };
    for (place, &byte) in window.iter().enumerate() {
        let bit = 1u64 << place;
        match byte {
            b'a'..=b'z' | b'0'..=b'9' => {
                found.content |= bit;
                found.word |= bit;
            }
            b'_' => found.word |= bit,
            b':' | b';' | b'.' | b',' | b'\'' => {
                found.mid |= bit;
                let neighbours = match (place.checked_sub(1).map(|at| window[at]), window.get(place + 1)) {
                    (Some(before), Some(&after)) => (class(before), class(after)),
                    _ => continue,
                };
                let joins = match class(byte) {
                    Class::MidLetter => neighbours == (Class::Letter, Class::Letter),
                    Class::MidDigit => neighbours == (Class::Digit, Class::Digit),
                    _ => {
                        neighbours == (Class::Letter, Class::Letter)
                            || neighbours == (Class::Digit, Class::Digit)
                    }
                };
                if joins {
                    found.word |= bit;
                }
            }
            0x80.. => found.beyond |= bit,
            _ => {}
        }
    }
    found
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Class {
    Other,
    Letter,
    Digit,
    Extend,
    /// `:` joins letters.
    MidLetter,
    /// `.` and `'` join letters, and digits.
    MidBoth,
    /// `,` and `;` join digits.
    MidDigit,
    Beyond,
}

fn class(byte: u8) -> Class {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
        b'0'..=b'9' => Class::Digit,
        b'_' => Class::Extend,
        b':' => Class::MidLetter,
        b'.' | b'\'' => Class::MidBoth,
        b',' | b';' => Class::MidDigit,
        0x80.. => Class::Beyond,
        _ => Class::Other,
    }
}

/// Finds a word that starts at `start` and may contain more than word bytes. Returns where to continue.
#[inline(never)]
fn joined(text: &str, start: usize, word: &mut impl FnMut(usize, usize, bool)) -> usize {
    let bytes = text.as_bytes();
    let class_at = |at: usize| bytes.get(at).map_or(Class::Other, |&byte| class(byte));
    let mut at = start;
    let mut has_content = false;
    let mut before = Class::Other;
    loop {
        let here = class_at(at);
        match here {
            Class::Letter | Class::Digit => has_content = true,
            Class::Extend => {}
            Class::Other => break,
            Class::Beyond => return beyond(text, start, at, before, word),
            mid => {
                let after = class_at(at + 1);
                if after == Class::Beyond {
                    return beyond(text, start, at, before, word);
                }
                let joins = before == after
                    && match before {
                        Class::Letter => mid != Class::MidDigit,
                        Class::Digit => mid != Class::MidLetter,
                        _ => false,
                    };
                if !joins {
                    break;
                }
            }
        }
        before = here;
        at += 1;
    }
    if has_content {
        word(start, at, true);
    }
    at
}

/// Finds a word that starts at `start` and may be non-ASCII from `at` on; `before` is the class of the byte
/// before `at`. Returns where to continue. No word contains an ASCII blank, so if letters do not determine
/// its end, the full rules are applied from its start to the next blank.
fn beyond(
    text: &str,
    start: usize,
    at: usize,
    before: Class,
    word: &mut impl FnMut(usize, usize, bool),
) -> usize {
    if let Some(end) = end_of_letters(text, start, at, before) {
        word(start, end, false);
        return end;
    }
    let rest = &text.as_bytes()[at..];
    let end = rest.iter().position(|&byte| byte <= b' ').map_or(text.len(), |length| at + length);
    uax29::words(&text[start..end], |from, to| word(start + from, start + to, false));
    end
}

/// Returns the end of the word that starts at `start` and continues at `at`, if it consists only of letters,
/// digits, marks on them and `_`, or of one ideograph. `before` is the class of the byte before `at`;
/// [`Class::Letter`] means that it is known to be a letter.
fn end_of_letters(text: &str, start: usize, at: usize, before: Class) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut before) = (at, before);
    // Whether the character at this byte cannot extend the word before it, as a mark would.
    let starts_anew = |at: usize| match bytes.get(at) {
        Some(0x80..) => matches!(char_at(text, at).map(letters::kind), Some(Kind::Letter | Kind::Ideograph)),
        _ => true,
    };
    while let Some(&byte) = bytes.get(at) {
        match class(byte) {
            Class::Beyond => {
                let c = char_at(text, at)?;
                match letters::kind(c) {
                    Kind::Letter => before = Class::Letter,
                    Kind::Mark if at > start => {}
                    Kind::Ideograph if at > start => break,
                    Kind::Ideograph => {
                        let end = at + c.len_utf8();
                        return starts_anew(end).then_some(end);
                    }
                    Kind::Mark | Kind::Other => return None,
                }
                at += c.len_utf8();
            }
            Class::Other if starts_anew(at + 1) => break,
            // These do not join letters; the others may.
            Class::MidDigit if before == Class::Letter && starts_anew(at + 1) => break,
            here @ (Class::Letter | Class::Digit | Class::Extend) => {
                before = here;
                at += 1;
            }
            _ => return None,
        }
    }
    matches!(before, Class::Letter | Class::Digit).then_some(at)
}

#[inline]
fn char_at(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

        #[test]
        fn masks_are_those_of_the_byte_loop(bytes in proptest::collection::vec(prop_oneof![any::<u8>(), proptest::sample::select(b"ab1_:;.,'".to_vec())], 64)) {
            let window: [u8; 64] = bytes.try_into().unwrap();
            let window = window.map(|byte| byte.to_ascii_lowercase());
            prop_assert_eq!(masks(&window), masks_by_byte(&window));
        }

        /// Compares with the full rules, blank by blank. There are no marks on punctuation.
        #[test]
        fn words_are_those_of_the_full_rules(
            text in "([a-c1éЖжωלאلحहन한林文𠀀𐐀\u{fa6e}\u{2a6e0}カひไท١😀🇩🇪ℹ][\u{301}\u{93f}\u{200d}]?|[_.:,;'\"  ·ʼ-]|[éЖжل]{1,4}|[,.:] ?){0,24}"
        ) {
            let mut lower = text.to_ascii_lowercase().into_bytes();
            lower.resize(text.len() + PADDING, 0);
            let mut found = Vec::new();
            words(&text, &lower, |start, end, _| found.push((start, end)));
            let mut expected = Vec::new();
            let mut from = 0;
            for piece in text.split_inclusive(' ') {
                uax29::words(piece.trim_end_matches(' '), |start, end| expected.push((from + start, from + end)));
                from += piece.len();
            }
            prop_assert_eq!(found, expected);
        }

        /// Compares windows and runs with one pass over the whole text.
        #[test]
        fn words_do_not_depend_on_windows(text in "([a-c1_.:,;' é日-]{0,9}|[a-z_]{50,80})([a-c1_.:,;' é日-]{0,40}|[a-z.]{0,150}){0,4}") {
            let mut lower = text.to_ascii_lowercase().into_bytes();
            lower.resize(text.len() + PADDING, 0);
            let mut found = Vec::new();
            words(&text, &lower, |start, end, _| found.push((start, end)));
            let mut expected = Vec::new();
            let mut at = 0;
            while at < text.len() {
                match class(text.as_bytes()[at]) {
                    Class::Letter | Class::Digit | Class::Extend | Class::Beyond => {
                        at = joined(&text, at, &mut |start, end, _| expected.push((start, end))).max(at + 1);
                    }
                    _ => at += 1,
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}
