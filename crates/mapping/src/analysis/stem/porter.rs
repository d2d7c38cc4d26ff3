//! Porter's stemmer for English.
//!
//! Source: M. F. Porter, "An algorithm for suffix stripping", Program 14 (1980), with two changes from the
//! author's later program (`-bli` to `-ble`, `-logi` to `-log`), as in Lucene's `PorterStemFilter`.

/// Stems a lower-case word in place. Characters other than a, e, i, o, u and y count as consonants.
pub(in crate::analysis) fn stem(word: &mut String) {
    if word.len() <= 2 {
        return;
    }
    if word.is_ascii() {
        let mut bytes = std::mem::take(word).into_bytes();
        Stem { word: &mut bytes }.run();
        // The input and the output are ASCII.
        *word = String::from_utf8(bytes).unwrap_or_default();
    } else {
        let mut chars: Vec<char> = word.chars().collect();
        if chars.len() <= 2 {
            return;
        }
        Stem { word: &mut chars }.run();
        word.clear();
        word.extend(chars);
    }
}

struct Stem<'a, T> {
    word: &'a mut Vec<T>,
}

impl<T: Copy + PartialEq + From<u8>> Stem<'_, T> {
    fn run(&mut self) {
        self.plurals_and_participles();
        self.terminal_y();
        self.replace_first(STEP_2, 0);
        self.replace_first(STEP_3, 0);
        self.remove_suffix();
        self.final_e_and_l();
    }

    fn is(&self, at: usize, letter: u8) -> bool {
        self.word[at] == T::from(letter)
    }

    fn is_consonant(&self, at: usize) -> bool {
        if b"aeiou".iter().any(|&vowel| self.is(at, vowel)) {
            return false;
        }
        // After a consonant, y is a vowel. In a run of y, vowels and consonants alternate.
        !self.is(at, b'y') || at == 0 || !self.is_consonant_before(at)
    }

    /// Whether the letter before `at` is a consonant. Walks back over a run of y without recursion.
    fn is_consonant_before(&self, at: usize) -> bool {
        let mut first = at - 1;
        while first > 0 && self.is(first, b'y') {
            first -= 1;
        }
        let starts_as_consonant = !b"aeiou".iter().any(|&vowel| self.is(first, vowel));
        // From the first letter of the run on, consonants and vowels alternate.
        starts_as_consonant ^ ((at - 1 - first) % 2 == 1)
    }

    /// Returns how often a run of vowels is followed by a run of consonants within the first `length`
    /// letters.
    fn measure(&self, length: usize) -> usize {
        let mut count = 0;
        let mut after_vowel = false;
        for at in 0..length {
            let is_consonant = self.is_consonant(at);
            count += (after_vowel && is_consonant) as usize;
            after_vowel = !is_consonant;
        }
        count
    }

    fn has_vowel(&self, length: usize) -> bool {
        (0..length).any(|at| !self.is_consonant(at))
    }

    fn ends_with(&self, suffix: &[u8]) -> bool {
        let length = self.word.len();
        length >= suffix.len()
            && suffix.iter().enumerate().all(|(at, &letter)| self.is(length - suffix.len() + at, letter))
    }

    /// Returns the number of letters before the suffix, if the word ends with it.
    fn before(&self, suffix: &[u8]) -> Option<usize> {
        self.ends_with(suffix).then(|| self.word.len() - suffix.len())
    }

    fn set_tail(&mut self, stem: usize, tail: &[u8]) {
        self.word.truncate(stem);
        self.word.extend(tail.iter().map(|&letter| T::from(letter)));
    }

    fn ends_with_double_consonant(&self) -> bool {
        let length = self.word.len();
        length >= 2 && self.word[length - 1] == self.word[length - 2] && self.is_consonant(length - 1)
    }

    /// Whether the first `length` letters end with consonant, vowel, and a consonant other than w, x, y.
    fn is_short(&self, length: usize) -> bool {
        length >= 3
            && self.is_consonant(length - 1)
            && !self.is_consonant(length - 2)
            && self.is_consonant(length - 3)
            && !b"wxy".iter().any(|&letter| self.is(length - 1, letter))
    }

    /// Steps 1a and 1b.
    fn plurals_and_participles(&mut self) {
        if self.ends_with(b"s") {
            if let Some(stem) = self.before(b"sses") {
                self.word.truncate(stem + 2);
            } else if let Some(stem) = self.before(b"ies") {
                self.word.truncate(stem + 1);
            } else if !self.ends_with(b"ss") {
                self.word.pop();
            }
        }
        if let Some(stem) = self.before(b"eed") {
            if self.measure(stem) > 0 {
                self.word.pop();
            }
            return;
        }
        let Some(stem) =
            self.before(b"ed").or_else(|| self.before(b"ing")).filter(|&stem| self.has_vowel(stem))
        else {
            return;
        };
        self.word.truncate(stem);
        if self.ends_with(b"at") || self.ends_with(b"bl") || self.ends_with(b"iz") {
            self.word.push(T::from(b'e'));
        } else if self.ends_with_double_consonant() {
            if !b"lsz".iter().any(|&letter| self.is(self.word.len() - 1, letter)) {
                self.word.pop();
            }
        } else if self.measure(self.word.len()) == 1 && self.is_short(self.word.len()) {
            self.word.push(T::from(b'e'));
        }
    }

    /// Applies step 1c.
    fn terminal_y(&mut self) {
        if let Some(stem) = self.before(b"y")
            && self.has_vowel(stem)
        {
            self.set_tail(stem, b"i");
        }
    }

    /// Steps 2 and 3: replaces the first matching suffix if the measure of its stem is above `measure`.
    fn replace_first(&mut self, rules: &[(&[u8], &[u8])], measure: usize) {
        let found = rules.iter().find_map(|(suffix, tail)| Some((self.before(suffix)?, *tail)));
        if let Some((stem, tail)) = found
            && self.measure(stem) > measure
        {
            self.set_tail(stem, tail);
        }
    }

    /// Applies step 4.
    fn remove_suffix(&mut self) {
        let found = STEP_4.iter().find_map(|suffix| self.before(suffix));
        let stem = match found {
            Some(stem) => Some(stem),
            None => self
                .before(b"ion")
                .filter(|&stem| stem > 0 && (self.is(stem - 1, b's') || self.is(stem - 1, b't'))),
        };
        if let Some(stem) = stem
            && self.measure(stem) > 1
        {
            self.word.truncate(stem);
        }
    }

    /// Applies step 5.
    fn final_e_and_l(&mut self) {
        if let Some(stem) = self.before(b"e") {
            let measure = self.measure(stem);
            if measure > 1 || measure == 1 && !self.is_short(stem) {
                self.word.truncate(stem);
            }
        }
        if self.ends_with(b"ll") && self.measure(self.word.len()) > 1 {
            self.word.pop();
        }
    }
}

/// A longer suffix comes before any suffix that it ends with.
const STEP_2: &[(&[u8], &[u8])] = &[
    (b"ational", b"ate"),
    (b"tional", b"tion"),
    (b"enci", b"ence"),
    (b"anci", b"ance"),
    (b"izer", b"ize"),
    (b"bli", b"ble"),
    (b"alli", b"al"),
    (b"entli", b"ent"),
    (b"eli", b"e"),
    (b"ousli", b"ous"),
    (b"ization", b"ize"),
    (b"ation", b"ate"),
    (b"ator", b"ate"),
    (b"alism", b"al"),
    (b"iveness", b"ive"),
    (b"fulness", b"ful"),
    (b"ousness", b"ous"),
    (b"aliti", b"al"),
    (b"iviti", b"ive"),
    (b"biliti", b"ble"),
    (b"logi", b"log"),
];

const STEP_3: &[(&[u8], &[u8])] = &[
    (b"icate", b"ic"),
    (b"ative", b""),
    (b"alize", b"al"),
    (b"iciti", b"ic"),
    (b"ical", b"ic"),
    (b"ful", b""),
    (b"ness", b""),
];

const STEP_4: &[&[u8]] = &[
    b"al", b"ance", b"ence", b"er", b"ic", b"able", b"ible", b"ant", b"ement", b"ment", b"ent", b"ou",
    b"ism", b"ate", b"iti", b"ous", b"ive", b"ize",
];
