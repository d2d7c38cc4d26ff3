//! `dictionary_decompounder`: adds the words of a list that occur in a token, at its position.
//!
//! Source: Lucene's `DictionaryCompoundWordTokenFilter`.

use super::Words;
use crate::RequestError;
use crate::analysis::chain::{Emit, Filter, Parsing, Stage, Stream};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct Decompounder {
    words: Words,
    word_min: usize,
    part_min: usize,
    part_max: usize,
    only_longest: bool,
}

/// Maximum length of a part in characters, whatever the settings say, because parts are looked up at every
/// position of a token.
const PART_MAX: usize = 100;
/// Number of positions between two checks for cancellation.
const PLACES_BEFORE_CHECK: usize = 1 << 12;

/// Reads `word_list` or `word_list_path`, one of which is required, `min_word_size` (5), `min_subword_size`
/// (2), `max_subword_size` (15) and `only_longest_match`.
pub fn make(settings: &Settings<'_>, context: &Context<'_>) -> Result<Filter, RequestError> {
    let words = Words::read(settings, context, "word_list", false)?.ok_or_else(|| {
        RequestError::illegal_argument(format!(
            "word_list must be provided for [{}], either as a path to a file, or directly",
            settings.name
        ))
    })?;
    let size =
        |key: &str, default: i32| settings.count(key, default, 1, |_| format!("{key} must be positive"));
    Ok(Filter::stream(Decompounder {
        words,
        word_min: size("min_word_size", 5)?,
        part_min: size("min_subword_size", 2)?,
        part_max: size("max_subword_size", 15)?.min(PART_MAX),
        only_longest: settings.bool("only_longest_match", false)?,
    })
    .parsing(Parsing::Refused))
}

struct Walk<'a>(&'a Decompounder, String);

impl Stream for Decompounder {
    fn start(&self) -> Box<dyn Stage + '_> {
        Box::new(Walk(self, String::new()))
    }
}

impl Stage for Walk<'_> {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        let Walk(own, scratch) = self;
        // The token may be a whole text.
        if !limber_work::has_room_for((token.text.len() * size_of::<usize>()) as u64) {
            return false;
        }
        let whole = token.clone();
        if !emit(token) || token.units() < own.word_min {
            return true;
        }
        let text = whole.text.as_str();
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let count = places.len() - 1;
        for start in 0..count {
            if start % PLACES_BEFORE_CHECK == PLACES_BEFORE_CHECK - 1 && !limber_work::analysis_goes_on() {
                return false;
            }
            let longest = own.part_max.min(count - start);
            let mut found = (own.part_min..=longest)
                .map(|length| &text[places[start]..places[start + length]])
                .filter(|part| own.words.has(part, scratch));
            let parts: Vec<&str> = match own.only_longest {
                true => found.next_back().into_iter().collect(),
                false => found.collect(),
            };
            for part in parts {
                let mut part = TokenBuf { increment: 0, ..whole.like(part.to_owned()) };
                if !emit(&mut part) {
                    return false;
                }
            }
        }
        true
    }
}
