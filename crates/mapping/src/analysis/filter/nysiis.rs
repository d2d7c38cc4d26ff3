//! The code of a name by the New York State Identification and Intelligence System, with six letters.
//!
//! Source: Apache Commons Codec's `Nysiis`; letters other than A to Z are unchanged.

use crate::analysis::unicode;

const LENGTH_MAX: usize = 6;

fn is_vowel(c: char) -> bool {
    matches!(c, 'A' | 'E' | 'I' | 'O' | 'U')
}

/// Returns the code of a name.
pub fn nysiis(name: &str) -> String {
    let letters: String = name.chars().filter(|c| unicode::is_letter(*c)).collect();
    let mut name = letters.to_uppercase();
    for (from, to) in [("MAC", "MCC"), ("KN", "NN"), ("K", "C"), ("PH", "FF"), ("PF", "FF"), ("SCH", "SSS")] {
        if name.starts_with(from) {
            name.replace_range(..from.len(), to);
        }
    }
    for (endings, to) in [(&["EE", "IE"][..], "Y"), (&["DT", "RT", "RD", "NT", "ND"], "D")] {
        if let Some(ending) = endings.iter().find(|ending| name.ends_with(**ending)) {
            name.replace_range(name.len() - ending.len().., to);
        }
    }
    let mut chars: Vec<char> = name.chars().collect();
    let Some(first) = chars.first().copied() else { return String::new() };
    let mut key = vec![first];
    for at in 1..chars.len() {
        let after = |count: usize| chars.get(at + count).copied().unwrap_or(' ');
        let made = transcoded(chars[at - 1], chars[at], after(1), after(2));
        for (place, c) in made.chars().enumerate() {
            if let Some(letter) = chars.get_mut(at + place) {
                *letter = c;
            }
        }
        if chars[at] != chars[at - 1] {
            key.push(chars[at]);
        }
    }
    shortened(key)
}

/// Returns the replacement of a letter and those after it.
fn transcoded(before: char, letter: char, next: char, after_next: char) -> String {
    let made = match (letter, next, after_next) {
        ('E', 'V', _) => "AF",
        (vowel, ..) if is_vowel(vowel) => "A",
        ('Q', ..) => "G",
        ('Z', ..) => "S",
        ('M', ..) => "N",
        ('K', 'N', _) => "NN",
        ('K', ..) => "C",
        ('S', 'C', 'H') => "SSS",
        ('P', 'H', _) => "FF",
        ('H', ..) if !is_vowel(before) || !is_vowel(next) => return before.to_string(),
        ('W', ..) if is_vowel(before) => return before.to_string(),
        _ => return letter.to_string(),
    };
    made.to_owned()
}

fn shortened(mut key: Vec<char>) -> String {
    if key.len() > 1 {
        if key.last() == Some(&'S') {
            key.pop();
        }
        let last = key.last().copied();
        if key.len() > 2 && key[key.len() - 2] == 'A' && last == Some('Y') {
            key.remove(key.len() - 2);
        }
        if last == Some('A') {
            key.pop();
        }
    }
    key.into_iter().take(LENGTH_MAX).collect()
}
