//! `classic`: tokens are words, but acronyms, company names, e-mail addresses, host names and product numbers
//! stay whole.
//!
//! Source: Lucene's `ClassicTokenizer`. The rule with the longest match counts; of several, the first.

use std::sync::{Arc, LazyLock};

use limber_text::automaton::{Regexp, RegexpOptions};
use limber_work as work;

use super::Tokenizer;
use super::cut::length_max;
use crate::RequestError;
use crate::analysis::chain::Emit;
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;
use crate::analysis::unicode;

#[derive(Debug)]
struct Classic {
    length_max: usize,
}

/// Reads `max_token_length` (255 by default).
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<Arc<dyn Tokenizer>, RequestError> {
    Ok(Arc::new(Classic { length_max: length_max(settings)? }))
}

/// The rules, over [classes](class) of characters.
struct Rules {
    any: Regexp,
    by_type: Vec<(&'static str, Regexp)>,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let word = "[LDT]+";
    let digits = "[LD]*D[LD]*";
    let mark = "[uhsoc]";
    let number = [
        format!("{word}{mark}{digits}"),
        format!("{digits}{mark}{word}"),
        format!("{word}({mark}{digits}{mark}{word})+"),
        format!("{digits}({mark}{word}{mark}{digits})+"),
        format!("{word}{mark}{digits}({mark}{word}{mark}{digits})+"),
        format!("{digits}{mark}{word}({mark}{digits}{mark}{word})+"),
    ];
    let rules = [
        ("<ALPHANUM>", word.to_owned()),
        ("<APOSTROPHE>", "L+(qL+)+".to_owned()),
        ("<ACRONYM>", "Lo(Lo)+".to_owned()),
        ("<COMPANY>", "L+[na]L+".to_owned()),
        ("<EMAIL>", format!("{word}([ohu]{word})*a{word}([oh]{word})+")),
        ("<HOST>", format!("{word}(o{word})+")),
        ("<NUM>", number.join("|")),
        ("<CJ>", "J".to_owned()),
        (ACRONYM_DEP, format!("{word}o({word}o)+")),
    ];
    // The rules stay, so they are not left out because the request that needs them first has ended.
    let parse = |rule: &str| {
        work::suspended(|| Regexp::parse(rule, RegexpOptions::default()))
            .expect("a rule that is written here")
    };
    let any: Vec<String> = rules.iter().map(|(_, rule)| format!("({rule})")).collect();
    Rules {
        any: parse(&any.join("|")),
        by_type: rules.iter().map(|(kind, rule)| (*kind, parse(rule))).collect(),
    }
});

/// The type of a token that looks like a host name followed by a dot, which is removed.
const ACRONYM_DEP: &str = "<ACRONYM_DEP>";

/// Maximum number of class bytes examined at one position, because rules that match little may read up to the
/// end of a text.
const LOOK_MAX: usize = 4096;
/// Number of bytes examined between two checks for cancellation.
const STEPS_BEFORE_CHECK: usize = 1 << 20;

/// Returns the class of a character.
fn class(c: char) -> char {
    match c {
        '\u{3040}'..='\u{312f}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3300}'..='\u{337f}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff65}'..='\u{ff9f}' => 'J',
        'a'..='z' | 'A'..='Z' => 'L',
        '0'..='9' => 'D',
        '\'' => 'q',
        '.' => 'o',
        '&' => 'n',
        '@' => 'a',
        '-' => 'h',
        '_' => 'u',
        '/' => 's',
        ',' => 'c',
        _ if c.is_ascii() => 'x',
        _ if unicode::is_old_letter(c) => 'L',
        _ if unicode::is_old_digit(c) => 'D',
        '\u{e00}'..='\u{e59}' => 'T',
        _ => 'x',
    }
}

impl Tokenizer for Classic {
    fn split(&self, text: &str, scratch: &mut String, token: &mut TokenBuf, emit: Emit<'_>) {
        scratch.clear();
        scratch.extend(text.chars().map(class));
        let classes: &str = scratch;
        // The position of the next character among the classes, and in the text.
        let (mut at, mut byte) = (0, 0);
        let (mut skipped, mut steps) = (0, 0);
        while at < classes.len() {
            let look = &classes[at..classes.len().min(at + LOOK_MAX)];
            let (found, is_open) = RULES.any.longest(look);
            let length = found.unwrap_or(1);
            steps += if is_open { look.len() } else { length };
            if steps > STEPS_BEFORE_CHECK {
                steps = 0;
                if !work::analysis_goes_on() {
                    return;
                }
            }
            let mut taken = text[byte..].char_indices().skip(length);
            let end = taken.next().map_or(text.len(), |(offset, _)| byte + offset);
            if found.is_some() {
                let kind = kind(&look[..length]);
                if text[byte..end].encode_utf16().count() > self.length_max {
                    skipped += 1;
                } else {
                    token.cut(text, byte, end, kind);
                    token.increment += std::mem::take(&mut skipped);
                    if kind == ACRONYM_DEP {
                        token.text.pop();
                        token.kind = "<HOST>";
                    }
                    if !emit(token) {
                        return;
                    }
                }
            }
            (at, byte) = (at + length, end);
        }
    }
}

/// Returns the type of a token with these classes.
fn kind(classes: &str) -> &'static str {
    let fits = |rule: &Regexp| rule.longest(classes).0 == Some(classes.len());
    RULES.by_type.iter().find(|(_, rule)| fits(rule)).map_or("<ALPHANUM>", |(kind, _)| kind)
}
