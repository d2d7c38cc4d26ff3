//! `stemmer`, `snowball` and filters with a fixed stemmer: replace words by their stems, except those that
//! are marked as keywords.

use super::possessive;
use crate::RequestError;
use crate::analysis::chain::{Each, Filter};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::stem::{Stemming, find};
use crate::analysis::token::TokenBuf;
use limber_work as work;

enum Stemmer {
    Old(rust_stemmers::Stemmer),
    German2(rust_stemmers::Stemmer),
    New(frostem::Stemmer),
    Own(fn(&mut Vec<char>)),
    /// A function on the word as a string.
    Text(fn(&mut String)),
}

impl std::fmt::Debug for Stemmer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stemmer")
    }
}

/// Makes a filter with the stemmer of this name.
pub(in crate::analysis) fn of(name: &str, is_snowball: bool) -> Result<Filter, RequestError> {
    let stemmer = match find(name, is_snowball) {
        Some(Stemming::Old(algorithm)) => Stemmer::Old(rust_stemmers::Stemmer::create(algorithm)),
        Some(Stemming::New(algorithm)) => Stemmer::New(frostem::Stemmer::new(algorithm)),
        Some(Stemming::German2) => {
            Stemmer::German2(rust_stemmers::Stemmer::create(rust_stemmers::Algorithm::German))
        }
        Some(Stemming::Text(stem)) => Stemmer::Text(stem),
        Some(Stemming::Own(stem)) => Stemmer::Own(stem),
        Some(Stemming::Possessive) => return Ok(possessive::english()),
        None => {
            let mut class = name.to_owned();
            if let Some(first) = class.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            let cause = format!("org.tartarus.snowball.ext.{class}Stemmer");
            return Err(RequestError::illegal_argument(format!("Invalid stemmer class specified: {class}"))
                .caused_by(RequestError::bad_request("class_not_found_exception", cause)));
        }
    };
    Ok(Filter::each(stemmer).knowing_keywords())
}

/// Makes `stemmer`. Reads `language` (or `name`), which is `porter` by default; an unknown one is an error.
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    let name = settings.text("language").or(settings.text("name")).unwrap_or_else(|| "porter".into());
    let deprecated = match &*name.replace('_', "").to_lowercase() {
        "lovins" => Some("lovins"),
        "dutchkp" | "kp" => Some("dutch_kp"),
        _ => None,
    };
    if let Some(deprecated) = deprecated {
        work::warn(format!(
            "The [{deprecated}] stemmer is deprecated and will be removed in a future version."
        ));
    }
    of(&name, false)
}

/// Makes `snowball`. Reads `language` (or `name`), which is `English` by default; an unknown one is an error.
pub fn make_snowball(settings: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    let name = settings.text("language").or(settings.text("name")).unwrap_or_else(|| "English".into());
    of(&name, true)
}

macro_rules! filter {
    ($make:ident, $name:literal) => {
        /// Makes a filter with a fixed stemmer, without settings.
        pub fn $make(_: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
            of($name, false)
        }
    };
}

filter!(make_arabic, "arabic");
filter!(make_brazilian, "brazilian");
filter!(make_czech, "czech");
filter!(make_dutch, "dutch");
filter!(make_french, "french");
filter!(make_german, "german");
filter!(make_kstem, "kstem");
filter!(make_persian, "persian");
filter!(make_porter, "porter");
filter!(make_russian, "russian");

impl Each for Stemmer {
    fn change(&self, token: &mut TokenBuf, scratch: &mut String) -> bool {
        if token.is_keyword {
            return true;
        }
        let stem = match self {
            Stemmer::Text(stem) => {
                stem(&mut token.text);
                return true;
            }
            Stemmer::Own(stem) => {
                let mut word: Vec<char> = token.text.chars().collect();
                stem(&mut word);
                token.text.clear();
                token.text.extend(word);
                return true;
            }
            Stemmer::German2(stemmer) => {
                scratch.clear();
                umlauts_into(&token.text, scratch);
                token.text = stemmer.stem(scratch).into_owned();
                return true;
            }
            Stemmer::Old(stemmer) => stemmer.stem(&token.text),
            Stemmer::New(stemmer) => stemmer.stem(&token.text),
        };
        if let std::borrow::Cow::Owned(stem) = stem {
            token.text = stem;
        } else {
            let length = stem.len();
            token.text.truncate(length);
        }
        true
    }
}

/// Replaces `ae`, `oe` and `ue` by umlauts; `ue` only if it does not follow `q` or a vowel.
fn umlauts_into(text: &str, out: &mut String) {
    let mut chars = text.chars().peekable();
    let mut before = ' ';
    while let Some(c) = chars.next() {
        let umlaut = match c {
            'a' => 'ä',
            'o' => 'ö',
            'u' if !matches!(before, 'q' | 'a' | 'e' | 'i' | 'o' | 'u' | 'y' | 'ä' | 'ö' | 'ü') => 'ü',
            other => other,
        };
        let takes_e = umlaut != c && chars.next_if_eq(&'e').is_some();
        out.push(if takes_e { umlaut } else { c });
        before = c;
    }
}
