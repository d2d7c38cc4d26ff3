//! `common_grams`: joins frequent words with their neighbours.
//!
//! Source: Lucene's `CommonGramsFilter` and `CommonGramsQueryFilter`.

use super::Words;
use super::stop::with_lists;
use crate::RequestError;
use crate::analysis::chain::{Emit, End, Filter, Parsing, Stage, Stream};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

/// The token type of a pair.
const GRAM: &str = "gram";

#[derive(Debug)]
struct CommonGrams {
    words: Words,
    is_query: bool,
}

/// Reads `common_words` (words, and names of lists such as `_english_`) or `common_words_path`, one of which
/// is required, `ignore_case` and `query_mode`. Without a declaration no word is common.
pub fn make(settings: &Settings<'_>, context: &Context<'_>) -> Result<Filter, RequestError> {
    let words = context.list(settings, "common_words")?.filter(|words| !words.is_empty());
    let words = match words {
        Some(words) => with_lists(words),
        None if !settings.is_declared() => Vec::new(),
        None => {
            return Err(RequestError::illegal_argument(
                "missing or empty [common_words] or [common_words_path] configuration for common_grams token filter",
            ));
        }
    };
    let words = Words::new(words, settings.bool("ignore_case", false)?);
    let is_query = settings.bool("query_mode", false)?;
    Ok(Filter::stream(CommonGrams { words, is_query }).parsing(Parsing::Refused))
}

struct Pairs<'a> {
    own: &'a CommonGrams,
    /// The previous token, and whether it is common. In query mode it has not been emitted yet.
    before: Option<(TokenBuf, bool)>,
    was_pair: bool,
    scratch: String,
}

impl Stream for CommonGrams {
    fn start(&self) -> Box<dyn Stage + '_> {
        Box::new(Pairs { own: self, before: None, was_pair: false, scratch: String::new() })
    }
}

impl Stage for Pairs<'_> {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        let is_common = self.own.words.has(&token.text, &mut self.scratch);
        let mut goes_on = true;
        if let Some((before, was_common)) = self.before.take() {
            let is_pair = was_common || is_common;
            if is_pair {
                let mut pair = before.like(format!("{}_{}", before.text, token.text));
                (pair.end, pair.kind) = (token.end, GRAM);
                (pair.increment, pair.length) = if self.own.is_query { (1, 1) } else { (0, 2) };
                goes_on = emit(&mut pair);
            } else if self.own.is_query {
                goes_on = emit(&mut before.clone());
            }
            self.was_pair = is_pair;
        }
        self.before = Some((token.clone(), is_common));
        goes_on && (self.own.is_query || emit(token))
    }

    fn end(&mut self, End { trailing, .. }: End, emit: Emit<'_>) -> u32 {
        if let Some((mut last, _)) = self.before.take()
            && self.own.is_query
            && !self.was_pair
        {
            emit(&mut last);
        }
        trailing
    }
}
