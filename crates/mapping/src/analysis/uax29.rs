//! Words of any script, and the type that Lucene's `StandardTokenizer` gives each.

use unicode_segmentation::UnicodeSegmentation;

/// Calls `word(start, end)` for every word of a text, by the full rules. As in Lucene, ideographs and hiragana stand
/// alone, a run of a script that is written without blanks (Thai, Lao, Khmer, Burmese) is one word, and so is an emoji.
pub(super) fn words(text: &str, mut word: impl FnMut(usize, usize)) {
    // A word that may go on: its range, and what would continue it.
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
    /// Blanks, punctuation.
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
        if segment.chars().any(|c| c.is_alphanumeric() && c != '\u{3006}') {
            let is_letter =
                last.is_alphabetic() && !is_ideographic(last) && !is_hiragana(last) && !is_katakana(last);
            return if is_letter { Joint::Letter } else { Joint::Alone };
        }
        // A lone prolonged sound mark belongs to katakana.
        if is_emoji(first) || is_katakana(first) { Joint::Alone } else { Joint::None }
    }

    fn is_word(self) -> bool {
        matches!(self, Joint::Letter | Joint::Southeast | Joint::Alone)
    }
}

/// The type of a token by its text.
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
    if is_katakana(first) && token.chars().all(|c| is_katakana(c) || !c.is_alphanumeric()) {
        return "<KATAKANA>";
    }
    if token.chars().all(|c| is_hangul(c) || !c.is_alphanumeric()) && is_hangul(first) {
        return "<HANGUL>";
    }
    if is_emoji(first) || token.contains('\u{20e3}') {
        return "<EMOJI>";
    }
    let is_number = token.chars().all(|c| c.is_numeric() || !c.is_alphanumeric());
    if is_number { "<NUM>" } else { "<ALPHANUM>" }
}

fn is_southeast_asian(c: char) -> bool {
    matches!(c as u32, 0x0e01..=0x0e3a | 0x0e40..=0x0e4e | 0x0e81..=0x0ecd | 0x0edc..=0x0edf | 0x1000..=0x103f
        | 0x1050..=0x108f | 0x109a..=0x109f | 0x1780..=0x17d3 | 0x1950..=0x19df | 0x1a20..=0x1aad | 0xa9e0..=0xa9ef
        | 0xaa60..=0xaac2)
}

fn is_ideographic(c: char) -> bool {
    matches!(c as u32, 0x3007 | 0x3021..=0x3029 | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x323af)
}

fn is_hiragana(c: char) -> bool {
    matches!(c as u32, 0x3041..=0x3096 | 0x309d..=0x309f | 0x1b001..=0x1b11f)
}

fn is_katakana(c: char) -> bool {
    matches!(c as u32, 0x30a0..=0x30fa | 0x30fc..=0x30ff | 0x31f0..=0x31ff | 0xff66..=0xff9f | 0x1b000)
}

fn is_hangul(c: char) -> bool {
    matches!(c as u32, 0x1100..=0x11ff | 0x3131..=0x318e | 0xa960..=0xa97c | 0xac00..=0xd7fb | 0xffa0..=0xffdc)
}

fn is_emoji(c: char) -> bool {
    matches!(c as u32, 0x1f1e6..=0x1f1ff | 0x1f300..=0x1f64f | 0x1f680..=0x1f6ff | 0x1f7e0..=0x1f7f0 | 0x1f900..=0x1faff
        | 0x2600..=0x27bf | 0x231a..=0x231b | 0x23e9..=0x23f3 | 0x2b50 | 0x2b55)
}
