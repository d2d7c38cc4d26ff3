//! The word while endings are tried.

use super::words::{Entry, find};

/// Words with this many characters or more are not stemmed.
const LENGTH_MAX: usize = 50;

/// A word and the position of its ending.
#[derive(Debug)]
pub struct Stem {
    pub word: Vec<u8>,
    /// Index of the last letter before the most recently matched ending; -1 if there is none.
    pub before: isize,
    /// Index of the last letter of the word.
    pub last: isize,
    pub found: Option<Entry>,
}

/// Replaces a lower-case word by its stem.
pub fn stem(text: &mut String) {
    let length = text.encode_utf16().count();
    if length <= 2 || length >= LENGTH_MAX {
        return;
    }
    if let Some(entry) = find(text.as_bytes()) {
        if let Some(root) = entry.root {
            text.replace_range(.., root);
        }
        return;
    }
    if !text.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return;
    }
    let word = text.as_bytes().to_vec();
    let last = word.len() as isize - 1;
    let mut stem = Stem { word, before: 0, last, found: None };
    stem.run();
    let root = stem.found.and_then(|entry| entry.root);
    let word = root.or_else(|| std::str::from_utf8(&stem.word).ok()).unwrap_or_default();
    text.replace_range(.., word);
}

impl Stem {
    fn run(&mut self) {
        const FIRST: &[fn(&mut Stem)] = &[
            Stem::plural,
            Stem::past_tense,
            Stem::aspect,
            Stem::ity,
            Stem::ness,
            Stem::ion,
            Stem::er_and_or,
            Stem::ly,
            Stem::al,
        ];
        const THEN: &[fn(&mut Stem)] =
            &[Stem::ive, Stem::ize, Stem::ment, Stem::ble, Stem::ism, Stem::ic, Stem::ncy, Stem::nce];
        for ending in FIRST {
            ending(self);
            if self.found.is_some() {
                return;
            }
        }
        self.entry();
        for ending in THEN {
            ending(self);
            if self.found.is_some() {
                return;
            }
        }
    }

    /// Returns the letter at an index; NUL if there is none.
    pub fn at(&self, place: isize) -> u8 {
        usize::try_from(place).ok().and_then(|place| self.word.get(place)).copied().unwrap_or(0)
    }

    pub(super) fn put(&mut self, place: isize, letter: u8) {
        if let Some(found) = usize::try_from(place).ok().and_then(|place| self.word.get_mut(place)) {
            *found = letter;
        }
    }

    /// Truncates the word to `count` letters, or extends it with placeholders.
    pub fn keep(&mut self, count: isize) {
        self.word.resize(usize::try_from(count).unwrap_or(0), b'?');
    }

    pub(super) fn add(&mut self, letters: &str) {
        self.word.extend_from_slice(letters.as_bytes());
    }

    /// Whether the word is in the list. Stores its entry.
    pub fn is_known(&mut self) -> bool {
        self.found = find(&self.word);
        self.found.is_some()
    }

    /// Returns the word's entry, but stores it only if it is not an exception.
    pub fn entry(&mut self) -> Option<Entry> {
        if self.found.is_none() {
            let entry = find(&self.word);
            self.found = entry.filter(|entry| !entry.is_exception);
            return entry;
        }
        self.found
    }

    /// Replaces the ending by these letters and sets `last` to the last of them. Returns whether the new word
    /// is in the list.
    pub fn try_with(&mut self, letters: &str) -> bool {
        self.keep(self.before + 1);
        self.add(letters);
        self.last = self.before + letters.len() as isize;
        self.is_known()
    }

    /// Whether the word has this ending, with letters before it.
    pub fn ends(&mut self, ending: &str) -> bool {
        let length = ending.len() as isize;
        let is_so = length <= self.last
            && (self.word.get((self.last + 1 - length) as usize..=self.last as usize))
                .is_some_and(|end| end == ending.as_bytes());
        if is_so {
            self.before = self.last - length;
        }
        is_so
    }

    pub(super) fn is_consonant(&self, place: isize) -> bool {
        match self.at(place) {
            b'a' | b'e' | b'i' | b'o' | b'u' => false,
            b'y' if place > 0 => !self.is_consonant(place - 1),
            _ => true,
        }
    }

    pub(super) fn has_double(&self, place: isize) -> bool {
        place >= 1 && self.at(place) == self.at(place - 1) && self.is_consonant(place)
    }

    /// Whether there is a vowel before the ending.
    pub fn has_vowel(&self) -> bool {
        (0..=self.before).any(|place| !self.is_consonant(place))
    }
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn stems_are_lucenes() {
        let cases = [
            ("stopped", "stop"),
            ("slower", "slow"),
            ("calories", "calorie"),
            ("opposition", "opposition"),
            ("nationally", "national"),
            ("adherence", "adherence"),
            ("abcdings", "abcd"),
            ("xyz", "xyz"),
            ("italian", "italy"),
            ("rooming", "room"),
            ("yyyyyyyyyyyyyyyyyyyyyyyyed", "yyyyyyyyyyyyyyyyyyyyyyyye"),
        ];
        for (word, expected) in cases {
            let mut text = word.to_owned();
            stem(&mut text);
            assert_eq!(text, expected, "{word}");
        }
    }
}
