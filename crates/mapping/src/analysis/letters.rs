//! The behaviour of the characters of most scripts within a word, and their lower case: "does this word
//! continue, without applying all rules?"
//!
//! The rules of [`super::uax29`] search several tables for every character. Nearly all non-ASCII text
//! consists of letters that behave like `a`, of marks on them, and of ideographs. The kind of each character
//! is computed once and kept in one table.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use unicode_segmentation::UnicodeSegmentation;

use super::uax29;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Kind {
    /// Needs the full rules.
    Other = 1,
    /// Joins letters and digits on both sides; a mid character may join it to the next letter.
    Letter,
    /// Belongs to the character before it (rule WB4).
    Mark,
    /// Is a word by itself.
    Ideograph,
}

/// For each character of the basic plane its [`Kind`], above 21 bits for its lower case; 0 means not computed
/// yet.
static KNOWN: [AtomicU32; 0x1_0000] = [const { AtomicU32::new(0) }; 0x1_0000];
const LOWER_BITS: u32 = 21;

#[inline]
fn known(c: char) -> u32 {
    let Some(entry) = KNOWN.get(c as usize) else {
        // Nothing is kept beyond the basic plane; complex characters there are left to the full rules.
        return packed(if is_lone_ideograph(c) { Kind::Ideograph } else { Kind::Other }, c);
    };
    match entry.load(Relaxed) {
        0 => {
            let found = packed(kind_by_rules(c), c);
            entry.store(found, Relaxed);
            found
        }
        found => found,
    }
}

fn packed(kind: Kind, c: char) -> u32 {
    // Only the dotted capital I has two lower-case characters. The first, a plain i, is Java's result.
    let lower = c.to_lowercase().next().unwrap_or(c);
    (kind as u32) << LOWER_BITS | lower as u32
}

#[inline]
pub(super) fn kind(c: char) -> Kind {
    match known(c) >> LOWER_BITS {
        2 => Kind::Letter,
        3 => Kind::Mark,
        4 => Kind::Ideograph,
        _ => Kind::Other,
    }
}

#[inline]
pub(super) fn lower(c: char) -> char {
    char::from_u32(known(c) & ((1 << LOWER_BITS) - 1)).unwrap_or(c)
}

/// Appends `text` in lower case, character by character, like Java's `Character.toLowerCase`: one character
/// stays one character, and sigma does not depend on its position in a word.
pub(crate) fn lowercase_into(text: &str, out: &mut String) {
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c.to_ascii_lowercase());
        } else {
            out.push(lower(c));
        }
    }
}

/// Whether a character is an ideograph in the standard library's version of Unicode too; otherwise the full
/// rules would not find a word.
fn is_lone_ideograph(c: char) -> bool {
    uax29::is_ideographic(c) && c.is_alphanumeric()
}

/// Determines the kind from the segmenter's results for the character next to others.
#[cold]
fn kind_by_rules(c: char) -> Kind {
    let is_one = |parts: [&str; 3]| {
        let text = parts.concat();
        text.split_word_bounds().count() == 1
    };
    let mut bytes = [0; 4];
    let this = &*c.encode_utf8(&mut bytes);
    let joins_behind = is_one([" ", this, ""]);
    if joins_behind {
        let is_mark = !is_one([this, "a", ""]) && is_one(["a", this, "b"]) && is_one(["1", this, "2"]);
        // Excludes the zero width joiner of emoji, and characters that could form words of their own.
        return if is_mark && c != '\u{200d}' { Kind::Mark } else { Kind::Other };
    }
    if is_lone_ideograph(c) {
        let alone = !is_one([this, this, ""]) && !is_one(["a", this, ""]) && !is_one([this, "a", ""]);
        return if alone { Kind::Ideograph } else { Kind::Other };
    }
    let is_letter = c.is_alphabetic()
        && !uax29::stands_apart(c)
        && is_one(["a", this, "a"])
        && is_one(["1", this, "1"])
        && is_one([this, this, "_"])
        && is_one([this, ".", this])
        && !is_one([this, ",", this])
        && !is_one([this, "\"", this])
        && !is_one([this, "'", ""]);
    if is_letter { Kind::Letter } else { Kind::Other }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_scripts() {
        let cases = [
            ("é", "Letter"),
            ("Ж", "Letter"),
            ("ω", "Letter"),
            ("ل", "Letter"),
            ("ह", "Letter"),
            ("한", "Letter"),
            ("א", "Other"),
            ("カ", "Other"),
            ("ひ", "Other"),
            ("ไ", "Other"),
            ("١", "Other"),
            ("·", "Other"),
            ("\u{0301}", "Mark"),
            ("\u{093f}", "Mark"),
            ("\u{200d}", "Other"),
            ("林", "Ideograph"),
            ("𠀀", "Ideograph"),
            ("😀", "Other"),
            ("𐐀", "Other"),
            ("—", "Other"),
            ("\u{fa6e}", "Other"),
            ("\u{2a6e0}", "Other"),
        ];
        for (text, expected) in &cases {
            let c = text.chars().next().expect("a character");
            for _ in 0..2 {
                assert_eq!(format!("{:?}", kind(c)), *expected, "{text:?}");
            }
        }
    }

    #[test]
    fn lower_case_is_the_first_of_the_standard_library() {
        for c in ('\u{80}'..=char::MAX).step_by(7) {
            assert_eq!(lower(c), c.to_lowercase().next().expect("one"), "{c:?}");
        }
        assert_eq!((lower('İ'), lower('É'), lower('Ⴀ'), lower('𐐀')), ('i', 'é', 'ⴀ', '𐐨'));
    }
}
