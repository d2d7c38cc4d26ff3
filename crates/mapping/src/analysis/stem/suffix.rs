//! Operations on the end of a word.

/// The characters of a word.
pub type Word = Vec<char>;

/// Examines and changes the end of a word.
pub trait Suffix {
    /// Whether the word ends with `suffix`.
    fn ends(&self, suffix: &str) -> bool;
    /// Returns the `n`th character from the end, counting from 1; a blank if there is none.
    fn back(&self, n: usize) -> char;
    /// Removes the last `count` characters.
    fn cut(&mut self, count: usize);
    /// Replaces the `n`th character from the end.
    fn put(&mut self, n: usize, c: char);
    /// Removes the suffix if the word ends with it. Returns whether it did.
    fn strip(&mut self, suffix: &str) -> bool;
}

impl Suffix for Word {
    fn ends(&self, suffix: &str) -> bool {
        suffix.chars().rev().zip(1..).all(|(c, n)| n <= self.len() && self.back(n) == c)
    }

    fn back(&self, n: usize) -> char {
        self.len().checked_sub(n).map_or(' ', |at| self[at])
    }

    fn cut(&mut self, count: usize) {
        self.truncate(self.len().saturating_sub(count));
    }

    fn put(&mut self, n: usize, c: char) {
        if let Some(at) = self.len().checked_sub(n) {
            self[at] = c;
        }
    }

    fn strip(&mut self, suffix: &str) -> bool {
        let ends = self.ends(suffix);
        if ends {
            self.cut(suffix.chars().count());
        }
        ends
    }
}

/// Returns a vowel without the accents that stemmers of western languages remove.
pub fn without_accent(c: char) -> char {
    match c {
        'à' | 'á' | 'â' | 'ä' => 'a',
        'ò' | 'ó' | 'ô' | 'ö' => 'o',
        'è' | 'é' | 'ê' | 'ë' => 'e',
        'ù' | 'ú' | 'û' | 'ü' => 'u',
        'ì' | 'í' | 'î' | 'ï' => 'i',
        other => other,
    }
}
