//! Words of UAX #29 where the text is ASCII, byte by byte through a table; anything else is left to [`super::uax29`].
//!
//! Source: Unicode Standard Annex #29 (rules WB5 to WB13b) as Lucene's `StandardTokenizer` applies it.

use super::uax29;

const OTHER: u8 = 0;
const LETTER: u8 = 1;
const DIGIT: u8 = 2;
/// `_` joins everything, and is no word alone.
const EXTEND: u8 = 3;
/// `:` joins letters.
const MID_LETTER: u8 = 4;
/// `.` and `'` join letters, and digits.
const MID_BOTH: u8 = 5;
/// `,` and `;` join digits.
const MID_DIGIT: u8 = 6;
const BEYOND: u8 = 7;

static CLASS: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [OTHER; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => LETTER,
            b'0'..=b'9' => DIGIT,
            b'_' => EXTEND,
            b':' => MID_LETTER,
            b'.' | b'\'' => MID_BOTH,
            b',' | b';' => MID_DIGIT,
            0x80..=0xff => BEYOND,
            _ => OTHER,
        };
        byte += 1;
    }
    table
}

/// Calls `word(start, end, is_ascii)` for every word, in order; offsets in bytes.
#[inline(always)]
pub(super) fn words(text: &str, mut word: impl FnMut(usize, usize, bool)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let first = CLASS[bytes[at] as usize];
        if !matches!(first, LETTER | DIGIT | EXTEND | BEYOND) {
            at += 1;
            continue;
        }
        let start = at;
        let mut has_content = false;
        let mut meets_beyond = false;
        while let Some(&byte) = bytes.get(at) {
            match CLASS[byte as usize] {
                LETTER | DIGIT => has_content = true,
                EXTEND => {}
                OTHER => break,
                BEYOND => {
                    meets_beyond = true;
                    break;
                }
                mid => {
                    // At the start of a word a mid character has been passed over, so there is a byte before.
                    let before = CLASS[bytes[at - 1] as usize];
                    let after = bytes.get(at + 1).map_or(OTHER, |&byte| CLASS[byte as usize]);
                    if after == BEYOND {
                        meets_beyond = true;
                        break;
                    }
                    let joins = before == after
                        && match before {
                            LETTER => mid != MID_DIGIT,
                            DIGIT => mid != MID_LETTER,
                            _ => false,
                        };
                    if !joins {
                        break;
                    }
                }
            }
            at += 1;
        }
        if meets_beyond {
            // No word passes an ASCII blank, so the rest up to there is read by the full rules.
            let end =
                bytes[at..].iter().position(|&byte| byte <= b' ').map_or(bytes.len(), |length| at + length);
            uax29::words(&text[start..end], |from, to| word(start + from, start + to, false));
            at = end;
        } else if has_content {
            word(start, at, true);
        }
    }
}
