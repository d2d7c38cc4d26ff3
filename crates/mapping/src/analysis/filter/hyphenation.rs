//! Hyphenation of words, with patterns in the form of FOP's XML files.
//!
//! Source: Lucene's `HyphenationTree` and `PatternParser`, after F. Liang's algorithm.

use hashbrown::HashMap;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// The patterns, exceptions and letters of a language.
#[derive(Debug, Default)]
pub struct Hyphenation {
    /// Maps each letter to the one that patterns use for it.
    letters: HashMap<char, char>,
    /// For each pattern, a digit for each position from before its first letter on. Odd digits mark positions
    /// for hyphens.
    patterns: HashMap<Vec<char>, Vec<u8>>,
    longest: usize,
    /// Words with explicit hyphenation.
    exceptions: HashMap<Vec<char>, Vec<usize>>,
}

/// The section of the file to which an element belongs.
#[derive(Clone, Copy, PartialEq)]
enum Section {
    None,
    Classes,
    Exceptions,
    Patterns,
}

/// Bytes of a pattern's entry besides its text.
const PATTERN_BYTES: u64 = 100;

impl Hyphenation {
    /// Parses a file. Fails with the reason.
    pub fn parse(xml: &str) -> Result<Hyphenation, String> {
        let mut own = Hyphenation::default();
        let mut hyphen = '-';
        let mut section = Section::None;
        let mut words = String::new();
        let mut reader = Reader::from_str(xml);
        loop {
            match reader.read_event().map_err(|error| error.to_string())? {
                Event::Eof => return Ok(own),
                Event::Start(tag) | Event::Empty(tag) => match tag.local_name().as_ref() {
                    b"hyphen-char" => {
                        hyphen =
                            attribute(&tag, "value").and_then(|value| value.chars().next()).unwrap_or(hyphen);
                    }
                    b"classes" => section = Section::Classes,
                    b"patterns" => section = Section::Patterns,
                    b"exceptions" => section = Section::Exceptions,
                    // A position for a hyphen between the letters of an exception.
                    b"hyphen" => words.push(hyphen),
                    _ => {}
                },
                Event::Text(text) => words.push_str(&text.decode().map_err(|error| error.to_string())?),
                Event::CData(text) => words.push_str(&text.decode().map_err(|error| error.to_string())?),
                Event::End(tag) if tag.local_name().as_ref() != b"hyphen" => {
                    own.add(section, &std::mem::take(&mut words), hyphen)?;
                    section = Section::None;
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, section: Section, words: &str, hyphen: char) -> Result<(), String> {
        for word in words.split_whitespace() {
            let bytes = 4 * word.len() as u64 + PATTERN_BYTES;
            limber_work::claim(bytes).map_err(|stop| stop.to_string())?;
            match section {
                Section::None => {}
                Section::Classes => {
                    let first = word.chars().next().unwrap_or_default();
                    self.letters.extend(word.chars().map(|c| (c, first)));
                }
                Section::Exceptions => {
                    let letters: Vec<char> = word.chars().filter(|c| *c != hyphen).collect();
                    let mut places = Vec::new();
                    let mut place = 0;
                    for c in word.chars() {
                        match c == hyphen {
                            true => places.push(place),
                            false => place += 1,
                        }
                    }
                    places.push(place);
                    self.exceptions.insert(letters, places);
                }
                Section::Patterns => {
                    let letters: Vec<char> = word.chars().filter(|c| !c.is_ascii_digit()).collect();
                    let mut values = vec![0; letters.len() + 1];
                    let mut place = 0;
                    for c in word.chars() {
                        match c.to_digit(10) {
                            Some(digit) => values[place] = digit as u8,
                            None => place += 1,
                        }
                    }
                    self.longest = self.longest.max(letters.len());
                    self.patterns.insert(letters, values);
                }
            }
        }
        Ok(())
    }

    /// Returns the positions, in characters, at which the word may be split, including its beginning and its
    /// end; `None` if it cannot be split.
    pub fn points(&self, word: &[char]) -> Option<Vec<usize>> {
        let is_letter = |c: &&char| self.letters.contains_key(*c);
        let before = word.iter().take_while(|c| !is_letter(c)).count();
        let letters: Vec<char> = word[before..].iter().map_while(|c| self.letters.get(c).copied()).collect();
        // A word with letters after a non-letter is left alone.
        if word[before + letters.len()..].iter().any(|c| self.letters.contains_key(c)) || letters.len() < 2 {
            return None;
        }
        let length = letters.len();
        let inner: Vec<usize> = match self.exceptions.get(&letters) {
            Some(places) => places.iter().copied().filter(|place| (1..length - 1).contains(place)).collect(),
            None => {
                let values = self.values(&letters);
                (1..length).filter(|place| values[place + 1] & 1 == 1).collect()
            }
        };
        if inner.is_empty() {
            return None;
        }
        let inner = inner.into_iter().map(|place| place + before);
        Some([0].into_iter().chain(inner).chain([length]).collect())
    }

    /// Returns the highest digit of all patterns at each position, starting before the mark of the beginning.
    fn values(&self, letters: &[char]) -> Vec<u8> {
        let word: Vec<char> = ['.'].iter().chain(letters).chain(&['.']).copied().collect();
        let mut values = vec![0u8; word.len() + 1];
        for start in 0..word.len() - 1 {
            for end in start + 1..=word.len().min(start + self.longest) {
                let Some(pattern) = self.patterns.get(&word[start..end]) else { continue };
                for (value, place) in pattern.iter().zip(start..) {
                    values[place] = values[place].max(*value);
                }
            }
        }
        values
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.try_get_attribute(name).ok()??;
    std::str::from_utf8(&found.value).ok().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::Hyphenation;

    #[test]
    fn words_are_parted_where_patterns_say_so() {
        let xml = r#"<?xml version="1.0"?><!DOCTYPE hyphenation-info SYSTEM "hyphenation.dtd">
            <hyphenation-info><hyphen-char value="-"/><classes>aA bB cC dD</classes>
            <exceptions>ab-cd</exceptions><patterns>a1b .a2b b1c 1dd</patterns></hyphenation-info>"#;
        let own = Hyphenation::parse(xml).unwrap();
        let points = |word: &str| own.points(&word.chars().collect::<Vec<char>>());
        assert_eq!(points("abc"), Some(vec![0, 2, 3]));
        assert_eq!(points("Cabc"), Some(vec![0, 2, 3, 4]));
        assert_eq!(points("abcd"), Some(vec![0, 2, 4]));
        assert_eq!(points("a-b"), None);
        assert_eq!(points("xyz"), None);
    }
}
