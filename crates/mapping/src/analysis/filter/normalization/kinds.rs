//! The filters by language.

use super::{bengali, indic, letters};
use crate::RequestError;
use crate::analysis::chain::{Each, Filter};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

/// Normalizes the characters of tokens that are not ASCII.
#[derive(Debug)]
struct Normalization(fn(&mut Vec<char>));

impl Each for Normalization {
    fn change(&self, token: &mut TokenBuf, _: &mut String) -> bool {
        if !token.text.is_ascii() {
            let mut characters: Vec<char> = token.text.chars().collect();
            (self.0)(&mut characters);
            token.text.clear();
            token.text.extend(characters);
        }
        true
    }
}

macro_rules! filter {
    ($make:ident, $normalize:expr) => {
        /// Makes the filter, which has no settings.
        pub fn $make(_: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
            Ok(Filter::each(Normalization($normalize)).normalizing())
        }
    };
}

filter!(make_arabic, arabic);
filter!(make_bengali, bengali::normalize);
filter!(make_hindi, hindi);
filter!(make_indic, indic::normalize);
filter!(make_persian, persian);
filter!(make_serbian, serbian);
filter!(make_sorani, sorani);

/// Normalizes Arabic. Source: Lucene's `ArabicNormalizer`.
fn arabic(s: &mut Vec<char>) {
    s.retain(|c| !matches!(c, '\u{640}' | '\u{64b}'..='\u{652}'));
    for c in s {
        *c = match *c {
            '\u{622}' | '\u{623}' | '\u{625}' => '\u{627}',
            '\u{649}' => '\u{64a}',
            '\u{629}' => '\u{647}',
            other => other,
        };
    }
}

/// Normalizes Persian. Source: Lucene's `PersianNormalizer`.
fn persian(s: &mut Vec<char>) {
    s.retain(|c| *c != '\u{654}');
    for c in s {
        *c = match *c {
            '\u{6cc}' | '\u{6d2}' => '\u{64a}',
            '\u{6a9}' => '\u{643}',
            '\u{6c0}' | '\u{6c1}' => '\u{647}',
            other => other,
        };
    }
}

/// Normalizes Sorani. Source: Lucene's `SoraniNormalizer`.
fn sorani(s: &mut Vec<char>) {
    let mut at = 0;
    while at < s.len() {
        match s[at] {
            '\u{64a}' | '\u{649}' => s[at] = '\u{6cc}',
            '\u{643}' => s[at] = '\u{6a9}',
            '\u{200c}' => {
                if at > 0 && s[at - 1] == '\u{647}' {
                    s[at - 1] = '\u{6d5}';
                }
                s.remove(at);
                continue;
            }
            '\u{647}' if at + 1 == s.len() => s[at] = '\u{6d5}',
            '\u{629}' => s[at] = '\u{6d5}',
            '\u{6be}' => s[at] = '\u{647}',
            '\u{631}' if at == 0 => s[at] = '\u{695}',
            '\u{692}' => s[at] = '\u{695}',
            '\u{640}'
            | '\u{64b}'..='\u{652}'
            | '\u{ad}'
            | '\u{600}'..='\u{605}'
            | '\u{61c}'
            | '\u{6dd}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}'
            | '\u{feff}' => {
                s.remove(at);
                continue;
            }
            _ => {}
        }
        at += 1;
    }
}

fn hindi(s: &mut Vec<char>) {
    let mut at = 0;
    while at < s.len() {
        match s[at] {
            '\u{928}' if s.get(at + 1) == Some(&'\u{94d}') => {
                s[at] = '\u{902}';
                s.remove(at + 1);
            }
            '\u{93c}' | '\u{200c}' | '\u{200d}' | '\u{94d}' => {
                s.remove(at);
                continue;
            }
            other => s[at] = letters::hindi(other),
        }
        at += 1;
    }
}

fn serbian(s: &mut Vec<char>) {
    let mut out = Vec::with_capacity(s.len() + 2);
    for c in s.drain(..) {
        match letters::serbian(c) {
            Some(text) => out.extend(text.chars()),
            None => out.push(c),
        }
    }
    *s = out;
}

/// For filters that also change ASCII.
#[derive(Debug)]
struct Every(fn(&mut Vec<char>));

impl Each for Every {
    fn change(&self, token: &mut TokenBuf, _: &mut String) -> bool {
        let mut characters: Vec<char> = token.text.chars().collect();
        (self.0)(&mut characters);
        token.text.clear();
        token.text.extend(characters);
        true
    }
}

/// Makes `german_normalization`, which has no settings.
pub fn make_german(_: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    Ok(Filter::each(Every(german)).normalizing())
}

/// Makes `scandinavian_normalization`, which has no settings.
pub fn make_scandinavian(_: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    Ok(Filter::each(Every(scandinavian)).normalizing())
}

/// Makes `scandinavian_folding`, which has no settings.
pub fn make_scandinavian_folding(_: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    Ok(Filter::each(Every(scandinavian_folding)).normalizing())
}

/// Removes the dots of umlauts and of their substitutes, and replaces `ß` by `ss`. Source: Lucene's
/// `GermanNormalizationFilter`.
fn german(s: &mut Vec<char>) {
    #[derive(Clone, Copy, PartialEq)]
    enum After {
        Other,
        Vowel,
        AOrO,
    }
    let mut state = After::Other;
    let mut out = Vec::with_capacity(s.len());
    for c in s.drain(..) {
        let made = match c {
            'a' | 'o' => (c, After::AOrO),
            'u' => (c, if state == After::Other { After::AOrO } else { After::Vowel }),
            'e' if state == After::AOrO => {
                state = After::Vowel;
                continue;
            }
            'e' | 'i' | 'q' | 'y' => (c, After::Vowel),
            'ä' => ('a', After::Vowel),
            'ö' => ('o', After::Vowel),
            'ü' => ('u', After::Vowel),
            'ß' => {
                out.push('s');
                ('s', After::Other)
            }
            other => (other, After::Other),
        };
        out.push(made.0);
        state = made.1;
    }
    *s = out;
}

/// Converts `å`, `ä`, `æ`, `ö`, `ø` and their substitutes to the letters of Danish and Norwegian.
///
/// Source: Lucene's `ScandinavianNormalizer`.
fn scandinavian(s: &mut Vec<char>) {
    pairs(s, |first, second| match (first, second) {
        ('a', Some('a' | 'A' | 'o' | 'O')) => Some(('å', true)),
        ('A', Some('a' | 'A' | 'o' | 'O')) => Some(('Å', true)),
        ('a', Some('e' | 'E')) => Some(('æ', true)),
        ('A', Some('e' | 'E')) => Some(('Æ', true)),
        ('o', Some('e' | 'E' | 'o' | 'O')) => Some(('ø', true)),
        ('O', Some('e' | 'E' | 'o' | 'O')) => Some(('Ø', true)),
        ('ä', _) => Some(('æ', false)),
        ('Ä', _) => Some(('Æ', false)),
        ('ö', _) => Some(('ø', false)),
        ('Ö', _) => Some(('Ø', false)),
        _ => None,
    });
}

/// Converts the same letters to `a` and `o`. Source: Lucene's `ScandinavianFoldingFilter`.
fn scandinavian_folding(s: &mut Vec<char>) {
    pairs(s, |first, second| match (first, second) {
        ('å' | 'ä' | 'æ', _) => Some(('a', false)),
        ('Å' | 'Ä' | 'Æ', _) => Some(('A', false)),
        ('ö' | 'ø', _) => Some(('o', false)),
        ('Ö' | 'Ø', _) => Some(('O', false)),
        ('a' | 'A', Some('a' | 'A' | 'e' | 'E' | 'o' | 'O')) => Some((first, true)),
        ('o' | 'O', Some('e' | 'E' | 'o' | 'O')) => Some((first, true)),
        _ => None,
    });
}

/// Replaces single characters, or pairs of characters if the rule returns `true`.
fn pairs(s: &mut Vec<char>, rule: impl Fn(char, Option<char>) -> Option<(char, bool)>) {
    let mut out = Vec::with_capacity(s.len());
    let mut at = 0;
    while at < s.len() {
        let (made, takes_both) = rule(s[at], s.get(at + 1).copied()).unwrap_or((s[at], false));
        out.push(made);
        at += 1 + usize::from(takes_both);
    }
    *s = out;
}
