//! `flatten_graph`: converts a graph of tokens to a linear sequence of positions, which an index can store.
//! Paths with more tokens than the shortest one are squeezed into its positions.
//!
//! Source: Lucene's `FlattenGraphFilter`.

use std::collections::BTreeMap;

use crate::RequestError;
use crate::analysis::chain::{Emit, End, Filter, Stage, Stream};
use crate::analysis::context::Context;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct FlattenGraph;

/// Makes `flatten_graph`, which has no settings.
pub fn make(_: &Settings<'_>, _: &Context<'_>) -> Result<Filter, RequestError> {
    Ok(Filter::stream(FlattenGraph))
}

/// A node of the input graph.
#[derive(Debug, Default)]
struct Input {
    tokens: Vec<TokenBuf>,
    is_known: bool,
    /// The nearest and the farthest node at which its tokens end.
    to_least: Option<i64>,
    to_most: i64,
    /// The output node that it becomes.
    output: Option<i64>,
    /// Number of tokens that have been emitted.
    sent: usize,
}

/// A node of the output sequence.
#[derive(Debug, Default)]
struct Output {
    inputs: Vec<i64>,
    is_known: bool,
    sent: usize,
    start: Option<u32>,
    end: Option<u32>,
}

struct Walk {
    inputs: BTreeMap<i64, Input>,
    outputs: BTreeMap<i64, Output>,
    /// The highest output node that has been assigned.
    output_max: i64,
    input_from: i64,
    output_from: i64,
    output_last: i64,
    last_start: u32,
    is_done: bool,
}

impl Stream for FlattenGraph {
    fn start(&self) -> Box<dyn Stage + '_> {
        let input = Input { is_known: true, output: Some(0), ..Input::default() };
        let output = Output { is_known: true, inputs: vec![0], start: Some(0), ..Output::default() };
        Box::new(Walk {
            inputs: BTreeMap::from([(0, input)]),
            outputs: BTreeMap::from([(0, output)]),
            output_max: 0,
            input_from: -1,
            output_from: 0,
            output_last: -1,
            last_start: 0,
            is_done: false,
        })
    }
}

impl Walk {
    fn input(&mut self, node: i64) -> &mut Input {
        self.inputs.entry(node).or_default()
    }

    fn output(&mut self, node: i64) -> &mut Output {
        self.output_max = self.output_max.max(node);
        self.outputs.entry(node).or_default()
    }

    fn output_of(&self, input: i64) -> Option<i64> {
        self.inputs.get(&input).and_then(|input| input.output)
    }

    /// Creates a node without a predecessor, because tokens before it were removed.
    fn recover(&mut self, start: u32, increment: i64) -> i64 {
        let from = self.input_from;
        let before = from - increment;
        let number = match before >= 0 {
            true => match self.input(before).to_least.filter(|to| *to < from) {
                Some(to) => self.output_of(to).unwrap_or(-1) + 1,
                None => self.output_max,
            },
            false => self.output_max + 1,
        };
        let input = self.input(from);
        (input.is_known, input.output) = (true, Some(number));
        let output = self.output(number);
        output.start = Some(if output.is_known { start.max(output.start.unwrap_or(0)) } else { start });
        output.is_known = true;
        output.inputs.push(from);
        number
    }

    fn take(&mut self, token: &TokenBuf) {
        let increment = i64::from(token.increment);
        self.input_from += increment;
        let from = self.input_from;
        let to = from + i64::from(token.length);
        let source = match self.input(from).output.filter(|_| self.inputs[&from].is_known) {
            None => self.recover(token.start, increment),
            Some(number) => self.known_source(number, token.start, increment),
        };
        let input = self.input(from);
        input.tokens.push(token.clone());
        input.to_most = input.to_most.max(to);
        input.to_least = Some(input.to_least.map_or(to, |least| least.min(to)));
        let number = source + 1;
        let target = self.input(to);
        target.is_known = true;
        if target.output.is_none_or(|known| number > known) {
            let known = target.output.replace(number);
            if let Some(known) = known {
                self.output(known).inputs.retain(|input| *input != to);
            }
            self.output(number).inputs.push(to);
        }
        let number = self.output_of(to).unwrap_or(number);
        let output = self.output(number);
        output.end = Some(output.end.map_or(token.end, |end| end.min(token.end)));
    }

    /// Returns the output node of an input node that has a predecessor.
    fn known_source(&mut self, number: i64, start: u32, increment: i64) -> i64 {
        let from = self.input_from;
        let before = self.inputs.get(&(from - increment));
        let skips = increment > 1
            && number - before.and_then(|input| input.output).unwrap_or(-1) <= 1
            && before.and_then(|input| input.to_least) != Some(from);
        let mut source = number;
        if skips {
            let output = self.output(number);
            output.inputs.retain(|input| *input != from);
            let end = output.end;
            self.input(from).output = None;
            source = self.recover(start, increment);
            self.output(source).end = end;
        }
        let output = self.output(source);
        output.start = Some(output.start.map_or(start, |known| known.max(start)));
        source
    }

    /// Emits the tokens that can no longer change. Returns false if no more are wanted.
    fn release(&mut self, emit: Emit<'_>) -> bool {
        while self.output_from < self.output_max {
            let from = self.output_from;
            let inputs = self.output(from).inputs.clone();
            if inputs.is_empty() {
                self.output_from += 1;
                continue;
            }
            let to_most = inputs.iter().map(|input| self.input(*input).to_most).max().unwrap_or(-1);
            if to_most > self.input_from && !self.is_done {
                return true;
            }
            let sent = self.output(from).sent;
            let node = inputs[sent.min(inputs.len() - 1)];
            if self.input(node).tokens.is_empty() {
                if inputs.len() > 1 {
                    self.output(from).sent += 1;
                    if sent + 1 < inputs.len() {
                        continue;
                    }
                }
                self.free(&inputs);
                continue;
            }
            let mut token = self.next_token(node);
            let is_last = self.input(node).sent == self.input(node).tokens.len();
            if is_last {
                self.output(from).sent += 1;
                if sent + 1 == inputs.len() {
                    self.free(&inputs);
                }
            }
            if !emit(&mut token) {
                return false;
            }
        }
        true
    }

    fn next_token(&mut self, node: i64) -> TokenBuf {
        let from = self.output_from;
        let input = self.input(node);
        let mut token = input.tokens[input.sent].clone();
        input.sent += 1;
        token.increment = u32::try_from(from - self.output_last).unwrap_or(0);
        let to = self.output_of(node + i64::from(token.length)).unwrap_or(from + 1);
        token.length = u32::try_from(to - from).unwrap_or(1);
        self.output_last = from;
        let end = self.output(to).end.unwrap_or(0);
        token.start = self.last_start.max(self.output(from).start.unwrap_or(0));
        token.end = token.start.max(end);
        self.last_start = token.start;
        token
    }

    fn free(&mut self, inputs: &[i64]) {
        self.output_from += 1;
        let least = inputs.iter().min().copied().unwrap_or(0);
        self.inputs = self.inputs.split_off(&least);
        self.outputs = self.outputs.split_off(&self.output_from);
    }
}

impl Stage for Walk {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        self.take(token);
        self.release(emit)
    }

    fn end(&mut self, End { trailing, .. }: End, emit: Emit<'_>) -> u32 {
        self.is_done = true;
        self.release(emit);
        trailing
    }
}
