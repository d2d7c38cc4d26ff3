//! `word_delimiter`: splits words into parts and joins the parts, without a graph.
//!
//! Source: Lucene's `WordDelimiterFilter`.

use super::word_parts::Parting;
use crate::RequestError;
use crate::analysis::chain::{Emit, Filter, Parsing, Stage, Stream};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct WordDelimiter(Parting);

/// Makes `word_delimiter`. Reads the settings of [`Parting::read`]; `ignore_keywords` has no effect.
pub fn make(settings: &Settings<'_>, context: &Context<'_>) -> Result<Filter, RequestError> {
    let mut parting = Parting::read(settings, context)?;
    parting.ignores_keywords = false;
    Ok(Filter::stream(WordDelimiter(parting)).parsing(Parsing::Refused).knowing_keywords())
}

struct Walk<'a> {
    own: &'a Parting,
    /// Whether nothing has been emitted yet.
    is_first: bool,
    /// Positions of tokens that have not been added to another token yet.
    skipped: u32,
    scratch: String,
}

/// A part that is emitted.
struct Part {
    increment: u32,
    start: usize,
    end: usize,
    /// Its text, if that differs from the bytes in its range.
    joined: Option<String>,
}

/// Parts that are joined.
#[derive(Default)]
struct Joined {
    text: String,
    kind: u8,
    start: usize,
    end: usize,
    count: usize,
}

impl Joined {
    fn add(&mut self, text: &str, (start, end, kind): (usize, usize, u8)) {
        if self.count == 0 {
            (self.kind, self.start) = (kind, start);
        }
        self.text.push_str(&text[start..end]);
        self.end = end;
        self.count += 1;
    }
}

/// Assigns positions to the parts of one token.
struct Positions {
    skipped: u32,
    has_output: bool,
    /// Whether the original has been emitted at the position of the first part.
    follows_original: bool,
}

impl Positions {
    fn next(&mut self, is_joined: bool) -> u32 {
        if self.has_output {
            let skipped = std::mem::take(&mut self.skipped);
            return if is_joined { 0 } else { skipped.max(1) };
        }
        self.has_output = true;
        if std::mem::take(&mut self.follows_original) {
            return 0;
        }
        std::mem::take(&mut self.skipped).max(1)
    }
}

impl Stream for WordDelimiter {
    fn start(&self) -> Box<dyn Stage + '_> {
        Box::new(Walk { own: &self.0, is_first: true, skipped: 0, scratch: String::new() })
    }
}

impl Walk<'_> {
    fn parts(&mut self, text: &str, parts: &[(usize, usize, u8)]) -> Vec<Part> {
        let own = self.own;
        let mut positions =
            Positions { skipped: self.skipped, has_output: false, follows_original: own.keeps_original };
        let mut made: Vec<Part> = Vec::new();
        let (mut run, mut all) = (Joined::default(), Joined::default());
        let mut last_count = 0;
        let join = |joined: Joined, positions: &mut Positions, made: &mut Vec<Part>| {
            let increment = positions.next(true);
            positions.skipped = 0;
            made.push(Part { increment, start: joined.start, end: joined.end, joined: Some(joined.text) });
        };
        let mut flush = |run: &mut Joined, positions: &mut Positions, made: &mut Vec<Part>| {
            let run = std::mem::take(run);
            last_count = run.count;
            if run.count != 1 || !own.makes(run.kind) {
                join(run, positions, made);
            }
        };
        for &part in parts {
            let (start, end, kind) = part;
            if run.count > 0 && run.kind & kind == 0 {
                flush(&mut run, &mut positions, &mut made);
                positions.has_output = false;
            }
            if own.joins(kind) {
                run.add(text, part);
            }
            if own.catenate_all {
                all.add(text, part);
            }
            if own.makes(kind) {
                made.push(Part { increment: positions.next(false), start, end, joined: None });
            }
        }
        if run.count > 0 {
            flush(&mut run, &mut positions, &mut made);
        }
        if all.count > last_count {
            join(all, &mut positions, &mut made);
        }
        made.sort_by_key(|part| (part.start, std::cmp::Reverse(part.increment)));
        self.skipped = positions.skipped;
        made
    }
}

impl Stage for Walk<'_> {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        if !self.own.has_room_for_parts(&token.text) {
            return false;
        }
        self.skipped += token.increment;
        let (parts, is_single) = self.own.parts(&token.text);
        let is_whole = parts.first().is_some_and(|(start, end, _)| (*start, *end) == (0, token.text.len()));
        if is_whole || self.own.protected.has(&token.text, &mut self.scratch) {
            token.increment = std::mem::take(&mut self.skipped);
            self.is_first = false;
            return emit(token);
        }
        if parts.is_empty() && !self.own.keeps_original {
            if token.increment == 1 && !self.is_first {
                self.skipped -= 1;
            }
            return true;
        }
        if self.own.keeps_original {
            let mut original = token.clone();
            original.increment = std::mem::take(&mut self.skipped);
            self.is_first = false;
            if !emit(&mut original) {
                return false;
            }
        }
        let text = std::mem::take(&mut token.text);
        let (start, end) = (token.start, token.end);
        let keeps_offsets = (end - start) as usize != text.len();
        token.place(0, 0, token.kind);
        if let (true, [(first, last, _)]) = (is_single, &parts[..]) {
            let mut positions = Positions {
                skipped: self.skipped,
                has_output: false,
                follows_original: self.own.keeps_original,
            };
            token.increment = positions.next(false);
            self.skipped = positions.skipped;
            self.is_first = false;
            token.set(&text[*first..*last]);
            let from = start + *first as u32;
            (token.start, token.end) = match keeps_offsets {
                true if from <= end => (from, end),
                true => (start, end),
                false => (from, start + *last as u32),
            };
            return emit(token);
        }
        self.parts(&text, &parts).into_iter().all(|part| {
            token.set(part.joined.as_deref().unwrap_or(&text[part.start..part.end]));
            (token.start, token.end) = match keeps_offsets {
                true => (start, end),
                false => (start + part.start as u32, start + part.end as u32),
            };
            let is_first = std::mem::take(&mut self.is_first);
            token.increment = if is_first { part.increment.max(1) } else { part.increment };
            emit(token)
        })
    }
}
