//! `word_delimiter_graph` and `word_delimiter`: split words into parts, and join the parts.
//!
//! Source: Lucene's `WordDelimiterGraphFilter` and `WordDelimiterFilter`.

use super::word_parts::Parting;
use crate::RequestError;
use crate::analysis::chain::{Emit, Filter, Parsing, Stage, Stream};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct WordDelimiter(Parting);

/// Makes `word_delimiter_graph`. Reads the settings of [`Parting::read`].
pub fn make_graph(settings: &Settings<'_>, context: &Context<'_>) -> Result<Filter, RequestError> {
    Ok(Filter::stream(WordDelimiter(Parting::read(settings, context)?))
        .parsing(Parsing::Refused)
        .knowing_keywords())
}

struct Walk<'a> {
    own: &'a Parting,
    /// Positions of tokens that yielded nothing.
    skipped: u32,
    last_start: u32,
    scratch: String,
}

/// A part that is emitted: its first and last node in the token's own graph, its byte range, and its text if
/// that differs from the bytes in the range.
type Part = (u32, u32, usize, usize, Option<String>);

impl Stream for WordDelimiter {
    fn start(&self) -> Box<dyn Stage + '_> {
        Box::new(Walk { own: &self.0, skipped: 0, last_start: 0, scratch: String::new() })
    }
}

/// Parts that are joined.
#[derive(Default)]
struct Joined {
    text: String,
    kind: u8,
    start: usize,
    end: usize,
    from: u32,
    count: usize,
}

impl Joined {
    fn add(&mut self, text: &str, (start, end, kind): (usize, usize, u8), node: u32) {
        if self.count == 0 {
            (self.kind, self.start, self.from) = (kind, start, node);
        }
        self.text.push_str(&text[start..end]);
        self.end = end;
        self.count += 1;
    }
}

impl Walk<'_> {
    fn graph(&self, text: &str, parts: &[(usize, usize, u8)]) -> Vec<Part> {
        let own = self.own;
        let mut made: Vec<Part> = Vec::new();
        let mut node = 0;
        let (mut run, mut all) = (Joined::default(), Joined::default());
        let mut last_count = 0;
        let mut flush = |run: &mut Joined, node: &mut u32, made: &mut Vec<Part>| {
            let run = std::mem::take(run);
            if *node == run.from {
                *node += 1;
            }
            last_count = run.count;
            if run.count != 1 || !own.makes(run.kind) {
                made.push((run.from, *node, run.start, run.end, Some(run.text)));
            }
        };
        for &part in parts {
            let (start, end, kind) = part;
            if run.count > 0 && run.kind & kind == 0 {
                flush(&mut run, &mut node, &mut made);
            }
            if own.joins(kind) {
                run.add(text, part, node);
            }
            if own.catenate_all {
                all.add(text, part, node);
            }
            if own.makes(kind) {
                made.push((node, node + 1, start, end, None));
                node += 1;
            }
        }
        if run.count > 0 {
            flush(&mut run, &mut node, &mut made);
        }
        if all.count > last_count {
            if node == all.from {
                node += 1;
            }
            made.push((all.from, node, all.start, all.end, Some(all.text)));
        }
        made.sort_by_key(|(_, _, start, end, _)| (*start, std::cmp::Reverse(*end)));
        if own.keeps_original {
            made.insert(0, (0, node.max(1), 0, text.len(), None));
        }
        made
    }
}

impl Stage for Walk<'_> {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        if self.own.ignores_keywords && token.is_keyword {
            return emit(token);
        }
        if !self.own.has_room_for_parts(&token.text) {
            return false;
        }
        self.skipped += token.increment;
        let (parts, is_single) = self.own.parts(&token.text);
        let is_whole = parts.first().is_some_and(|(start, end, _)| (*start, *end) == (0, token.text.len()));
        if is_whole || self.own.protected.has(&token.text, &mut self.scratch) {
            token.increment = std::mem::take(&mut self.skipped);
            return emit(token);
        }
        if parts.is_empty() {
            if !self.own.keeps_original {
                return true;
            }
            self.skipped = 0;
            return emit(token);
        }
        let text = std::mem::take(&mut token.text);
        let made = match is_single {
            true => {
                let only = (0, 1, parts[0].0, parts[0].1, None);
                let original = self.own.keeps_original.then_some((0, 1, 0, text.len(), None));
                original.into_iter().chain([only]).collect()
            }
            false => self.graph(&text, &parts),
        };
        let (start, end) = (token.start, token.end);
        let adjusts = self.own.adjusts_offsets && (end - start) as usize == text.len();
        let mut node = 0;
        made.into_iter().all(|(from, to, first, last, joined)| {
            match joined {
                Some(joined) => token.set(&joined),
                None => token.set(&text[first..last]),
            }
            let offsets = if adjusts { (start + first as u32, start + last as u32) } else { (start, end) };
            token.start = offsets.0.max(self.last_start);
            token.end = offsets.1.max(self.last_start);
            self.last_start = token.start;
            token.increment = std::mem::take(&mut self.skipped) + from - node;
            token.length = to - from;
            node = from;
            emit(token)
        })
    }
}
