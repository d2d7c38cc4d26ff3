//! Numbers as characters that sort as they do: six bits a character, the highest first, with the 64
//! characters of URL-safe base64 in the order of their bytes.
//!
//! Therefore any texts of one length over these characters can be stored as numbers, and texts that sort next
//! to each other become numbers that differ little. Ordinary base64 has the same characters in another order,
//! in which numbers and texts sort differently.

/// The characters, ascending.
pub const CHARACTERS: &[u8; 64] = b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

/// Most characters of a number: 54 bits, so that a row of them can be packed ([`crate::line`]).
pub const CHARACTERS_MAX: usize = 9;

const NO_DIGIT: u8 = 0xff;

/// Inverse of [`CHARACTERS`]; [`NO_DIGIT`] for other bytes.
static DIGITS: [u8; 256] = {
    let mut digits = [NO_DIGIT; 256];
    let mut at = 0;
    while at < CHARACTERS.len() {
        digits[CHARACTERS[at] as usize] = at as u8;
        at += 1;
    }
    digits
};

/// Returns the number that at most [`CHARACTERS_MAX`] characters stand for; `None` for other texts.
#[inline]
pub fn decode(text: &[u8]) -> Option<u64> {
    if text.len() > CHARACTERS_MAX {
        return None;
    }
    let (mut number, mut seen) = (0, 0);
    for &byte in text {
        let digit = DIGITS[usize::from(byte)];
        seen |= digit;
        number = number << 6 | u64::from(digit & 63);
    }
    (seen < 64).then_some(number)
}

/// Appends the lowest `6 * len` bits of `number` as `len` characters, at most [`CHARACTERS_MAX`].
#[inline]
pub fn encode(number: u64, len: usize, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + len.min(CHARACTERS_MAX), 0);
    fill(number, &mut out[start..]);
}

/// Fills `out`, which has at most [`CHARACTERS_MAX`] bytes, with the lowest bits of `number`.
#[inline]
pub fn fill(mut number: u64, out: &mut [u8]) {
    for byte in out.iter_mut().rev() {
        *byte = CHARACTERS[number as usize & 63];
        number >>= 6;
    }
}

/// Returns how many bytes at the end of `text` are such characters.
pub fn suffix_len(text: &[u8]) -> usize {
    text.iter().rev().take_while(|byte| DIGITS[usize::from(**byte)] != NO_DIGIT).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_sort_as_their_numbers() {
        assert!(CHARACTERS.is_sorted_by(|a, b| a < b));
        let mut last = Vec::new();
        for number in (0..1u64 << 18).step_by(7) {
            let mut text = Vec::new();
            encode(number, 3, &mut text);
            assert!(text > last);
            assert_eq!((decode(&text), suffix_len(&text)), (Some(number), 3));
            last = text;
        }
        let mut widest = Vec::new();
        encode((1 << 54) - 1, CHARACTERS_MAX, &mut widest);
        assert_eq!((&*widest, decode(&widest)), (&b"zzzzzzzzz"[..], Some((1 << 54) - 1)));
        assert_eq!(
            (decode(b"zzzzzzzzzz"), decode(b""), decode(b"a b"), decode(b"\xff")),
            (None, Some(0), None, None)
        );
        assert_eq!((suffix_len(b"a:b"), suffix_len(b""), suffix_len(b"b:")), (1, 0, 0));
    }
}
