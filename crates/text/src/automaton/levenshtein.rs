//! Terms within an edit distance of a word.

use std::fmt;
use std::sync::{Arc, OnceLock};

use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder, SINK_STATE};
use limber_work::{self as work, Stop};

use super::term_automaton::{TermAutomaton, Verdict};

/// Terms that start with the first characters of a word and are within an edit distance of it.
#[derive(Clone)]
pub struct Levenshtein {
    prefix: Vec<u8>,
    /// The automaton for the part after the prefix.
    rest: Arc<DFA>,
    shown: String,
}

impl fmt::Debug for Levenshtein {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "terms like {}", self.shown)
    }
}

/// The number of bytes of the longest term (`IndexWriter.MAX_TERM_LENGTH`).
const TERM_BYTES_MAX: usize = 32_766;

/// The number of bytes of the longest character. Each of two edits can shorten a word by as much.
const EDIT_BYTES_MAX: usize = 4;

/// Estimated bytes of an automaton for each byte of its word: some tens of states, each with 256 transitions
/// of four bytes.
const BYTES_A_BYTE: u64 = 64 << 10;

/// Returns the tables for a distance, which do not depend on the word.
fn builder(distance: u8, transpositions: bool) -> &'static LevenshteinAutomatonBuilder {
    static BUILDERS: [OnceLock<LevenshteinAutomatonBuilder>; 6] = [const { OnceLock::new() }; 6];
    let place = usize::from(distance) * 2 + usize::from(transpositions);
    BUILDERS[place].get_or_init(|| LevenshteinAutomatonBuilder::new(distance, transpositions))
}

impl Levenshtein {
    /// Creates the automaton. `distance`: 0 to 2. `prefix_length`: number of characters that must be equal.
    /// `transpositions`: whether swapped neighbours count as one edit.
    ///
    /// # Errors
    /// There is not enough memory for it, or the request of this thread must end.
    pub fn new(
        word: &str,
        distance: u8,
        prefix_length: usize,
        transpositions: bool,
    ) -> Result<Levenshtein, Stop> {
        let split = word.char_indices().nth(prefix_length).map_or(word.len(), |(at, _)| at);
        let (prefix, rest) = word.split_at(split);
        work::claim((rest.len() as u64).saturating_mul(BYTES_A_BYTE))?;
        Ok(Levenshtein {
            prefix: prefix.as_bytes().to_vec(),
            rest: Arc::new(builder(distance.min(2), transpositions).build_dfa(rest)),
            shown: word.to_owned(),
        })
    }

    /// Whether the word is longer than any term, even without two characters: then nothing is similar to it.
    pub fn is_beyond_terms(word: &str) -> bool {
        word.len() > TERM_BYTES_MAX + 2 * EDIT_BYTES_MAX
    }
}

impl TermAutomaton for Levenshtein {
    fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    fn ask(&self, term: &[u8], skip: &mut Vec<u8>) -> Verdict {
        let Some(rest) = term.strip_prefix(self.prefix.as_slice()) else { return Verdict::Refuses };
        let dfa = &*self.rest;
        let mut states = Vec::with_capacity(rest.len() + 1);
        let mut state = dfa.initial_state();
        for byte in rest {
            states.push(state);
            state = dfa.transition(state, *byte);
            if state == SINK_STATE {
                break;
            }
        }
        if state != SINK_STATE {
            return match dfa.distance(state) {
                Distance::Exact(distance) => Verdict::Accepts(distance),
                Distance::AtLeast(_) => Verdict::Refuses,
            };
        }
        // The deepest position where a greater byte can continue.
        for (at, state) in states.iter().enumerate().rev() {
            let next = (rest[at] + u8::from(rest[at] < u8::MAX)..=u8::MAX)
                .find(|byte| *byte > rest[at] && dfa.transition(*state, *byte) != SINK_STATE);
            if let Some(byte) = next {
                skip.clear();
                skip.extend_from_slice(&self.prefix);
                skip.extend_from_slice(&rest[..at]);
                skip.push(byte);
                return Verdict::Skip;
            }
        }
        Verdict::End
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Computes optimal string alignment with the textbook algorithm.
    fn distance(left: &[char], right: &[char], transpositions: bool) -> usize {
        let mut rows = vec![vec![0; right.len() + 1]; left.len() + 1];
        for (i, row) in rows.iter_mut().enumerate() {
            row[0] = i;
        }
        rows[0] = (0..=right.len()).collect();
        for i in 1..=left.len() {
            for j in 1..=right.len() {
                let replaced = rows[i - 1][j - 1] + usize::from(left[i - 1] != right[j - 1]);
                let mut best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if transpositions
                    && i > 1
                    && j > 1
                    && left[i - 1] == right[j - 2]
                    && left[i - 2] == right[j - 1]
                {
                    best = best.min(rows[i - 2][j - 2] + 1);
                }
                rows[i][j] = best;
            }
        }
        rows[left.len()][right.len()]
    }

    proptest! {
        // Without optimization, building the tables of an automaton takes long.
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn distances_agree_with_the_textbook_and_skips_pass_nothing(
            word in "[abé€]{0,6}",
            mut terms in proptest::collection::vec("[abcé€]{0,7}", 1..60),
            most in 0u8..3,
            prefix in 0usize..3,
            transpositions: bool,
        ) {
            terms.sort();
            terms.dedup();
            let automaton = Levenshtein::new(&word, most, prefix, transpositions).expect("no request");
            let word: Vec<char> = word.chars().collect();
            let start: String = word.iter().take(prefix).collect();
            let mut found = Vec::new();
            let (mut least, mut skip) = (Vec::new(), Vec::new());
            for term in &terms {
                if term.as_bytes() < least.as_slice() || !term.as_bytes().starts_with(automaton.prefix()) {
                    continue;
                }
                match automaton.ask(term.as_bytes(), &mut skip) {
                    Verdict::Accepts(distance) => found.push((term.clone(), usize::from(distance))),
                    Verdict::Refuses => {}
                    Verdict::Skip => {
                        prop_assert!(skip.as_slice() > term.as_bytes());
                        least = skip.clone();
                    }
                    Verdict::End => break,
                }
            }
            let expected: Vec<(String, usize)> = terms
                .iter()
                .filter(|term| term.starts_with(&start))
                .map(|term| {
                    let rest: Vec<char> = term.chars().skip(prefix.min(word.len())).collect();
                    (term.clone(), distance(word.get(prefix..).unwrap_or_default(), &rest, transpositions))
                })
                .filter(|(_, distance)| *distance <= usize::from(most))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
