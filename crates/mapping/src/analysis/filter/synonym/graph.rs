//! `synonym_graph`: each synonym is a separate path, parallel to the tokens that it replaces.
//!
//! Source: Lucene's `SynonymGraphFilter`.

use std::collections::VecDeque;
use std::sync::Arc;

use super::map::{MatchProgress, MatchResult, Outputs, SYNONYM, SynonymMap};
use crate::analysis::chain::{Emit, End, Stage, Stream};
use crate::analysis::token::TokenBuf;

/// The filter `synonym_graph` with its synonyms.
#[derive(Debug)]
pub struct Graph(pub Arc<SynonymMap>);

struct Walk<'a> {
    map: &'a SynonymMap,
    waiting: VecDeque<TokenBuf>,
    progress: MatchProgress,
    /// The start node of the last token, and that of the next one.
    last: i64,
    next: i64,
}

impl Stream for Graph {
    fn start(&self) -> Box<dyn Stage + '_> {
        Box::new(Walk {
            map: &self.0,
            waiting: VecDeque::new(),
            progress: MatchProgress::default(),
            last: -1,
            next: 0,
        })
    }
}

impl Walk<'_> {
    fn drain(&mut self, is_all: bool, emit: Emit<'_>) -> bool {
        while !self.waiting.is_empty() {
            if !self.progress.goes_on() {
                return false;
            }
            match self.map.look(&self.waiting, is_all, &mut self.progress) {
                MatchResult::Open => return true,
                MatchResult::Nothing => {
                    let Some(mut token) = self.waiting.pop_front() else { return true };
                    self.last += i64::from(token.increment);
                    self.next = self.last + i64::from(token.length);
                    if !emit(&mut token) {
                        return false;
                    }
                }
                MatchResult::Match(count, outputs) => {
                    let matched: Vec<TokenBuf> = self.waiting.drain(..count).collect();
                    if !self.side_by_side(&matched, &outputs, emit) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Emits all paths from one node to another: first the first token of each path, then the rest of each.
    fn side_by_side(&mut self, matched: &[TokenBuf], outputs: &Outputs, emit: Emit<'_>) -> bool {
        let (Some(first), Some(end)) = (matched.first(), matched.last().map(|token| token.end)) else {
            return true;
        };
        let synonym = |text: &String| TokenBuf {
            text: text.clone(),
            start: first.start,
            end,
            kind: SYNONYM,
            ..TokenBuf::default()
        };
        let mut ways: Vec<Vec<TokenBuf>> =
            outputs.paths.iter().map(|path| path.iter().map(synonym).collect()).collect();
        if outputs.keeps_original {
            ways.push(matched.to_vec());
        }
        let inner: usize = ways.iter().map(|way| way.len() - 1).sum();
        let start = self.next;
        let end = start + inner as i64 + 1;
        let mut made: Vec<(TokenBuf, i64, i64)> = Vec::new();
        let mut free = start + 1;
        let mut later: Vec<(TokenBuf, i64, i64)> = Vec::new();
        for way in ways {
            let count = way.len();
            let mut from = start;
            for (number, token) in (1..).zip(way) {
                let to = if number == count { end } else { free };
                free += i64::from(number < count);
                let place = if number == 1 { &mut made } else { &mut later };
                place.push((token, from, to));
                from = to;
            }
        }
        self.next = end;
        made.into_iter().chain(later).all(|(mut token, from, to)| {
            token.increment = (from - self.last).max(0) as u32;
            token.length = (to - from) as u32;
            self.last = from;
            emit(&mut token)
        })
    }
}

impl Stage for Walk<'_> {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        self.waiting.push_back(token.clone());
        self.drain(false, emit)
    }

    fn end(&mut self, End { trailing, .. }: End, emit: Emit<'_>) -> u32 {
        self.drain(true, emit);
        trailing
    }
}
