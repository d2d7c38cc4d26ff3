//! Where passages of a text begin and end. Positions are UTF-16 units, as in Java.
//!
//! Source: `java.text.BreakIterator` (implemented by Unicode's default rules, corrected where Java's were
//! seen to differ), Elasticsearch's `BoundedBreakIteratorScanner`.

use unicode_segmentation::UnicodeSegmentation;

use super::units;
use crate::request::Boundaries;

/// Positions before, between and after the pieces of a text, ascending.
struct Breaks(Vec<usize>);

impl Breaks {
    fn of<'t>(pieces: impl Iterator<Item = &'t str>) -> Breaks {
        let mut places = vec![0];
        let mut end = 0;
        for piece in pieces {
            end += units::count(piece);
            places.push(end);
        }
        Breaks(places)
    }

    /// Returns the last break before `at`, or the text's start.
    fn preceding(&self, at: usize) -> usize {
        let next = self.0.partition_point(|place| *place < at);
        if next == 0 { 0 } else { self.0[next - 1] }
    }

    /// Returns the first break after `at`; `None` if there is none.
    fn following(&self, at: usize) -> Option<usize> {
        self.0.get(self.0.partition_point(|place| *place <= at)).copied()
    }
}

/// Replaces line ends by spaces: to Java a line's end does not end a sentence. Each is one UTF-16 unit,
/// like the space.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r', '\u{85}', '\u{2028}'], " ")
}

/// Splits one line into sentences: a sentence ends after `!` and `?` whatever follows, and after a full
/// stop that is followed by dashes and a capital.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    line.split_sentence_bounds().flat_map(|mut sentence| {
        let mut pieces = Vec::new();
        while let Some(end) = inner_end(sentence) {
            let (piece, rest) = sentence.split_at(end);
            pieces.push(piece);
            sentence = rest;
        }
        pieces.push(sentence);
        pieces
    })
}

/// Returns where a sentence ends by Java's rules but continues by Unicode's.
fn inner_end(sentence: &str) -> Option<usize> {
    let is_term = |c: char| matches!(c, '!' | '?' | '\u{3002}' | '\u{ff01}' | '\u{ff1f}');
    let mut rest = sentence;
    loop {
        rest = &rest[rest.find(|c: char| is_term(c) || c == '.')?..];
        let behind = rest.trim_start_matches(|c: char| is_term(c) || c == '.');
        let has_term = rest[..rest.len() - behind.len()].contains(is_term);
        let behind = behind.trim_start_matches(is_closing).trim_start();
        let dashed = behind.trim_start_matches(is_dash);
        let is_end = has_term || dashed.len() < behind.len() && dashed.starts_with(char::is_uppercase);
        if is_end && !behind.is_empty() {
            return Some(sentence.len() - behind.len());
        }
        rest = behind;
    }
}

fn is_closing(c: char) -> bool {
    matches!(c, '"' | '\'' | ')' | ']' | '}' | '\u{bb}' | '\u{2019}' | '\u{201d}' | '\u{203a}')
}

/// Whether a character is in Unicode's dash punctuation.
fn is_dash(c: char) -> bool {
    matches!(
        c,
        '-' | '\u{58a}' | '\u{5be}' | '\u{1806}' | '\u{2010}'
            ..='\u{2015}' | '\u{2e3a}' | '\u{2e3b}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}'
    )
}

/// Splits a text into words and what lies between them: letters joined by a single dash or quotation mark
/// are one word to Java.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let ends = text.split_word_bound_indices().map(|(start, piece)| start + piece.len());
    let mut start = 0;
    ends.filter_map(move |end| {
        if is_within_word(text, end) {
            return None;
        }
        let piece = &text[start..end];
        start = end;
        Some(piece)
    })
}

/// Whether a dash or quotation mark before or after `at` joins letters.
fn is_within_word(text: &str, at: usize) -> bool {
    let is_mark = |c: &char| *c == '"' || is_dash(*c);
    // Ideographs and kana are words of their own.
    let is_letter = |c: char| {
        c.is_alphabetic() && !matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..)
    };
    let (before, behind) = text.split_at(at);
    let (mut before, mut behind) = (before.chars().rev().peekable(), behind.chars().peekable());
    let is_marked = before.next_if(is_mark).is_some() || behind.next_if(is_mark).is_some();
    is_marked && before.next().is_some_and(is_letter) && behind.next().is_some_and(is_letter)
}

/// Divides one text into passages, from its start to its end.
pub(super) struct Passages {
    /// `None` if the whole text is one passage.
    breaks: Option<Breaks>,
    /// Word breaks, for sentences that are too long.
    words: Breaks,
    /// Largest length of a passage; 0 if there is no limit.
    length_max: usize,
    length: usize,
    /// The pieces from which the last passage was taken, and that passage.
    window: (usize, usize),
    inner: (usize, usize),
}

impl Passages {
    /// Creates the passages of a text. `boundaries`: `None` for the whole text. `length_max` limits
    /// passages of sentences.
    pub fn new(text: &str, boundaries: Option<Boundaries>, length_max: usize) -> Passages {
        let (breaks, inner_words, length_max) = match boundaries {
            None => (None, Breaks(vec![0]), 0),
            Some(Boundaries::Words) => (Some(Breaks::of(words(text))), Breaks(vec![0]), 0),
            Some(Boundaries::Sentences) => {
                (Some(Breaks::of(sentences(&one_line(text)))), Breaks::of(words(text)), length_max)
            }
        };
        let length = units::count(text);
        Passages { breaks, words: inner_words, length_max, length, window: (0, 0), inner: (0, 0) }
    }

    /// Returns start and end of the passage around a match that starts at `start`. Matches ascend.
    pub fn around(&mut self, start: usize) -> (usize, usize) {
        let Some(breaks) = &self.breaks else { return (0, self.length) };
        let offset = start + 1;
        if self.length_max == 0 {
            return (breaks.preceding(offset), breaks.following(start).unwrap_or(self.length));
        }
        if self.window.0 < offset && offset < self.window.1 {
            // The rest of a sentence that was too long.
            self.inner = (self.inner.1, self.window.1);
        } else {
            self.inner = (breaks.preceding(offset), breaks.following(start).unwrap_or(self.length));
            // Further sentences are added while they fit.
            while self.inner.1 - self.inner.0 < self.length_max {
                match breaks.following(self.inner.1) {
                    Some(end) if end - self.inner.0 <= self.length_max => self.inner.1 = end,
                    _ => break,
                }
            }
            self.window = self.inner;
        }
        if self.inner.1 - self.inner.0 > self.length_max {
            if offset > self.length_max + self.inner.0 {
                self.inner.0 = self.inner.0.max(self.words.preceding(offset - self.length_max));
            }
            let rest = self.length_max.saturating_sub(offset - self.inner.0);
            if offset + rest < self.window.1 {
                let end = self.words.following(offset + rest).unwrap_or(self.length);
                self.inner.1 = self.window.1.min(end);
            }
        }
        self.inner
    }
}

fn breaks_of(text: &str, boundaries: Boundaries) -> Breaks {
    match boundaries {
        Boundaries::Words => Breaks::of(words(text)),
        Boundaries::Sentences => Breaks::of(sentences(&one_line(text))),
    }
}

/// Returns the last position before the end of a text at which a sentence or word begins.
pub(super) fn last_break(text: &str, boundaries: Boundaries) -> usize {
    breaks_of(text, boundaries).preceding(units::count(text))
}

/// Returns the first position after the beginning of a text at which a sentence or word ends.
pub(super) fn first_break(text: &str, boundaries: Boundaries) -> usize {
    breaks_of(text, boundaries).following(0).unwrap_or(0)
}

/// Returns the first position after `at` at which a word, or the space between words, ends; the text's end
/// if there is none.
pub(super) fn word_end(text: &str, at: usize) -> usize {
    let mut end = 0;
    for piece in words(text) {
        end += units::count(piece);
        if end > at {
            break;
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_joined_up_to_the_length_and_cut_at_words() {
        let text = "One fox here. Another fox is there. A final fox sentence that is long.";
        let mut passages = Passages::new(text, Some(Boundaries::Sentences), 40);
        assert_eq!(passages.around(4), (0, 36));
        assert_eq!(passages.around(44), (36, 70));
        let mut passages = Passages::new(text, Some(Boundaries::Sentences), 20);
        assert_eq!(passages.around(4), (0, 14));
        // The sentence is longer: the passage is from its start to the end of the word at the length.
        assert_eq!(passages.around(44), (36, 57));
        assert_eq!(Passages::new(text, None, 0).around(4), (0, 70));
        assert_eq!(Passages::new(text, Some(Boundaries::Words), 0).around(4), (4, 7));
    }

    /// Compared with Elasticsearch 9.4.3.
    #[test]
    fn sentences_end_where_java_ends_them() {
        let check = |text: &str, first: &str| assert_eq!(sentences(text).next(), Some(first), "{text}");
        check("zz ab!--The wise", "zz ab!");
        check("zz ab!, the", "zz ab!");
        check("zz ab? - and", "zz ab? ");
        check("zz ab!\", b", "zz ab!\"");
        check("zz ab!.b", "zz ab!.");
        check("zz ab?--", "zz ab?");
        check("zz ab.--The m", "zz ab.");
        check("zz ab. \u{2014}B", "zz ab. ");
        check("zz ab. - The m", "zz ab. - The m");
        check("zz ab., B", "zz ab., B");
        check("zz hard--. o misery", "zz hard--. o misery");
        check("zz hard--. O misery", "zz hard--. ");
        assert_eq!(sentences("a! - b? (c) d.--E").collect::<String>(), "a! - b? (c) d.--E");
    }

    /// Compared with Elasticsearch 9.4.3.
    #[test]
    fn words_end_where_java_ends_them() {
        let check = |text: &str, first: &str| assert_eq!(words(text).next(), Some(first), "{text}");
        check("zz-yy x", "zz-yy");
        check("zz\"yy x", "zz\"yy");
        check("zz\u{2014}yy x", "zz\u{2014}yy");
        check("zz-yy-xx ww", "zz-yy-xx");
        check("zz-yy5-x w", "zz-yy5");
        check("zz--yy x", "zz");
        check("zz-5 x", "zz");
        check("5-zz x", "5");
        check("zz5-yy x", "zz5");
        check("zz- yy", "zz");
        check("zz-\"yy x", "zz");
        check("-zz", "-");
        assert_eq!(words("-a b-c \"d\"").collect::<String>(), "-a b-c \"d\"");
    }
}
