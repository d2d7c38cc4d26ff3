//! `phonetic`: what a word sounds like, instead of it or beside it.
//!
//! Source: Elasticsearch's plugin `analysis-phonetic`, Lucene's filters of the same names; the algorithms are Apache Commons Codec's.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::LazyLock;

use rphonetic::{
    BeiderMorse, BeiderMorseBuilder, Caverphone1, Caverphone2, Cologne, ConfigFiles, DaitchMokotoffSoundex,
    DoubleMetaphone, Encoder, LanguageSet, Metaphone, NameType, Nysiis, RefinedSoundex, RuleType, Soundex,
};

use super::{Context, Settings};
use crate::RequestError;
use crate::analysis::chain::{Emit, Filter, Parsing, Stage, Stream};
use crate::analysis::token::TokenBuf;
use crate::analysis::unicode;

/// How a word is encoded.
enum Coding {
    Plain(Box<dyn Encoder + Send + Sync>),
    /// One that knows the letters A to Z, and leaves words with others alone.
    English(Box<dyn Encoder + Send + Sync>),
    DoubleMetaphone(DoubleMetaphone),
    DaitchMokotoff(DaitchMokotoffSoundex),
    BeiderMorse(BeiderMorse<'static>, Option<LanguageSet>),
}

struct Phonetic {
    coding: Coding,
    /// The word itself stays beside its codes.
    keeps_word: bool,
}

impl fmt::Debug for Phonetic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Phonetic").field("keeps_word", &self.keeps_word).finish_non_exhaustive()
    }
}

static BEIDER_MORSE: LazyLock<ConfigFiles> = LazyLock::new(ConfigFiles::default);

pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    let encoder = settings.text_or("encoder", "metaphone");
    let coding = match encoder.to_lowercase().as_str() {
        "metaphone" => Coding::Plain(Box::new(Metaphone::default())),
        "soundex" => Coding::English(Box::new(Soundex::default())),
        "caverphone1" => Coding::Plain(Box::new(Caverphone1)),
        "caverphone2" | "caverphone" => Coding::Plain(Box::new(Caverphone2)),
        "refined_soundex" | "refinedsoundex" => Coding::English(Box::new(RefinedSoundex::default())),
        "cologne" => Coding::Plain(Box::new(Cologne)),
        "nysiis" => Coding::Plain(Box::new(Nysiis::default())),
        "double_metaphone" | "doublemetaphone" => {
            let length = settings.count("max_code_len", 4, 0, |_| "max_code_len".to_owned())?;
            Coding::DoubleMetaphone(DoubleMetaphone::new(Some(length)))
        }
        "daitch_mokotoff" => Coding::DaitchMokotoff(DaitchMokotoffSoundex::default()),
        "beider_morse" | "beidermorse" => beider_morse(settings)?,
        "koelnerphonetik" | "haasephonetik" => {
            return Err(RequestError::unsupported(format!("encoder [{encoder}] of filter [{}]", settings.name)));
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

fn beider_morse(settings: &Settings<'_>) -> Result<Coding, RequestError> {
    let rules = settings.text_or("rule_type", "approx");
    let rule_type = match rules.to_lowercase().as_str() {
        "approx" => RuleType::Approx,
        "exact" => RuleType::Exact,
        _ => {
            return Err(RequestError::illegal_argument(format!(
                "No matching rule type found for [{rules}]"
            )));
        }
    };
    let names = settings.text_or("name_type", "generic");
    let name_type = match names.to_lowercase().as_str() {
        "generic" => NameType::Generic,
        "ashkenazi" => NameType::Ashkenazi,
        "sephardic" => NameType::Sephardic,
        _ => {
            return Err(RequestError::illegal_argument(format!(
                "No matching name type found for [{names}]"
            )));
        }
    };
    let languages = settings.list("languageset").filter(|languages| !languages.is_empty());
    let languages = languages.map(|names| LanguageSet::from(BTreeSet::from_iter(names)));
    let builder = BeiderMorseBuilder::new(&BEIDER_MORSE).name_type(name_type).rule_type(rule_type);
    Ok(Coding::BeiderMorse(builder.build(), languages))
}

/// Bytes of a word that is encoded; longer ones are no words, and stay.
const WORD_MAX: usize = 512;

impl Phonetic {
    /// The codes of a word: none where it stays as it is.
    fn codes(&self, word: &str) -> Vec<String> {
        let parts = |code: String| -> Vec<String> {
            let parts = code.split(['(', ')', '|', '-']).filter(|part| !part.is_empty());
            parts.map(str::to_owned).collect()
        };
        match &self.coding {
            Coding::Plain(encoder) => vec![encoder.encode(word)],
            Coding::English(encoder) => {
                let is_foreign = |c: char| !c.is_ascii() && unicode::is_letter(c);
                if word.chars().any(is_foreign) { Vec::new() } else { vec![encoder.encode(word)] }
            }
            Coding::DoubleMetaphone(encoder) => {
                let found = encoder.double_metaphone(&ascii(word));
                let (first, second) = (found.primary(), found.alternate());
                if first == word { Vec::new() } else { vec![first, second] }
            }
            Coding::DaitchMokotoff(encoder) => parts(encoder.soundex(word)),
            Coding::BeiderMorse(encoder, None) => parts(encoder.encode(word)),
            Coding::BeiderMorse(encoder, Some(languages)) => {
                parts(encoder.encode_with_languages(word, languages))
            }
        }
    }

    /// Whether the codes come before the word, where it stays.
    fn puts_codes_first(&self) -> bool {
        matches!(self.coding, Coding::Plain(_) | Coding::English(_))
    }
}

/// The word without letters that double metaphone passes over, which the library takes for several.
fn ascii(word: &str) -> String {
    let plain = |c: char| match c {
        'ç' | 'Ç' => 'S',
        'ñ' | 'Ñ' => 'N',
        _ if c.is_ascii() => c,
        _ => '*',
    };
    word.chars().map(plain).collect()
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
        if limber_work::check().is_err() {
            return false;
        }
        let mut texts: Vec<String> = Vec::new();
        for code in self.0.codes(&token.text) {
            if !code.is_empty() && (code != token.text || !self.0.puts_codes_first()) && !texts.contains(&code) {
                texts.push(code);
            }
        }
        if texts.is_empty() {
            return emit(token);
        }
        // Beider and Morse's codes always replace the word.
        if self.0.keeps_word && !matches!(self.0.coding, Coding::BeiderMorse(..)) {
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

    /// What Apache Commons Codec 1.15 answered: encoder, word, code; `!` where it refuses the word.
    #[test]
    fn codes_are_those_of_commons_codec() {
        let mut wrong = Vec::new();
        let mut filters = hashbrown::HashMap::new();
        for line in include_str!("phonetic.tsv").lines() {
            let parts: Vec<&str> = line.split('\t').collect();
            let [encoder, word, code] = parts[..] else { panic!("{line}") };
            let body = match encoder {
                "beider_morse_ash" => {
                    json!({"encoder": "beider_morse", "name_type": "ashkenazi", "rule_type": "exact"})
                }
                encoder => json!({"encoder": encoder}),
            };
            let filter = filters.entry(encoder).or_insert_with(|| filter(&body));
            let mut expected: Vec<&str> =
                code.split(['(', ')', '|', '-']).filter(|part| !part.is_empty()).collect();
            expected.dedup();
            if code == "!" || expected.is_empty() || word.is_empty() || encoder == "double_metaphone" && expected[0] == word {
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
        let both = |encoder: &str, word: &str| tokens(&filter(&json!({"encoder": encoder, "replace": false})), word);
        assert_eq!(both("metaphone", "stephen"), ["STFN", "stephen"]);
        assert_eq!(both("double_metaphone", "schmidt"), ["schmidt", "XMT", "SMT"]);
    }
}
