//! Synonyms as a tree: "which is the longest sequence of tokens from here on that has synonyms?"

use std::collections::VecDeque;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Instant;

use hashbrown::HashMap;
use limber_work::Stop;

use crate::analysis::lowercase_into;
use crate::analysis::token::TokenBuf;

/// The type of synonym tokens.
pub const SYNONYM: &str = "SYNONYM";

#[derive(Debug, Default)]
struct Node {
    /// Indices of nodes. A tree of boxes would be as deep as a rule is long, and dropping it would recurse as
    /// deeply.
    children: HashMap<String, u32>,
    found: Option<Arc<Outputs>>,
}

/// The synonyms of a sequence of tokens.
#[derive(Debug, Default, Clone)]
pub struct Outputs {
    pub paths: Vec<Vec<String>>,
    /// Whether the sequence is kept in addition to them.
    pub keeps_original: bool,
}

/// All synonyms, by the sequences of tokens that they replace.
#[derive(Debug)]
pub struct SynonymMap {
    /// The first node is the root.
    nodes: Vec<Node>,
    ignores_case: bool,
    /// Total bytes of all rules.
    bytes: usize,
    /// While rules are added: by node and hash, the place of an output among those of the node.
    known: HashMap<(u32, u64), usize>,
    hashes: RandomState,
}

/// Maximum size of the expanded rules of one filter: a line of n words expands to n times n words.
const BYTES_MAX: usize = 64 << 20;
/// Maximum number of tokens before `=>` in a rule, because up to this many are examined again for each token
/// of a text.
const INPUT_TOKENS_MAX: usize = 256;
/// Number of tokens between two checks for cancellation.
const TOKENS_PER_CHECK: u32 = 256;

/// The result of matching from the first waiting token on.
pub enum MatchResult {
    /// More tokens are needed.
    Open,
    /// No synonym begins here.
    Nothing,
    /// This many tokens match.
    Match(usize, Arc<Outputs>),
}

/// The progress of matching the waiting tokens.
#[derive(Debug)]
pub struct MatchProgress {
    node: u32,
    count: usize,
    found: Option<(usize, Arc<Outputs>)>,
    token_count: u32,
    since: Instant,
}

impl Default for MatchProgress {
    fn default() -> MatchProgress {
        MatchProgress { node: 0, count: 0, found: None, token_count: 0, since: Instant::now() }
    }
}

impl MatchProgress {
    /// Starts matching at the first waiting token again.
    fn restart(&mut self) {
        (self.node, self.count, self.found) = (0, 0, None);
    }

    /// Whether the text may take more time. Called for each token.
    pub fn goes_on(&mut self) -> bool {
        self.token_count = self.token_count.wrapping_add(1);
        !self.token_count.is_multiple_of(TOKENS_PER_CHECK) || limber_work::goes_on(&mut self.since)
    }
}

/// Why a rule is not added.
#[derive(Debug)]
pub enum Fault {
    /// The rule is invalid, for this reason.
    Invalid(String),
    /// The request must end, whatever the rule says.
    Ended(Stop),
}

impl From<String> for Fault {
    fn from(reason: String) -> Fault {
        Fault::Invalid(reason)
    }
}

impl From<Stop> for Fault {
    fn from(stop: Stop) -> Fault {
        Fault::Ended(stop)
    }
}

impl SynonymMap {
    /// Creates an empty map. With `ignores_case`, tokens are compared in lower case.
    pub fn new(ignores_case: bool) -> SynonymMap {
        SynonymMap {
            nodes: vec![Node::default()],
            ignores_case,
            bytes: 0,
            known: HashMap::default(),
            hashes: RandomState::new(),
        }
    }

    /// Returns the map after all rules were added, without what only adding needs.
    pub fn finished(self) -> SynonymMap {
        SynonymMap { known: HashMap::default(), ..self }
    }

    /// Adds a rule.
    ///
    /// # Errors
    /// There are too many synonyms, the rule is too long, or the request must end.
    pub fn add(&mut self, input: &[String], output: &[String], keeps_original: bool) -> Result<(), Fault> {
        let bytes = |words: &[String]| words.iter().map(|word| word.len() + 24).sum::<usize>();
        self.bytes += bytes(input) + bytes(output);
        limber_work::check()?;
        if self.bytes > BYTES_MAX {
            return Err("there are too many synonyms".to_owned().into());
        }
        if input.len() > INPUT_TOKENS_MAX {
            return Err(format!("a rule stands for more than [{INPUT_TOKENS_MAX}] tokens").into());
        }
        let mut at = 0;
        for word in input {
            let word = if self.ignores_case { lower(word) } else { word.clone() };
            let next = self.nodes.len() as u32;
            at = *self.nodes[at as usize].children.entry(word).or_insert(next);
            if at == next {
                self.nodes.push(Node::default());
            }
        }
        let found = Arc::make_mut(self.nodes[at as usize].found.get_or_insert_default());
        let place = (at, self.hashes.hash_one(output));
        let is_known = self.known.get(&place).is_some_and(|known| {
            // Others may have the same hash.
            found.paths[*known] == output || found.paths.iter().any(|path| path == output)
        });
        if !is_known {
            self.known.insert(place, found.paths.len());
            found.paths.push(output.to_vec());
        }
        found.keeps_original |= keeps_original;
        Ok(())
    }

    /// Continues matching from the first of `tokens` on; `is_all` means that no more tokens will come. After
    /// a result other than [`MatchResult::Open`], the caller removes the first tokens.
    pub fn look(
        &self,
        tokens: &VecDeque<TokenBuf>,
        is_all: bool,
        progress: &mut MatchProgress,
    ) -> MatchResult {
        let found = |progress: &mut MatchProgress| {
            let found = progress.found.take();
            progress.restart();
            found.map_or(MatchResult::Nothing, |(count, outputs)| MatchResult::Match(count, outputs))
        };
        while let Some(token) = tokens.get(progress.count) {
            let children = &self.nodes[progress.node as usize].children;
            let next = match self.ignores_case {
                true => children.get(&lower(&token.text)),
                false => children.get(&token.text),
            };
            let Some(next) = next else { return found(progress) };
            (progress.node, progress.count) = (*next, progress.count + 1);
            let node = &self.nodes[*next as usize];
            if let Some(outputs) = &node.found {
                progress.found = Some((progress.count, outputs.clone()));
            }
            if node.children.is_empty() {
                return found(progress);
            }
        }
        if is_all { found(progress) } else { MatchResult::Open }
    }
}

fn lower(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    lowercase_into(word, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(count: usize) -> Vec<String> {
        vec!["a".to_owned(); count]
    }

    #[test]
    fn rules_are_as_long_as_is_looked_at_again() {
        let mut map = SynonymMap::new(false);
        assert!(map.add(&words(INPUT_TOKENS_MAX), &words(1), false).is_ok());
        assert!(map.add(&words(INPUT_TOKENS_MAX + 1), &words(1), false).is_err());
        assert!(map.add(&words(1), &words(200_000), false).is_ok(), "what stands for it may be long");
        assert!(map.add(&words(1), &vec!["x".repeat(1 << 20); 70], false).is_err(), "there is an end to it");
    }

    #[test]
    fn equal_outputs_are_kept_once() {
        let mut map = SynonymMap::new(false);
        for output in ["b", "c", "b", "c", "d"] {
            map.add(&words(1), &[output.to_owned()], false).expect("room");
        }
        let found = map.finished().nodes[1].found.take().expect("an output");
        assert_eq!(found.paths.concat(), ["b", "c", "d"]);
    }

    #[test]
    fn looks_go_on_where_they_ended() {
        let mut map = SynonymMap::new(false);
        map.add(&words(2), &["b".to_owned()], false).expect("room");
        map.add(&words(4), &["c".to_owned()], false).expect("room");
        let token = || TokenBuf { text: "a".to_owned(), ..TokenBuf::default() };
        let (mut waiting, mut progress) = (VecDeque::new(), MatchProgress::default());
        for _ in 0..3 {
            waiting.push_back(token());
            assert!(matches!(map.look(&waiting, false, &mut progress), MatchResult::Open));
        }
        assert!(
            matches!(map.look(&waiting, true, &mut progress), MatchResult::Match(2, _)),
            "the longest so far"
        );
        waiting.truncate(1);
        assert!(
            matches!(map.look(&waiting, true, &mut progress), MatchResult::Nothing),
            "from the first one on again"
        );
    }
}
