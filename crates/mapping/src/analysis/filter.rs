//! Token filters: what becomes of a token's text, and whether it stays.

use hashbrown::HashSet;

use super::english::is_stop_word;
use super::folding::fold_into;
use super::letters;
use super::porter;

/// A Snowball stemmer, by its algorithm.
pub(super) struct Snowball {
    pub algorithm: frostem::Algorithm,
    stemmer: frostem::Stemmer,
}

impl Snowball {
    pub fn new(algorithm: frostem::Algorithm) -> Snowball {
        Snowball { algorithm, stemmer: frostem::Stemmer::new(algorithm) }
    }
}

impl std::fmt::Debug for Snowball {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.algorithm)
    }
}

#[derive(Debug)]
pub(super) enum Filter {
    Lowercase,
    Uppercase,
    Trim,
    /// Lucene's `ASCIIFoldingFilter`.
    AsciiFolding,
    /// Lucene's `EnglishPossessiveFilter`.
    EnglishPossessive,
    /// Lucene's English stop words.
    EnglishStop,
    Stop {
        words: HashSet<String>,
        ignore_case: bool,
    },
    /// Lucene's `PorterStemFilter`.
    PorterStem,
    /// A Snowball stemmer.
    Snowball(Snowball),
    /// Length in UTF-16 units, both ends included.
    Length {
        min: usize,
        max: usize,
    },
}

impl Filter {
    /// Whether it changes characters alone, so that a normalizer may have it.
    pub fn is_normalizing(&self) -> bool {
        matches!(self, Filter::Lowercase | Filter::Uppercase | Filter::Trim | Filter::AsciiFolding)
    }

    /// Changes the token in place; false when it is removed. `other` is room to write in.
    #[inline]
    pub fn apply(&self, token: &mut String, other: &mut String) -> bool {
        match self {
            Filter::Lowercase => {
                if token.is_ascii() {
                    token.make_ascii_lowercase();
                } else {
                    other.clear();
                    lowercase_into(token, other);
                    std::mem::swap(token, other);
                }
                true
            }
            Filter::Uppercase => {
                if token.is_ascii() {
                    token.make_ascii_uppercase();
                } else {
                    other.clear();
                    for c in token.chars() {
                        let mut upper = c.to_uppercase();
                        // A character whose upper case is several characters stays, as in Java's simple mapping.
                        other.push(if upper.len() == 1 { upper.next().unwrap_or(c) } else { c });
                    }
                    std::mem::swap(token, other);
                }
                true
            }
            Filter::Trim => {
                other.clear();
                other.push_str(token.trim_matches(|c: char| c <= ' '));
                std::mem::swap(token, other);
                true
            }
            Filter::AsciiFolding => {
                if !token.is_ascii() {
                    other.clear();
                    fold_into(token, other);
                    std::mem::swap(token, other);
                }
                true
            }
            Filter::EnglishPossessive => {
                let stripped = token
                    .strip_suffix(['s', 'S'])
                    .and_then(|rest| rest.strip_suffix(['\'', '\u{2019}', '\u{ff07}']));
                if let Some(length) = stripped.map(str::len) {
                    token.truncate(length);
                }
                true
            }
            Filter::EnglishStop => !is_stop_word(token),
            Filter::Stop { words, ignore_case: false } => !words.contains(token.as_str()),
            Filter::Stop { words, ignore_case: true } => {
                other.clear();
                lowercase_into(token, other);
                !words.contains(other.as_str())
            }
            Filter::PorterStem => {
                porter::stem(token);
                true
            }
            Filter::Snowball(snowball) => {
                let stem = snowball.stemmer.stem(token);
                other.clear();
                other.push_str(&stem);
                std::mem::swap(token, other);
                true
            }
            Filter::Length { min, max } => (*min..=*max).contains(&token.encode_utf16().count()),
        }
    }
}

/// Appends `text` in lower case, character by character as Java's `Character.toLowerCase` does: one character stays one
/// character, and a sigma is the same everywhere in a word.
pub(super) fn lowercase_into(text: &str, out: &mut String) {
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c.to_ascii_lowercase());
        } else {
            out.push(letters::lower(c));
        }
    }
}
