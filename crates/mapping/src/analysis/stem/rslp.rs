//! Portuguese and Galician by rules in steps. Source: Lucene's `RSLPStemmerBase` and the stemmers that use
//! it, after V. Orengo and C. Huyck.
//!
//! A line `step` begins a step: its name, the minimum length of a word, whether exceptions are whole words or
//! ends of words, and the endings that a word must have. Other lines are rules: an ending, the minimum length
//! of the rest before it, its replacement, and exceptions.

use std::sync::LazyLock;

use super::suffix::{Suffix, Word, without_accent};

struct Rule {
    ending: &'static str,
    least: usize,
    to: &'static str,
    exceptions: Vec<&'static str>,
}

struct Step {
    name: &'static str,
    least: usize,
    excepts_whole_words: bool,
    ends: Vec<&'static str>,
    rules: Vec<Rule>,
}

static PORTUGUESE: LazyLock<Vec<Step>> = LazyLock::new(|| read(include_str!("portuguese.rslp")));
static GALICIAN: LazyLock<Vec<Step>> = LazyLock::new(|| read(include_str!("galician.rslp")));

fn read(lines: &'static str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in lines.lines() {
        let parts: Vec<&'static str> = line.split('\t').collect();
        let part = |at: usize| parts.get(at).copied().unwrap_or_default();
        let list = |at: usize| part(at).split(' ').filter(|word| !word.is_empty()).collect();
        let number = |at: usize| part(at).parse().unwrap_or_default();
        if part(0) == "step" {
            steps.push(Step {
                name: part(1),
                least: number(2),
                excepts_whole_words: part(3) == "whole",
                ends: list(4),
                rules: Vec::new(),
            });
        } else if let Some(step) = steps.last_mut() {
            let rule = Rule { ending: part(0), least: number(1), to: part(2), exceptions: list(3) };
            step.rules.push(rule);
        }
    }
    for step in steps.iter_mut().filter(|step| step.least == 0) {
        let lengths = step.rules.iter().map(|rule| rule.least + rule.ending.chars().count());
        step.least = lengths.min().unwrap_or_default();
    }
    steps
}

impl Step {
    /// Applies the first matching rule to the word.
    fn apply(&self, word: &mut Word) {
        if word.len() < self.least || !self.ends.is_empty() && !self.ends.iter().any(|end| word.ends(end)) {
            return;
        }
        let fits = |rule: &&Rule| {
            let is_exception = |one: &&str| {
                word.ends(one) && (!self.excepts_whole_words || one.chars().count() == word.len())
            };
            word.ends(rule.ending)
                && word.len() - rule.ending.chars().count() >= rule.least
                && !rule.exceptions.iter().any(is_exception)
        };
        if let Some(rule) = self.rules.iter().find(fits) {
            word.strip(rule.ending);
            word.extend(rule.to.chars());
        }
    }
}

/// Runs a step. Returns whether the length of the word has changed.
fn step(steps: &[Step], name: &str, word: &mut Word) -> bool {
    let length = word.len();
    if let Some(step) = steps.iter().find(|step| step.name == name) {
        step.apply(word);
    }
    word.len() != length
}

/// Stems a word like Lucene's `PortugueseStemmer` (RSLP).
pub fn portuguese(word: &mut Word) {
    let mut step = |name: &str| step(&PORTUGUESE, name, word);
    for name in ["Plural", "Adverb", "Feminine", "Augmentative"] {
        step(name);
    }
    let _ = step("Noun") || step("Verb") || step("Vowel");
    for c in word {
        *c = match without_accent(*c) {
            'ã' | 'å' => 'a',
            'ç' => 'c',
            'ñ' => 'n',
            'õ' => 'o',
            'ý' | 'ÿ' => 'y',
            other => other,
        };
    }
}

/// Stems a word like Lucene's `PortugueseMinimalStemmer`.
pub fn portuguese_minimal(word: &mut Word) {
    step(&PORTUGUESE, "Plural", word);
}

/// Stems a word like Lucene's `GalicianStemmer`.
pub fn galician(word: &mut Word) {
    let mut step = |name: &str| step(&GALICIAN, name, word);
    for name in ["Plural", "Unification", "Adverb"] {
        step(name);
    }
    while step("Augmentative") {}
    let _ = step("Noun") || step("Verb");
    step("Vowel");
    for c in word {
        *c = match *c {
            'á' => 'a',
            'é' | 'ê' => 'e',
            'í' => 'i',
            'ó' => 'o',
            'ú' => 'u',
            other => other,
        };
    }
}

/// Stems a word like Lucene's `GalicianMinimalStemmer`.
pub fn galician_minimal(word: &mut Word) {
    step(&GALICIAN, "Plural", word);
}
