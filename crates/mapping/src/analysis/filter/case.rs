//! `lowercase` and `uppercase`.

use crate::RequestError;
use crate::analysis::chain::{Each, Filter};
use crate::analysis::context::Context;
use crate::analysis::lowercase_into;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
enum Case {
    Lower,
    Greek,
    Irish,
    Turkish,
    Upper,
}

/// Makes `lowercase`. Reads `language` (`greek`, `irish` or `turkish`); another one is an error.
pub fn make_lower(settings: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    let case = match settings.text("language").map(|name| name.to_lowercase()).as_deref() {
        None => Case::Lower,
        Some("greek") => Case::Greek,
        Some("irish") => Case::Irish,
        Some("turkish") => Case::Turkish,
        Some(other) => {
            let reason = format!("language [{other}] not support for lower case");
            return Err(RequestError::illegal_argument(reason));
        }
    };
    Ok(Filter::each(case).normalizing())
}

/// Makes `uppercase`, which has no settings.
pub fn make_upper(_: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    Ok(Filter::each(Case::Upper).normalizing())
}

impl Each for Case {
    fn change(&self, token: &mut TokenBuf, scratch: &mut String) -> bool {
        match self {
            Case::Lower if token.text.is_ascii() => token.text.make_ascii_lowercase(),
            Case::Upper if token.text.is_ascii() => token.text.make_ascii_uppercase(),
            _ => {
                scratch.clear();
                match self {
                    Case::Lower => lowercase_into(&token.text, scratch),
                    Case::Upper => uppercase_into(&token.text, scratch),
                    Case::Greek => scratch.extend(token.text.chars().map(greek)),
                    Case::Irish => irish_into(&token.text, scratch),
                    Case::Turkish => turkish_into(&token.text, scratch),
                }
                std::mem::swap(&mut token.text, scratch);
            }
        }
        true
    }
}

fn uppercase_into(text: &str, out: &mut String) {
    for c in text.chars() {
        let mut upper = c.to_uppercase();
        // As in Java's simple mapping, a character whose upper case is several characters is kept.
        out.push(if upper.len() == 1 { upper.next().unwrap_or(c) } else { c });
    }
}

/// Returns the lower case without accents, and every sigma in the form that it has within a word. Source:
/// Lucene's `GreekLowerCaseFilter`.
fn greek(c: char) -> char {
    match c {
        'ς' => 'σ',
        'Ά' | 'ά' => 'α',
        'Έ' | 'έ' => 'ε',
        'Ή' | 'ή' => 'η',
        'Ί' | 'Ϊ' | 'ί' | 'ϊ' | 'ΐ' => 'ι',
        'Ύ' | 'Ϋ' | 'ύ' | 'ϋ' | 'ΰ' => 'υ',
        'Ό' | 'ό' => 'ο',
        'Ώ' | 'ώ' => 'ω',
        '\u{03A2}' => 'ς',
        other => crate::analysis::letters::lower(other),
    }
}

/// Appends the lower case. A `t` or `n` before a capital vowel is separated by a hyphen. Source: Lucene's
/// `IrishLowerCaseFilter`.
fn irish_into(text: &str, out: &mut String) {
    let mut chars = text.chars();
    let (first, second) = (chars.next(), chars.next());
    let is_vowel = |c: char| matches!(c, 'A' | 'E' | 'I' | 'O' | 'U' | 'Á' | 'É' | 'Í' | 'Ó' | 'Ú');
    let mut rest = text;
    if let (Some(first @ ('t' | 'n')), Some(second)) = (first, second)
        && is_vowel(second)
    {
        out.push(first);
        out.push('-');
        rest = chars.as_str();
        lowercase_into(second.encode_utf8(&mut [0; 4]), out);
    }
    lowercase_into(rest, out);
}

/// Appends the lower case. An `I` becomes dotless unless it has a combining dot above. Source: Lucene's
/// `TurkishLowerCaseFilter`.
fn turkish_into(text: &str, out: &mut String) {
    let mut after_i = false;
    for (at, c) in text.char_indices() {
        if after_i && c == '\u{307}' {
            continue;
        }
        match c {
            'I' => {
                let dotted = text[at + 1..]
                    .chars()
                    .take_while(|c| crate::analysis::unicode::is_mark(*c))
                    .any(|c| c == '\u{307}');
                out.push(if dotted { 'i' } else { 'ı' });
                after_i = dotted;
            }
            'İ' => out.push('i'),
            _ => {
                after_i &= crate::analysis::unicode::is_mark(c);
                lowercase_into(c.encode_utf8(&mut [0; 4]), out);
            }
        }
    }
}
