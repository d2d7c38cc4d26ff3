//! `synonym`: emits the tokens of synonyms at the positions of the tokens that they replace, whatever their
//! number.
//!
//! Source: Lucene's `SynonymFilter`.

use std::collections::VecDeque;
use std::sync::Arc;

use super::map::{MatchProgress, MatchResult, Outputs, SYNONYM, SynonymMap};
use crate::analysis::chain::{Emit, End, Stage, Stream};
use crate::analysis::token::TokenBuf;

/// The filter `synonym` with its synonyms.
#[derive(Debug)]
pub struct Flat(pub Arc<SynonymMap>);

struct Walk<'a> {
    map: &'a SynonymMap,
    waiting: VecDeque<TokenBuf>,
    progress: MatchProgress,
    /// Synonym tokens at the positions from the first waiting token on: text, position length, and the end of
    /// the whole match if the synonym is a single token.
    outputs: VecDeque<Vec<(String, u32, Option<u32>)>>,
    /// Offsets of the last token that was read.
    last: (u32, u32),
}

impl Stream for Flat {
    fn start(&self) -> Box<dyn Stage + '_> {
        Box::new(Walk {
            map: &self.0,
            waiting: VecDeque::new(),
            progress: MatchProgress::default(),
            outputs: VecDeque::new(),
            last: (0, 0),
        })
    }
}

impl Walk<'_> {
    fn drain(&mut self, is_all: bool, emit: Emit<'_>) -> bool {
        while !self.waiting.is_empty() {
            if !self.progress.goes_on() {
                return false;
            }
            let (count, keeps) = match self.map.look(&self.waiting, is_all, &mut self.progress) {
                MatchResult::Open => return true,
                MatchResult::Nothing => (1, true),
                MatchResult::Match(count, outputs) => {
                    self.note(count, &outputs);
                    (count, outputs.keeps_original)
                }
            };
            for _ in 0..count {
                let Some(token) = self.waiting.pop_front() else { return true };
                if !self.position(token, keeps, emit) {
                    return false;
                }
            }
        }
        true
    }

    fn note(&mut self, count: usize, outputs: &Outputs) {
        let end = self.waiting.get(count - 1).map(|token| token.end);
        for path in &outputs.paths {
            for (place, word) in path.iter().enumerate() {
                while self.outputs.len() <= place {
                    self.outputs.push_back(Vec::new());
                }
                let is_whole = path.len() == 1;
                let length = if is_whole && outputs.keeps_original { count as u32 } else { 1 };
                self.outputs[place].push((word.clone(), length, end.filter(|_| is_whole)));
            }
        }
    }

    /// Emits one position: the token if it is kept, and the synonym tokens there.
    fn position(&mut self, mut token: TokenBuf, keeps: bool, emit: Emit<'_>) -> bool {
        let outputs = self.outputs.pop_front().unwrap_or_default();
        let mut increment = 1;
        if keeps {
            increment = 0;
            if !emit(&mut token.clone()) {
                return false;
            }
        }
        outputs.into_iter().all(|(text, length, end)| {
            token.text = text;
            token.end = end.unwrap_or(token.end);
            (token.kind, token.length, token.increment) = (SYNONYM, length, std::mem::take(&mut increment));
            (token.is_keyword, token.payload) = (false, None);
            emit(&mut token)
        })
    }
}

impl Stage for Walk<'_> {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        self.last = (token.start, token.end);
        self.waiting.push_back(token.clone());
        self.drain(false, emit)
    }

    fn end(&mut self, End { trailing, .. }: End, emit: Emit<'_>) -> u32 {
        self.drain(true, emit);
        while let Some(words) = self.outputs.pop_front() {
            let mut increment = 1;
            for (text, ..) in words {
                let (start, end) = self.last;
                let mut token =
                    TokenBuf { text, start, end, increment, kind: SYNONYM, ..TokenBuf::default() };
                increment = 0;
                emit(&mut token);
            }
        }
        trailing
    }
}
