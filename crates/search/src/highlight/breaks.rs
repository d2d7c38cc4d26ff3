//! Where passages of a text begin and end. Places are UTF-16 units, as in Java.
//!
//! Source: `java.text.BreakIterator` (here Unicode's default rules), Elasticsearch's `BoundedBreakIteratorScanner`.

use unicode_segmentation::UnicodeSegmentation;

use super::units;
use crate::request::Boundaries;

/// Places before, between and behind the pieces of a text, ascending.
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

    /// The last place before `at`, or the text's start.
    fn preceding(&self, at: usize) -> usize {
        let next = self.0.partition_point(|place| *place < at);
        if next == 0 { 0 } else { self.0[next - 1] }
    }

    /// The first place behind `at`; `None` when there is none.
    fn following(&self, at: usize) -> Option<usize> {
        self.0.get(self.0.partition_point(|place| *place <= at)).copied()
    }
}

/// A line's end is no sentence's end to Java. Each is one unit long, as the space that stands for it.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r', '\u{85}', '\u{2028}'], " ")
}

/// Cuts one text into passages, from its start to its end.
pub(super) struct Passages {
    /// `None`: the whole text is one.
    breaks: Option<Breaks>,
    /// Of sentences that are too long.
    words: Breaks,
    /// 0: no bound.
    length_max: usize,
    length: usize,
    /// The pieces from which the last passage was taken, and that passage.
    window: (usize, usize),
    inner: (usize, usize),
}

impl Passages {
    /// `boundaries`: `None` for the whole text. `length_max`: of passages of sentences.
    pub fn new(text: &str, boundaries: Option<Boundaries>, length_max: usize) -> Passages {
        let words = || Breaks::of(text.split_word_bounds());
        let (breaks, inner_words, length_max) = match boundaries {
            None => (None, Breaks(vec![0]), 0),
            Some(Boundaries::Words) => (Some(words()), Breaks(vec![0]), 0),
            Some(Boundaries::Sentences) => {
                (Some(Breaks::of(one_line(text).split_sentence_bounds())), words(), length_max)
            }
        };
        let length = units::count(text);
        Passages { breaks, words: inner_words, length_max, length, window: (0, 0), inner: (0, 0) }
    }

    /// Start and end of the passage around a match that starts at `start`. Matches ascend.
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
            // Further sentences, as long as they fit.
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
        Boundaries::Words => Breaks::of(text.split_word_bounds()),
        Boundaries::Sentences => Breaks::of(one_line(text).split_sentence_bounds()),
    }
}

/// The last place before the end of a text at which a sentence or word begins.
pub(super) fn last_break(text: &str, boundaries: Boundaries) -> usize {
    breaks_of(text, boundaries).preceding(units::count(text))
}

/// The first place behind the beginning of a text at which a sentence or word ends.
pub(super) fn first_break(text: &str, boundaries: Boundaries) -> usize {
    breaks_of(text, boundaries).following(0).unwrap_or(0)
}

/// The first place behind `at` at which a word or what lies between words ends; the text's end when there is none.
pub(super) fn word_end(text: &str, at: usize) -> usize {
    let mut end = 0;
    for piece in text.split_word_bounds() {
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
        // The sentence is longer: from its start to the end of the word at the length.
        assert_eq!(passages.around(44), (36, 57));
        assert_eq!(Passages::new(text, None, 0).around(4), (0, 70));
        assert_eq!(Passages::new(text, Some(Boundaries::Words), 0).around(4), (4, 7));
    }
}
