//! `stop`: removes words that carry no meaning for searching.

use std::sync::LazyLock;

use hashbrown::HashMap;

use super::Words;
use crate::RequestError;
use crate::analysis::chain::{Each, Emit, End, Filter, Stage, Stream};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::settings::strings;
use crate::analysis::token::TokenBuf;

/// Stop words by language: the lists of Lucene's analyzers, one line per language.
static BY_LANGUAGE: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let lines = include_str!("../stopwords.txt").lines();
    let language = |line: &'static str| {
        let mut words = line.split('\t');
        (words.next().unwrap_or_default(), words.collect())
    };
    lines.map(language).collect()
});

/// Returns the stop words of a language.
fn stop_words(language: &str) -> Option<&'static [&'static str]> {
    BY_LANGUAGE.get(language).map(Vec::as_slice)
}

#[derive(Debug)]
struct Stop(Words);

/// The filter with `remove_trailing: false`, which keeps a stop word at the end of the text, because the user
/// may still be typing it.
#[derive(Debug)]
struct SuggestStop(Words);

struct Waiting<'a> {
    words: &'a Words,
    last: Option<TokenBuf>,
    skipped: u32,
    scratch: String,
}

/// Reads `stopwords` or `stopwords_path` (English by default), `ignore_case` and `remove_trailing`
/// (true; see [`SuggestStop`]).
pub fn make(settings: &Settings<'_>, context: &Context<'_>) -> Result<Filter, RequestError> {
    let ignores_case = settings.bool("ignore_case", false)?;
    let words = read_stopwords(settings, context, "english", ignores_case)?;
    Ok(match settings.bool("remove_trailing", true)? {
        true => Filter::each(Stop(words)),
        false => Filter::stream(SuggestStop(words)),
    })
}

/// Makes a filter with these words.
pub(in crate::analysis) fn of(words: Words) -> Filter {
    Filter::each(Stop(words))
}

/// Reads the setting `stopwords`: words, and names of language lists (`_english_`). The default is the list
/// of `language`.
pub(in crate::analysis) fn read_stopwords(
    settings: &Settings<'_>,
    context: &Context<'_>,
    language: &str,
    ignores_case: bool,
) -> Result<Words, RequestError> {
    if settings.value("stopwords_path").is_some() {
        let words = context.list(settings, "stopwords")?.unwrap_or_default();
        return Ok(Words::new(with_lists(words), ignores_case));
    }
    let named = settings
        .value("stopwords")
        .map_or_else(|| vec![format!("_{language}_")], |value| strings(Some(value)));
    let words = match &named[..] {
        [only] if only == "_none_" => Vec::new(),
        _ => with_lists(named),
    };
    Ok(Words::new(words, ignores_case))
}

/// Returns the words, with the words of a list in the place of its name.
pub(super) fn with_lists(named: Vec<String>) -> Vec<String> {
    let mut words = Vec::with_capacity(named.len());
    for word in named {
        let list = word.strip_prefix('_').and_then(|rest| rest.strip_suffix('_')).and_then(stop_words);
        match list {
            Some(list) => words.extend(list.iter().map(|word| (*word).to_owned())),
            None => words.push(word),
        }
    }
    words
}

impl Each for Stop {
    fn change(&self, token: &mut TokenBuf, scratch: &mut String) -> bool {
        !self.0.has(&token.text, scratch)
    }
}

impl Stream for SuggestStop {
    fn start(&self) -> Box<dyn Stage + '_> {
        Box::new(Waiting { words: &self.0, last: None, skipped: 0, scratch: String::new() })
    }
}

impl Stage for Waiting<'_> {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        if let Some(dropped) = self.last.take() {
            self.skipped += dropped.increment;
        }
        if self.words.has(&token.text, &mut self.scratch) {
            self.last = Some(token.clone());
            return true;
        }
        token.increment += std::mem::take(&mut self.skipped);
        emit(token)
    }

    fn end(&mut self, End { trailing, offset }: End, emit: Emit<'_>) -> u32 {
        match self.last.take() {
            // A stop word that is followed by something was complete.
            Some(mut last) if last.end == offset => {
                last.increment += std::mem::take(&mut self.skipped);
                last.is_keyword = true;
                emit(&mut last);
                trailing
            }
            last => trailing + self.skipped + last.map_or(0, |last| last.increment),
        }
    }
}
