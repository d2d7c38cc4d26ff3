//! `phonetic`: replaces a word by a code of its pronunciation, or adds the code.
//!
//! Source: Elasticsearch's plugin `analysis-phonetic`, and Lucene's filters with the same names. The
//! algorithms are those of Apache Commons Codec.

use std::fmt;

use rphonetic::{
    Caverphone1, Caverphone2, Cologne, DaitchMokotoffSoundex, DoubleMetaphone, Encoder, Metaphone,
    RefinedSoundex, Soundex,
};

use super::nysiis::nysiis;
use crate::RequestError;
use crate::analysis::chain::{Emit, Filter, Parsing, Stage, Stream};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;
use crate::analysis::unicode;

/// How a word is encoded.
enum Coding {
    /// Uses the letters in lower case, only a to z.
    Caverphone(Box<dyn Encoder + Send + Sync>),
    Cologne(Cologne),
    /// Uses the letters in upper case, ignoring others than A to Z.
    Metaphone(Metaphone),
    DoubleMetaphone(DoubleMetaphone),
    Nysiis,
    /// Uses the letters in upper case; words with others than A to Z are left unchanged.
    Soundex(Soundex),
    RefinedSoundex(RefinedSoundex),
    DaitchMokotoff(DaitchMokotoffSoundex),
}

struct Phonetic {
    coding: Coding,
    /// Whether the word itself is kept in addition to its codes.
    keeps_word: bool,
}

impl fmt::Debug for Phonetic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Phonetic").field("keeps_word", &self.keeps_word).finish_non_exhaustive()
    }
}

/// Reads `encoder` (`metaphone`), `replace` (true) and `max_code_len`. The encoders `beider_morse`,
/// `koelnerphonetik` and `haasephonetik` are refused by name.
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    let encoder = settings.text_or("encoder", "metaphone");
    let coding = match encoder.to_lowercase().as_str() {
        "metaphone" => Coding::Metaphone(Metaphone::default()),
        "soundex" => Coding::Soundex(Soundex::default()),
        "caverphone1" => Coding::Caverphone(Box::new(Caverphone1)),
        "caverphone2" | "caverphone" => Coding::Caverphone(Box::new(Caverphone2)),
        "refined_soundex" | "refinedsoundex" => Coding::RefinedSoundex(RefinedSoundex::default()),
        "cologne" => Coding::Cologne(Cologne),
        "nysiis" => Coding::Nysiis,
        "double_metaphone" | "doublemetaphone" => {
            let length = settings.count("max_code_len", 4, 0, |_| "max_code_len".to_owned())?;
            Coding::DoubleMetaphone(DoubleMetaphone::new(Some(length)))
        }
        "daitch_mokotoff" => Coding::DaitchMokotoff(DaitchMokotoffSoundex::default()),
        "beider_morse" | "beidermorse" | "koelnerphonetik" | "haasephonetik" => {
            return Err(RequestError::unsupported(format!(
                "encoder [{encoder}] of filter [{}]",
                settings.name
            )));
        }
        _ => {
            return Err(RequestError::illegal_argument(format!(
                "unknown encoder [{encoder}] for phonetic token filter"
            )));
        }
    };
    let keeps_word = !settings.bool("replace", true)?;
    Ok(Filter::stream(Phonetic { coding, keeps_word }).parsing(Parsing::Refused))
}

/// Maximum length of a word in bytes; longer ones are left unchanged.
const WORD_MAX: usize = 512;

impl Phonetic {
    /// Returns the codes of a word; empty if the word is left unchanged.
    fn codes(&self, word: &str) -> Vec<String> {
        let upper = || word.to_uppercase();
        match &self.coding {
            Coding::Caverphone(encoder) => {
                let letters: String = word.to_lowercase().chars().filter(char::is_ascii_lowercase).collect();
                vec![encoder.encode(&letters)]
            }
            Coding::Cologne(encoder) => vec![encoder.encode(word)],
            Coding::Metaphone(encoder) => vec![encoder.encode(&ascii(&upper()))],
            Coding::Nysiis => vec![nysiis(word)],
            Coding::Soundex(encoder) => {
                let code = encoder.encode(known(&upper()));
                // Once the code is complete, unknown letters after that do not matter.
                let is_whole =
                    known(&upper()).len() == upper().len() || !code.ends_with('0') && code.len() == 4;
                if is_whole { vec![code] } else { Vec::new() }
            }
            Coding::RefinedSoundex(encoder) => {
                let upper = upper();
                if known(&upper).len() == upper.len() { vec![encoder.encode(&upper)] } else { Vec::new() }
            }
            Coding::DoubleMetaphone(encoder) => {
                let found = encoder.double_metaphone(&ascii(&upper().replace('Ç', "S").replace('Ñ', "N")));
                let (first, second) = (found.primary(), found.alternate());
                if first == word { Vec::new() } else { vec![first, second] }
            }
            Coding::DaitchMokotoff(encoder) => encoder.soundex(word).split('|').map(str::to_owned).collect(),
        }
    }

    /// Whether the codes come before the word, if the word is kept.
    fn puts_codes_first(&self) -> bool {
        !matches!(self.coding, Coding::DoubleMetaphone(_) | Coding::DaitchMokotoff(_))
    }
}

/// Returns the word with a mark for each letter that metaphone ignores, because the library works on bytes.
fn ascii(word: &str) -> String {
    word.chars().map(|c| if c.is_ascii() { c } else { '*' }).collect()
}

/// Returns the word up to the first letter other than A to Z.
fn known(word: &str) -> &str {
    let foreign = word.find(|c: char| !c.is_ascii() && unicode::is_letter(c));
    foreign.map_or(word, |end| &word[..end])
}

struct Walk<'a>(&'a Phonetic);

impl Stream for Phonetic {
    fn start(&self) -> Box<dyn Stage + '_> {
        Box::new(Walk(self))
    }
}

impl Stage for Walk<'_> {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        if token.text.is_empty() || token.text.len() > WORD_MAX {
            return emit(token);
        }
        if !limber_work::analysis_goes_on() {
            return false;
        }
        let mut texts: Vec<String> = Vec::new();
        for code in self.0.codes(&token.text) {
            if !code.is_empty()
                && (code != token.text || !self.0.puts_codes_first())
                && !texts.contains(&code)
            {
                texts.push(code);
            }
        }
        if texts.is_empty() {
            return emit(token);
        }
        if self.0.keeps_word {
            let place = if self.0.puts_codes_first() { texts.len() } else { 0 };
            texts.insert(place, token.text.clone());
        }
        let mut increment = token.increment;
        texts.into_iter().all(|text| {
            let mut made = TokenBuf { increment: std::mem::take(&mut increment), ..token.like(text) };
            emit(&mut made)
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::make;
    use crate::analysis::chain::{Filter, run};
    use crate::analysis::registry::bare_context;
    use crate::analysis::settings::Settings;
    use crate::analysis::token::TokenBuf;

    fn filter(body: &serde_json::Value) -> Filter {
        make(&Settings { name: "f", body: body.as_object().unwrap() }, &bare_context()).unwrap()
    }

    fn tokens(filter: &Filter, word: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut source = |emit: crate::analysis::chain::Emit<'_>| {
            emit(&mut TokenBuf { text: word.to_owned(), ..TokenBuf::default() });
        };
        run(std::slice::from_ref(filter), 0, &mut source, &mut |token| {
            found.push(token.text.clone());
            true
        });
        found
    }

    /// Compares with Apache Commons Codec 1.15: encoder, word, code; `!` if it refuses the word.
    #[test]
    fn codes_are_those_of_commons_codec() {
        let mut wrong = Vec::new();
        let mut filters = hashbrown::HashMap::new();
        for line in include_str!("../../../tests/phonetic.tsv").lines() {
            let parts: Vec<&str> = line.split('\t').collect();
            let [encoder, word, code] = parts[..] else { panic!("{line}") };
            let body = json!({"encoder": encoder});
            let filter = filters.entry(encoder).or_insert_with(|| filter(&body));
            let mut expected: Vec<&str> =
                code.split(['(', ')', '|', '-']).filter(|part| !part.is_empty()).collect();
            expected.dedup();
            if code == "!"
                || expected.is_empty()
                || word.is_empty()
                || encoder == "double_metaphone" && expected[0] == word
            {
                expected = vec![word];
            }
            let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| tokens(filter, word)));
            let found = found.unwrap_or_else(|_| vec!["panic".to_owned()]);
            if found != expected {
                wrong.push(format!("{encoder} {word}: {expected:?}, found {found:?}"));
            }
        }
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    }

    #[test]
    fn a_word_stays_beside_its_codes() {
        let both =
            |encoder: &str, word: &str| tokens(&filter(&json!({"encoder": encoder, "replace": false})), word);
        assert_eq!(both("metaphone", "stephen"), ["STFN", "stephen"]);
        assert_eq!(both("double_metaphone", "schmidt"), ["schmidt", "XMT", "SMT"]);
    }
}
