//! Splits text of any script into words, and determines the type that Lucene's `StandardTokenizer` gives
//! each.

use unicode_segmentation::UnicodeSegmentation;

use super::unicode;

/// Calls `word(start, end)` for every word of a text, by the full rules. As in Lucene, each ideograph and
/// each hiragana is a word. A run of a script that is written without blanks (Thai, Lao, Khmer, Burmese) is
/// one word, and so is an emoji.
pub(super) fn words(text: &str, mut word: impl FnMut(usize, usize)) {
    // A word that may continue: its range, and what would continue it.
    let mut open: Option<(usize, usize, Joint)> = None;
    let mut segments = text.split_word_bound_indices().peekable();
    while let Some((start, segment)) = segments.next() {
        let end = start + segment.len();
        let joint = Joint::of(segment);
        if let Some((from, to, last)) = &mut open {
            let continues = *to == start
                && match joint {
                    Joint::Southeast => *last == Joint::Southeast,
                    Joint::Colon => {
                        // A colon joins letters, whatever the segmenter's version of Unicode says.
                        *last == Joint::Letter
                            && segments.peek().is_some_and(|(_, next)| {
                                Joint::of(next) == Joint::Letter
                                    && next.chars().next().is_some_and(char::is_alphabetic)
                            })
                    }
                    Joint::Letter => *last == Joint::Colon,
                    _ => false,
                };
            if continues {
                *to = end;
                *last = joint;
                continue;
            }
            word(*from, *to);
            open = None;
        }
        if joint.is_word() {
            open = Some((start, end, joint));
        }
    }
    if let Some((from, to, _)) = open {
        word(from, to);
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Joint {
    /// A word that a colon may continue.
    Letter,
    Southeast,
    Colon,
    /// A word that nothing continues.
    Alone,
    /// Not a word: blanks or punctuation.
    None,
}

impl Joint {
    fn of(segment: &str) -> Joint {
        let mut chars = segment.chars();
        let Some(first) = chars.next() else { return Joint::None };
        if segment == ":" {
            return Joint::Colon;
        }
        if is_southeast_asian(first) {
            return Joint::Southeast;
        }
        let last = segment.chars().next_back().unwrap_or(first);
        if segment.chars().any(|c| makes_words(c) && c != '\u{3006}') {
            let is_letter = last.is_alphabetic() && !stands_apart(last);
            return if is_letter { Joint::Letter } else { Joint::Alone };
        }
        // A prolonged sound mark by itself belongs to katakana.
        if is_emoji(first) || is_katakana(first) { Joint::Alone } else { Joint::None }
    }

    fn is_word(self) -> bool {
        matches!(self, Joint::Letter | Joint::Southeast | Joint::Alone)
    }
}

/// Whether a word can consist of the character: letters, letter numbers and decimal digits, but neither marks
/// nor fractions and the like.
fn makes_words(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    c.is_alphabetic() && !unicode::is_mark(c) || unicode::is_digit(c)
}

/// Determines the type of a token from its text.
pub(super) fn kind(token: &str) -> &'static str {
    let first = token.chars().find(|c| *c != '_').unwrap_or('_');
    if is_southeast_asian(first) {
        return "<SOUTHEAST_ASIAN>";
    }
    if is_ideographic(first) {
        return "<IDEOGRAPHIC>";
    }
    if is_hiragana(first) {
        return "<HIRAGANA>";
    }
    if is_katakana(first) && token.chars().all(|c| is_katakana(c) || !makes_words(c)) {
        return "<KATAKANA>";
    }
    if token.chars().all(|c| is_hangul(c) || !makes_words(c)) && is_hangul(first) {
        return "<HANGUL>";
    }
    if is_emoji(first) || token.contains('\u{20e3}') {
        return "<EMOJI>";
    }
    let is_number = token.chars().all(|c| unicode::is_digit(c) || !makes_words(c));
    if is_number { "<NUM>" } else { "<ALPHANUM>" }
}

/// Whether a letter is a word by itself, or is only joined with letters of its script. Scripts of Southeast
/// Asia are not included.
pub(super) fn stands_apart(c: char) -> bool {
    is_ideographic(c) || is_hiragana(c) || is_katakana(c)
}

fn is_southeast_asian(c: char) -> bool {
    matches!(c as u32, 0x0e01..=0x0e3a | 0x0e40..=0x0e4e | 0x0e81..=0x0ecd | 0x0edc..=0x0edf | 0x1000..=0x103f
        | 0x1050..=0x108f | 0x109a..=0x109f | 0x1780..=0x17d3 | 0x1950..=0x19df | 0x1a20..=0x1aad | 0xa9e0..=0xa9ef
        | 0xaa60..=0xaac2)
}

pub(super) fn is_ideographic(c: char) -> bool {
    matches!(c as u32, 0x3007 | 0x3021..=0x3029 | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x323af)
}

fn is_hiragana(c: char) -> bool {
    matches!(c as u32, 0x3041..=0x3096 | 0x309d..=0x309f | 0x1b001..=0x1b11f)
}

fn is_katakana(c: char) -> bool {
    matches!(c as u32, 0x3031..=0x3035 | 0x309b..=0x309c | 0x30a0..=0x30fa | 0x30fc..=0x30ff | 0x31f0..=0x31ff | 0x32d0..=0x32fe
        | 0x3300..=0x3357 | 0xff66..=0xff9f | 0x1b000)
}

fn is_hangul(c: char) -> bool {
    matches!(c as u32, 0x1100..=0x11ff | 0x3131..=0x318e | 0xa960..=0xa97c | 0xac00..=0xd7fb | 0xffa0..=0xffdc)
}

/// Whether the character is in Unicode's `Extended_Pictographic`, or is half of a flag.
fn is_emoji(c: char) -> bool {
    matches!(c as u32, 0xa9 | 0xae | 0x203c | 0x2049 | 0x2122 | 0x2139 | 0x2194..=0x2199 | 0x21a9..=0x21aa | 0x231a..=0x231b
        | 0x2328 | 0x2388 | 0x23cf | 0x23e9..=0x23f3 | 0x23f8..=0x23fa | 0x24c2 | 0x25aa..=0x25ab | 0x25b6 | 0x25c0
        | 0x25fb..=0x25fe | 0x2600..=0x2605 | 0x2607..=0x2612 | 0x2614..=0x2685 | 0x2690..=0x2705 | 0x2708..=0x2712 | 0x2714
        | 0x2716 | 0x271d | 0x2721 | 0x2728 | 0x2733..=0x2734 | 0x2744 | 0x2747 | 0x274c | 0x274e | 0x2753..=0x2755 | 0x2757
        | 0x2763..=0x2767 | 0x2795..=0x2797 | 0x27a1 | 0x27b0 | 0x27bf | 0x2934..=0x2935 | 0x2b05..=0x2b07 | 0x2b1b..=0x2b1c
        | 0x2b50 | 0x2b55 | 0x3030 | 0x303d | 0x3297 | 0x3299 | 0x1f000..=0x1f0ff | 0x1f10d..=0x1f10f | 0x1f12f
        | 0x1f16c..=0x1f171 | 0x1f17e..=0x1f17f | 0x1f18e | 0x1f191..=0x1f19a | 0x1f1ad..=0x1f1ff | 0x1f201..=0x1f20f | 0x1f21a
        | 0x1f22f | 0x1f232..=0x1f23a | 0x1f23c..=0x1f23f | 0x1f249..=0x1f53d | 0x1f546..=0x1f64f | 0x1f680..=0x1f6ff
        | 0x1f774..=0x1f77f | 0x1f7d5..=0x1f7ff | 0x1f80c..=0x1f80f | 0x1f848..=0x1f84f | 0x1f85a..=0x1f85f | 0x1f888..=0x1f88f
        | 0x1f8ae..=0x1f8ff | 0x1f90c..=0x1f93a | 0x1f93c..=0x1f945 | 0x1f947..=0x1faff | 0x1fc00..=0x1fffd)
}
