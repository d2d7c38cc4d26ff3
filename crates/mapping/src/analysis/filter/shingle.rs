//! `shingle`: joins adjacent tokens.
//!
//! Source: Lucene's `ShingleFilter`. A gap is filled by `filler_token`.

use std::collections::VecDeque;

use crate::RequestError;
use crate::analysis::chain::{Emit, End, Filter, Parsing, Stage, Stream};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct Shingle {
    min: usize,
    max: usize,
    separator: String,
    filler: String,
    unigrams: bool,
    unigrams_if_none: bool,
}

/// Reads `min_shingle_size` (2) and `max_shingle_size` (2), whose difference `index.max_shingle_diff` limits,
/// `output_unigrams` (true), `output_unigrams_if_no_shingles`, `token_separator` and `filler_token`.
pub fn make(settings: &Settings<'_>, context: &Context<'_>) -> Result<Filter, RequestError> {
    let unigrams = settings.bool("output_unigrams", true)?;
    let max = settings.count("max_shingle_size", 2, 2, |_| "Max shingle size must be >= 2".into())?;
    let min = settings.count("min_shingle_size", 2, 2, |_| "Min shingle size must be >= 2".into())?;
    let diff = max as i64 - min as i64 + i64::from(unigrams);
    if diff > i64::from(context.limits.shingle_diff) {
        return Err(RequestError::illegal_argument(format!(
            "In Shingle TokenFilter the difference between max_shingle_size and min_shingle_size (and +1 if outputting unigrams) must be less than or equal to: [{}] but was [{diff}]. This limit can be set by changing the [index.max_shingle_diff] index level setting.",
            context.limits.shingle_diff
        )));
    }
    if min > max {
        return Err(RequestError::illegal_argument("Min shingle size must be <= max shingle size"));
    }
    Ok(Filter::stream(Shingle {
        min,
        max,
        separator: settings.text_or("token_separator", " "),
        filler: settings.text_or("filler_token", "_"),
        unigrams,
        unigrams_if_none: settings.bool("output_unigrams_if_no_shingles", false)?,
    })
    .hiding_graph(unigrams || min != max)
    .parsing(Parsing::Refused))
}

struct Window<'a> {
    own: &'a Shingle,
    /// The tokens of the window, and whether each fills a gap.
    tokens: VecDeque<(TokenBuf, bool)>,
    has_shingle: bool,
}

impl Stream for Shingle {
    fn start(&self) -> Box<dyn Stage + '_> {
        Box::new(Window { own: self, tokens: VecDeque::new(), has_shingle: false })
    }
}

impl Window<'_> {
    fn add(&mut self, token: TokenBuf, is_filler: bool, emit: Emit<'_>) -> bool {
        self.tokens.push_back((token, is_filler));
        self.tokens.len() < self.own.max || self.shift(emit)
    }

    /// Emits the shingles that start with the first token, and removes that token.
    fn shift(&mut self, emit: Emit<'_>) -> bool {
        let Some((first, _)) = self.tokens.front() else { return true };
        let mut token = first.clone();
        token.text.clear();
        let (mut is_filler, mut is_first) = (true, true);
        let mut goes_on = true;
        for (number, (part, fills)) in (1..).zip(&self.tokens) {
            if number > 1 {
                token.text.push_str(&self.own.separator);
            }
            token.text.push_str(&part.text);
            is_filler &= fills;
            let is_wanted = if number == 1 { self.own.unigrams } else { number >= self.own.min };
            if !is_wanted || is_filler {
                continue;
            }
            token.end = part.end;
            token.increment = u32::from(is_first);
            token.length = match self.own.unigrams {
                true => number as u32,
                false => (number - self.own.min.min(number)) as u32 + 1,
            };
            let kind = token.kind;
            if number > 1 {
                token.kind = "shingle";
                self.has_shingle = true;
            }
            is_first = false;
            let text = token.text.clone();
            goes_on = goes_on && emit(&mut token);
            (token.text, token.kind) = (text, kind);
        }
        self.tokens.pop_front();
        goes_on
    }
}

impl Stage for Window<'_> {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        let holes = (token.increment.saturating_sub(1) as usize).min(self.own.max - 1);
        for _ in 0..holes {
            let filler = TokenBuf { end: token.start, ..token.like(self.own.filler.clone()) };
            if !self.add(filler, true, emit) {
                return false;
            }
        }
        self.add(token.clone(), false, emit)
    }

    fn end(&mut self, End { trailing, offset }: End, emit: Emit<'_>) -> u32 {
        for _ in 0..(trailing as usize).min(self.own.max - 1) {
            let filler =
                TokenBuf { text: self.own.filler.clone(), start: offset, end: offset, ..TokenBuf::default() };
            self.add(filler, true, emit);
        }
        let is_lone = !self.own.unigrams && self.own.unigrams_if_none && !self.has_shingle;
        if is_lone && self.tokens.len() < self.own.min {
            for (token, _) in self.tokens.iter_mut().filter(|(_, fills)| !fills) {
                token.increment = 1;
                emit(token);
            }
            self.tokens.clear();
        }
        while !self.tokens.is_empty() && self.shift(emit) {}
        trailing
    }
}
