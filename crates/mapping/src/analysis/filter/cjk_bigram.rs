//! `cjk_bigram`: joins adjacent ideographs, kana and hangul to pairs.
//!
//! Source: Lucene's `CJKBigramFilter`.

use crate::RequestError;
use crate::analysis::chain::{Emit, End, Filter, Parsing, Stage, Stream};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

/// Token types by the names of their scripts.
const SCRIPTS: [(&str, &str); 4] = [
    ("han", "<IDEOGRAPHIC>"),
    ("hiragana", "<HIRAGANA>"),
    ("katakana", "<KATAKANA>"),
    ("hangul", "<HANGUL>"),
];

#[derive(Debug)]
struct CjkBigram {
    kinds: Vec<&'static str>,
    unigrams: bool,
}

/// Reads `ignored_scripts`, whose characters are not joined, and `output_unigrams` (false).
pub fn make(settings: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    let ignored = settings.list("ignored_scripts").unwrap_or_default();
    let is_ignored = |script: &str| ignored.iter().any(|name| name.trim() == script);
    let kinds = SCRIPTS.iter().filter(|(script, _)| !is_ignored(script)).map(|(_, kind)| *kind).collect();
    let unigrams = settings.bool("output_unigrams", false)?;
    Ok(Filter::stream(CjkBigram { kinds, unigrams })
        .reading_kinds()
        .hiding_graph(unigrams)
        .parsing(Parsing::Refused))
}

struct Run<'a> {
    own: &'a CjkBigram,
    /// The last character of the current run, its offsets, and whether it has been part of a pair.
    last: Option<(char, u32, u32, bool)>,
}

impl Stream for CjkBigram {
    fn start(&self) -> Box<dyn Stage + '_> {
        Box::new(Run { own: self, last: None })
    }
}

impl Run<'_> {
    fn flush(&mut self, emit: Emit<'_>) -> bool {
        match self.last.take() {
            Some((c, start, end, in_pair)) if self.own.unigrams || !in_pair => single(c, start, end, emit),
            _ => true,
        }
    }

    fn character(&mut self, c: char, start: u32, end: u32, emit: Emit<'_>) -> bool {
        let Some((before, from, to, _)) = self.last.replace((c, start, end, true)) else {
            self.last = Some((c, start, end, false));
            return true;
        };
        if self.own.unigrams && !single(before, from, to, emit) {
            return false;
        }
        let mut token = TokenBuf {
            text: [before, c].iter().collect(),
            start: from,
            end,
            kind: "<DOUBLE>",
            ..TokenBuf::default()
        };
        if self.own.unigrams {
            (token.increment, token.length) = (0, 2);
        }
        emit(&mut token)
    }
}

fn single(c: char, start: u32, end: u32, emit: Emit<'_>) -> bool {
    emit(&mut TokenBuf { text: c.to_string(), start, end, kind: "<SINGLE>", ..TokenBuf::default() })
}

impl Stage for Run<'_> {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        if !self.own.kinds.contains(&token.kind) {
            return self.flush(emit) && emit(token);
        }
        if self.last.is_some_and(|(_, _, end, _)| end != token.start) && !self.flush(emit) {
            return false;
        }
        let is_whole = (token.end - token.start) as usize != token.text.len();
        token.text.char_indices().all(|(at, c)| match is_whole {
            true => self.character(c, token.start, token.end, emit),
            false => {
                let start = token.start + at as u32;
                self.character(c, start, start + c.len_utf8() as u32, emit)
            }
        })
    }

    fn end(&mut self, End { trailing, .. }: End, emit: Emit<'_>) -> u32 {
        self.flush(emit);
        trailing
    }
}
