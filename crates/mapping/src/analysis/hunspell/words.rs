//! The word files: words with their flags.

use hashbrown::HashMap;

use super::affix::Affixes;
use super::dictionary::decoded;

/// A word with one set of flags.
#[derive(Debug)]
pub struct Entry {
    pub flags: Box<[u32]>,
    /// The stem given in its morphology (`st:`).
    pub stem: Option<Box<str>>,
}

/// Words by their letters.
#[derive(Debug, Default)]
pub struct Entries(HashMap<Box<[char]>, Vec<Entry>>);

/// Bytes of a word's entry besides its text.
const WORD_BYTES: u64 = 120;

/// The case of a word's letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// All letters in upper case.
    Upper,
    /// Only the first letter is in upper case.
    Title,
    /// All letters in lower case.
    Lower,
    /// Anything else.
    Mixed,
}

impl Case {
    /// Determines the case of a word.
    pub fn of(word: &[char]) -> Case {
        let Some((first, rest)) = word.split_first() else { return Case::Lower };
        let (has_upper, has_lower) =
            (rest.iter().any(|c| c.is_uppercase()), rest.iter().any(|c| c.is_lowercase()));
        match (first.is_uppercase(), has_upper, has_lower) {
            (true, _, false) => Case::Upper,
            (true, false, true) => Case::Title,
            (true, true, true) | (false, true, _) => Case::Mixed,
            (false, false, _) => Case::Lower,
        }
    }
}

impl Entries {
    /// Returns all entries of a word; empty if it is unknown.
    pub fn get(&self, word: &[char]) -> &[Entry] {
        self.0.get(word).map_or(&[], Vec::as_slice)
    }

    /// Adds the words of a file. Fails with the reason.
    pub fn add(&mut self, bytes: &[u8], affixes: &Affixes, ignores_case: bool) -> Result<(), String> {
        let text = decoded(bytes, &affixes.encoding)?;
        // The first line is the number of words.
        for line in text.lines().skip(1) {
            if line.is_empty() || line.starts_with(['#', '\t']) {
                continue;
            }
            limber_work::claim(8 * line.len() as u64 + WORD_BYTES).map_err(|stop| stop.to_string())?;
            self.line(line, affixes, ignores_case)?;
        }
        Ok(())
    }

    fn line(&mut self, line: &str, affixes: &Affixes, ignores_case: bool) -> Result<(), String> {
        let (head, morphology) = line.split_at(morphology_start(line));
        let (word, flags) = split_flags(head);
        let has_flags = flags.is_some();
        let flags = affixes.flags(flags.unwrap_or_default().trim())?;
        let word: Vec<char> = affixes.cleaned(&word, ignores_case).chars().collect();
        if word.is_empty() {
            return Ok(());
        }
        let stem = stem_of(morphology, affixes);
        let case = Case::of(&word);
        if case == Case::Mixed || case == Case::Upper && has_flags {
            // Also matches the word with a capital first letter, as at the beginning of a sentence.
            let rest = word[1..].iter().map(|c| affixes.lower(*c));
            let title: Box<[char]> = word[0].to_uppercase().take(1).chain(rest).collect();
            let entry = Entry { flags: flags.clone(), stem: stem.clone() };
            self.0.entry(title).or_default().push(entry);
        }
        self.0.entry(word.into()).or_default().push(Entry { flags, stem });
        Ok(())
    }
}

/// Returns where the morphology begins: at a tab, or at a blank before two letters and a colon.
fn morphology_start(line: &str) -> usize {
    let bytes = line.as_bytes();
    let is_field = |at: usize| {
        let mut rest = line[at + 1..].chars();
        let mut letter = || rest.next().is_some_and(char::is_alphabetic);
        letter() && letter() && rest.next() == Some(':')
    };
    let begins = |at: &usize| bytes[*at] == b'\t' || bytes[*at] == b' ' && *at > 0 && is_field(*at);
    (0..bytes.len()).find(begins).unwrap_or(line.len())
}

/// Returns the word and its flags, which follow an unescaped slash.
fn split_flags(head: &str) -> (String, Option<&str>) {
    let mut word = String::with_capacity(head.len());
    let mut chars = head.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => word.extend(chars.next().map(|(_, escaped)| escaped)),
            '/' if at > 0 => return (word, Some(&head[at + 1..])),
            other => word.push(other),
        }
    }
    (word, None)
}

fn stem_of(morphology: &str, affixes: &Affixes) -> Option<Box<str>> {
    let number = morphology.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let named = number.and_then(|number| affixes.morphology.get(number));
    let text = named.map_or(morphology, String::as_str);
    text.split_whitespace().find_map(|field| field.strip_prefix("st:")).map(Into::into)
}
