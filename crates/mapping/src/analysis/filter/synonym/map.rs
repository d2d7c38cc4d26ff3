//! Synonyms as a tree: "which is the longest sequence of tokens from here on that has any?"

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::analysis::lowercase_into;
use crate::analysis::token::TokenBuf;

/// The type of a token that stands for others.
pub const SYNONYM: &str = "SYNONYM";

#[derive(Debug, Default)]
struct Node {
    children: HashMap<String, Node>,
    found: Option<Arc<Outputs>>,
}

/// What stands for a sequence of tokens.
#[derive(Debug, Default, Clone)]
pub struct Outputs {
    pub paths: Vec<Vec<String>>,
    /// Whether the sequence stays beside them.
    pub keeps_original: bool,
}

#[derive(Debug, Default)]
pub struct SynonymMap {
    root: Node,
    ignores_case: bool,
    /// Bytes of all rules.
    bytes: usize,
}

/// Bytes that the rules of one filter may have when they are spread out: a line of n words is n times n of them.
const BYTES_MAX: usize = 64 << 20;

/// What a look from the first token on finds.
pub enum Look {
    /// More tokens must be known.
    Open,
    Nothing,
    /// So many tokens.
    Match(usize, Arc<Outputs>),
}

impl SynonymMap {
    pub fn new(ignores_case: bool) -> SynonymMap {
        SynonymMap { ignores_case, ..SynonymMap::default() }
    }

    /// False: there is no room for so many.
    pub fn add(&mut self, input: &[String], output: &[String], keeps_original: bool) -> bool {
        let bytes = |words: &[String]| words.iter().map(|word| word.len() + 24).sum::<usize>();
        self.bytes += bytes(input) + bytes(output);
        if self.bytes > BYTES_MAX {
            return false;
        }
        let mut node = &mut self.root;
        for word in input {
            let word = if self.ignores_case { lower(word) } else { word.clone() };
            node = node.children.entry(word).or_default();
        }
        let found = Arc::make_mut(node.found.get_or_insert_default());
        if !found.paths.iter().any(|path| path == output) {
            found.paths.push(output.to_vec());
        }
        found.keeps_original |= keeps_original;
        true
    }

    /// Looks from the first of `tokens` on; `is_all`: no more will come.
    pub fn look(&self, tokens: &VecDeque<TokenBuf>, is_all: bool) -> Look {
        let mut node = &self.root;
        let mut found = Look::Nothing;
        for (count, token) in (1..).zip(tokens) {
            let next = match self.ignores_case {
                true => node.children.get(&lower(&token.text)),
                false => node.children.get(&token.text),
            };
            let Some(next) = next else { return found };
            if let Some(outputs) = &next.found {
                found = Look::Match(count, outputs.clone());
            }
            if next.children.is_empty() {
                return found;
            }
            node = next;
        }
        if is_all { found } else { Look::Open }
    }
}

fn lower(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    lowercase_into(word, &mut out);
    out
}
