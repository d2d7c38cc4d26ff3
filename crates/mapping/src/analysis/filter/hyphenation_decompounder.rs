//! `hyphenation_decompounder`: adds the parts of a token between hyphenation points that are in a list, at
//! its position.
//!
//! Source: Lucene's `HyphenationCompoundWordTokenFilter`.

use super::Words;
use super::hyphenation::Hyphenation;
use crate::RequestError;
use crate::analysis::chain::{Emit, Filter, Parsing, Stage, Stream};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct Decompounder {
    hyphenation: Hyphenation,
    words: Words,
    word_min: usize,
    part_min: usize,
    part_max: usize,
    only_longest: bool,
    no_sub_matches: bool,
    no_overlapping_matches: bool,
}

/// Reads `word_list` (or `word_list_path`) and `hyphenation_patterns_path`, which are required, and the sizes
/// that `dictionary_decompounder` reads too.
pub fn make(settings: &Settings<'_>, context: &Context<'_>) -> Result<Filter, RequestError> {
    let words = Words::read(settings, context, "word_list", false)?.ok_or_else(|| {
        RequestError::illegal_argument(format!(
            "word_list must be provided for [{}], either as a path to a file, or directly",
            settings.name
        ))
    })?;
    let path = settings
        .text("hyphenation_patterns_path")
        .ok_or_else(|| RequestError::illegal_argument("hyphenation_patterns_path is a required setting."))?;
    let xml = context.file(&path, "hyphenation_patterns_path")?;
    let hyphenation = Hyphenation::parse(&xml).map_err(|reason| {
        RequestError::illegal_argument("Exception while reading hyphenation_patterns_path.")
            .caused_by(RequestError::illegal_argument(reason))
    })?;
    let size =
        |key: &str, default: i32| settings.count(key, default, 0, |_| format!("{key} cannot be negative"));
    Ok(Filter::stream(Decompounder {
        hyphenation,
        words,
        word_min: size("min_word_size", 5)?,
        part_min: size("min_subword_size", 2)?,
        part_max: size("max_subword_size", 15)?,
        only_longest: settings.bool("only_longest_match", false)?,
        no_sub_matches: settings.bool("no_sub_matches", false)?,
        no_overlapping_matches: settings.bool("no_overlapping_matches", false)?,
    })
    .parsing(Parsing::Refused))
}

struct Walk<'a>(&'a Decompounder, String);

impl Stream for Decompounder {
    fn start(&self) -> Box<dyn Stage + '_> {
        Box::new(Walk(self, String::new()))
    }
}

/// Maximum length of a word in characters: the number of parts grows with the square of the number of
/// hyphenation points.
const WORD_MAX: usize = 1024;

impl Decompounder {
    fn parts(&self, word: &[char], scratch: &mut String) -> Vec<String> {
        let mut text = String::new();
        let mut has = |part: &[char]| {
            text.clear();
            text.extend(part);
            self.words.has(&text, scratch)
        };
        let finds_all = !self.only_longest && !self.no_sub_matches && !self.no_overlapping_matches;
        if !finds_all && (has(word) || word.len() > 1 && has(&word[..word.len() - 1])) {
            return Vec::new();
        }
        let Some(points) = self.hyphenation.points(word) else { return Vec::new() };
        let part_max = self.part_max.min(word.len() - 1);
        let (mut parts, mut consumed) = (Vec::new(), 0);
        let mut first = 0;
        while first < points.len() {
            if self.no_overlapping_matches {
                first = first.max(consumed);
            }
            let start = points[first];
            let until = if self.no_sub_matches { consumed.max(first) } else { first };
            for last in (until + 1..points.len()).rev() {
                let Some(length) = points[last].checked_sub(start).filter(|length| *length <= part_max)
                else {
                    continue;
                };
                if length < self.part_min {
                    break;
                }
                let part = &word[start..start + length];
                let shorter = length.saturating_sub(1);
                let found = match has(part) {
                    true => length,
                    false if has(&part[..shorter]) => shorter,
                    false => continue,
                };
                parts.push(part[..found].iter().collect());
                consumed = last;
                if !finds_all {
                    break;
                }
            }
            first += 1;
        }
        parts
    }
}

impl Stage for Walk<'_> {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        let Walk(own, scratch) = self;
        let whole = token.clone();
        if !emit(token) || whole.units() < own.word_min {
            return true;
        }
        let word: Vec<char> = whole.text.chars().collect();
        if word.is_empty() || word.len() > WORD_MAX {
            return true;
        }
        if !limber_work::analysis_goes_on() {
            return false;
        }
        own.parts(&word, scratch).into_iter().all(|part| {
            let mut part = TokenBuf { increment: 0, ..whole.like(part) };
            emit(&mut part)
        })
    }
}
