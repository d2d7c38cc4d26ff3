//! Regular expressions over whole terms, as a deterministic automaton.
//!
//! States are built by derivatives (Brzozowski, "Derivatives of regular expressions", 1964; Owens, Reppy
//! and Turon, "Regular-expression derivatives reexamined", 2009), which support complement and intersection
//! as in Lucene's syntax; `regex-automata` supports neither. All states are built in advance, so that a
//! pattern that needs too many is refused before it runs.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Weak};

use limber_work as work;

use super::derivative::{Id, NOTHING, Nodes};
use super::syntax::{self, LAST};
use super::term_automaton::{TermAutomaton, Verdict};
use crate::{Error, Result};

/// How a pattern is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegexpOptions {
    /// The bits of `flags_value`.
    pub flags: u32,
    /// Whether ASCII letters match in either case.
    pub ignores_case: bool,
    /// `max_determinized_states`.
    pub states_max: u32,
}

impl Default for RegexpOptions {
    fn default() -> RegexpOptions {
        RegexpOptions { flags: syntax::ALL, ignores_case: false, states_max: RegexpOptions::STATES_MAX }
    }
}

impl RegexpOptions {
    /// Lucene's `Operations.DEFAULT_DETERMINIZE_WORK_LIMIT`.
    pub const STATES_MAX: u32 = 10_000;

    /// Parses `ALL|NONE|INTERSECTION|...` into bits.
    ///
    /// # Errors
    /// [`Error::IllegalArgument`] with the unknown name.
    pub fn parse_flags(text: &str) -> Result<u32> {
        if text.is_empty() {
            return Ok(syntax::ALL);
        }
        let mut flags = 0;
        for name in text.split('|') {
            flags |= match name.to_ascii_uppercase().as_str() {
                "INTERSECTION" => syntax::INTERSECTION,
                "COMPLEMENT" => syntax::COMPLEMENT,
                "EMPTY" => syntax::EMPTY,
                "ANYSTRING" => syntax::ANYSTRING,
                "INTERVAL" => syntax::INTERVAL,
                "NONE" => 0,
                "ALL" => syntax::ALL,
                _ => return Err(Error::illegal(format!("Unknown regexp flag [{name}]"))),
            };
        }
        Ok(flags)
    }
}

/// Maximum number of states that any request may ask for; each takes about 100 bytes.
const STATES_MAX: u32 = 100_000;
/// Parts of expressions that may be visited for each allowed state.
const WORK_PER_STATE: u64 = 50;

/// Longest pattern that a thread remembers, in bytes: nobody is charged for it.
const KEPT_BYTES_MAX: usize = 64 << 10;

/// States that are built between two checks for cancellation.
const STATES_PER_CHECK: usize = 64;

#[derive(Debug)]
struct State {
    accepts: bool,
    /// Ascending starts of the ranges of characters that lead to the same state; the first is 0.
    starts: Box<[u32]>,
    /// The state that each range leads to; [`DEAD`] if nothing can follow.
    targets: Box<[u32]>,
}

const DEAD: u32 = u32::MAX;

/// A compiled pattern.
#[derive(Debug)]
pub struct Regexp {
    states: Vec<State>,
    prefix: Vec<u8>,
}

/// The outcome of compiling a pattern.
enum Compiled {
    /// The pattern, while somebody uses it.
    Regexp(Weak<Regexp>),
    Refused(Error),
}

thread_local! {
    /// The pattern that this thread compiled last: a query may compile it, or be refused, for each of many
    /// fields.
    static COMPILED_LAST: RefCell<Option<(String, RegexpOptions, Compiled)>> = const { RefCell::new(None) };
}

impl Regexp {
    /// Parses a pattern like [`Regexp::parse`]. Returns the last result again while that pattern is in use,
    /// and also its refusal.
    ///
    /// # Errors
    /// Those of [`Regexp::parse`].
    pub fn shared(pattern: &str, options: RegexpOptions) -> Result<Arc<Regexp>> {
        let known = COMPILED_LAST.with_borrow(|last| match last {
            Some((last, last_options, compiled)) if last == pattern && *last_options == options => {
                match compiled {
                    Compiled::Regexp(regexp) => regexp.upgrade().map(Ok),
                    Compiled::Refused(error) => Some(Err(error.clone())),
                }
            }
            _ => None,
        });
        if let Some(outcome) = known {
            return outcome;
        }
        let outcome = Regexp::parse(pattern, options).map(Arc::new);
        let compiled = match &outcome {
            Ok(regexp) => Compiled::Regexp(Arc::downgrade(regexp)),
            // Being stopped says nothing about the pattern.
            Err(Error::Stopped(_)) => return outcome,
            Err(error) => Compiled::Refused(error.clone()),
        };
        if pattern.len() <= KEPT_BYTES_MAX {
            COMPILED_LAST.set(Some((pattern.to_owned(), options, compiled)));
        }
        outcome
    }

    /// Compiles a pattern.
    ///
    /// # Errors
    /// [`Error::IllegalArgument`] for an invalid pattern, [`Error::TooComplex`] if it needs too many
    /// states, [`Error::Stopped`].
    pub fn parse(pattern: &str, options: RegexpOptions) -> Result<Regexp> {
        let tree = syntax::read(pattern, options.flags, options.ignores_case)?;
        let mut nodes = Nodes::new();
        let start = nodes.add(&tree);
        nodes.check()?;
        // A pattern without alternatives has as many states as characters, and Lucene has nothing to
        // determinize then.
        let free = 2 * pattern.chars().count() as u32 + 2;
        let states_max = options.states_max.min(STATES_MAX).saturating_add(free) as usize;
        let work_max = WORK_PER_STATE * states_max as u64;
        let mut numbers: HashMap<Id, u32> = HashMap::from([(start, 0)]);
        let mut open = vec![start];
        let mut states: Vec<State> = Vec::new();
        while let Some(id) = open.get(states.len()).copied() {
            if states.len().is_multiple_of(STATES_PER_CHECK) {
                work::check()?;
            }
            let mut starts = nodes.boundaries(id);
            let mut targets: Vec<u32> = Vec::with_capacity(starts.len());
            for first in &starts {
                let next = nodes.derive(id, *first);
                nodes.check()?;
                if nodes.work > work_max {
                    return Err(Error::TooComplex { states_max: options.states_max });
                }
                if next == NOTHING {
                    targets.push(DEAD);
                    continue;
                }
                let number = *numbers.entry(next).or_insert_with(|| {
                    open.push(next);
                    open.len() as u32 - 1
                });
                targets.push(number);
            }
            // Neighbouring ranges that lead to the same state are merged.
            let same: Vec<bool> =
                (0..targets.len()).map(|at| at > 0 && targets[at] == targets[at - 1]).collect();
            let mut keep = same.iter();
            starts.retain(|_| !keep.next().expect("a flag a range"));
            let mut keep = same.iter();
            targets.retain(|_| !keep.next().expect("a flag a range"));
            states.push(State {
                accepts: nodes.nullable(id),
                starts: starts.into(),
                targets: targets.into(),
            });
            if open.len() > states_max {
                return Err(Error::TooComplex { states_max: options.states_max });
            }
        }
        let mut regexp = Regexp { states, prefix: Vec::new() };
        regexp.drop_dead_ends();
        regexp.prefix = regexp.common_prefix();
        Ok(regexp)
    }

    /// Replaces transitions to states that can never reach an accepting one by [`DEAD`], so that a walk
    /// skips them.
    fn drop_dead_ends(&mut self) {
        let mut sources: Vec<Vec<u32>> = vec![Vec::new(); self.states.len()];
        for (number, state) in (0u32..).zip(&self.states) {
            for target in state.targets.iter().filter(|target| **target != DEAD) {
                sources[*target as usize].push(number);
            }
        }
        let mut is_live: Vec<bool> = self.states.iter().map(|state| state.accepts).collect();
        let mut open: Vec<u32> =
            (0u32..).zip(&is_live).filter(|(_, live)| **live).map(|(number, _)| number).collect();
        while let Some(number) = open.pop() {
            for source in std::mem::take(&mut sources[number as usize]) {
                if !std::mem::replace(&mut is_live[source as usize], true) {
                    open.push(source);
                }
            }
        }
        for state in &mut self.states {
            for target in state.targets.iter_mut() {
                if *target != DEAD && !is_live[*target as usize] {
                    *target = DEAD;
                }
            }
        }
    }

    /// Returns the common prefix of all accepted terms.
    fn common_prefix(&self) -> Vec<u8> {
        let mut prefix = String::new();
        let mut state = 0;
        // A loop has no end, but no accepted term is that long.
        while prefix.len() < 1024 && !self.states[state as usize].accepts {
            let own = &self.states[state as usize];
            let mut ways = (0..own.starts.len()).filter(|at| own.targets[*at] != DEAD);
            let (Some(only), None) = (ways.next(), ways.next()) else { break };
            let end = own.starts.get(only + 1).copied().unwrap_or(LAST + 1);
            let (true, Some(char)) = (end == own.starts[only] + 1, char::from_u32(own.starts[only])) else {
                break;
            };
            prefix.push(char);
            state = own.targets[only];
        }
        prefix.into_bytes()
    }

    /// Returns the length in bytes of the longest non-empty prefix of `text` that is accepted, and whether
    /// all of `text` may be a prefix of an accepted string.
    pub fn longest(&self, text: &str) -> (Option<usize>, bool) {
        let (mut state, mut found) = (0, None);
        for (at, char) in text.char_indices() {
            state = self.step(state, char);
            if state == DEAD {
                return (found, false);
            }
            if self.states[state as usize].accepts {
                found = Some(at + char.len_utf8());
            }
        }
        (found, true)
    }

    #[inline]
    fn step(&self, state: u32, char: char) -> u32 {
        let state = &self.states[state as usize];
        let range = state.starts.partition_point(|start| *start <= char as u32) - 1;
        state.targets[range]
    }

    /// Returns the first character after `char` that can continue from `state`.
    fn next_char(&self, state: u32, char: char) -> Option<char> {
        let after = char as u32 + 1;
        let state = &self.states[state as usize];
        let first = state.starts.partition_point(|start| *start <= after) - 1;
        let mut ranges = (first..state.starts.len()).filter(|at| state.targets[*at] != DEAD);
        ranges.find_map(|at| {
            let end = state.starts.get(at + 1).copied().unwrap_or(LAST + 1);
            // There are no characters between the surrogates.
            (state.starts[at].max(after)..end).find_map(char::from_u32)
        })
    }
}

impl TermAutomaton for Regexp {
    fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    fn ask(&self, term: &[u8], skip: &mut Vec<u8>) -> Verdict {
        let Ok(text) = std::str::from_utf8(term) else { return Verdict::Refuses };
        let mut passed: Vec<(u32, usize, char)> = Vec::with_capacity(text.len());
        let mut state = 0;
        for (at, char) in text.char_indices() {
            passed.push((state, at, char));
            state = self.step(state, char);
            if state == DEAD {
                break;
            }
        }
        if state != DEAD {
            return if self.states[state as usize].accepts { Verdict::Accepts(0) } else { Verdict::Refuses };
        }
        // The deepest position where a greater character can continue.
        for (state, at, char) in passed.into_iter().rev() {
            if let Some(next) = self.next_char(state, char) {
                skip.clear();
                skip.extend_from_slice(&term[..at]);
                skip.extend_from_slice(next.encode_utf8(&mut [0; 4]).as_bytes());
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

    fn accepts(pattern: &str, term: &str) -> bool {
        let regexp = Regexp::parse(pattern, RegexpOptions::default()).expect("the pattern is valid");
        regexp.accepts(term.as_bytes())
    }

    #[test]
    fn patterns_accept_whole_terms() {
        for (pattern, term, expected) in [
            ("a.*", "abc", true),
            ("a.*", "ba", false),
            ("a|b", "b", true),
            ("a|b", "bb", false),
            ("[0-9]{2}x?", "12", true),
            ("[^a-c]+", "xyé", true),
            ("[^a-c]+", "xa", false),
            ("a{2,3}", "aaaa", false),
            ("a{2,}", "aaaa", true),
            ("\\d+\\.\\d", "12.5", true),
            ("\\W", "-", true),
            ("^a$", "^a$", true),
            ("<1-100>", "007", true),
            ("<1-100>", "101", false),
            ("<01-12>", "7", false),
            ("<01-12>", "07", true),
            ("~(ab.*)", "abc", false),
            ("~(ab.*)", "acc", true),
            (".*a.*&.*b.*", "xbya", true),
            (".*a.*&.*b.*", "xb", false),
            ("\"a.b\"", "a.b", true),
            ("\"a.b\"", "axb", false),
            ("a@", "a€", true),
            ("#|a", "a", true),
            ("()", "", true),
            ("*a", "*a", true),
        ] {
            assert_eq!(accepts(pattern, term), expected, "{pattern} {term}");
        }
    }

    #[test]
    fn flags_switch_operators_off() {
        let plain = RegexpOptions { flags: 0, ..RegexpOptions::default() };
        let regexp = Regexp::parse("a@&~#<", plain).expect("plain characters");
        assert!(regexp.accepts(b"a@&~#<"));
        let any_case = RegexpOptions { ignores_case: true, ..RegexpOptions::default() };
        assert!(Regexp::parse("aB[c]", any_case).expect("letters").accepts(b"AbC"));
        assert_eq!(RegexpOptions::parse_flags("INTERSECTION|INTERVAL").ok(), Some(0x21));
        assert!(RegexpOptions::parse_flags("NOPE").is_err());
    }

    #[test]
    fn bombs_are_refused() {
        let error = Regexp::parse("(a|b)*a(a|b){30}", RegexpOptions::default()).expect_err("too many states");
        assert!(matches!(error, Error::TooComplex { .. }), "{error}");
        assert!(Regexp::parse("((a{1,1000}){1,1000}){1,1000}", RegexpOptions::default()).is_err());
        assert!(Regexp::parse(&"(".repeat(500), RegexpOptions::default()).is_err());
        assert!(Regexp::parse("a{2000000000}", RegexpOptions::default()).is_err());
    }

    #[test]
    fn a_pattern_knows_its_prefix() {
        let prefix = |pattern: &str| Regexp::parse(pattern, RegexpOptions::default()).expect("valid").prefix;
        assert_eq!(prefix("abc.*"), b"abc");
        assert_eq!(prefix("ab?c"), b"a");
        assert_eq!(prefix("(ab|ac)d"), b"a");
        assert_eq!(prefix("abc"), b"abc");
    }

    /// Generates patterns that other engines also support.
    fn pattern() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("a".to_owned()),
            Just("b".to_owned()),
            Just("é".to_owned()),
            Just(".".to_owned()),
            Just("[ab]".to_owned()),
            Just("[^b]".to_owned()),
        ];
        leaf.prop_recursive(4, 16, 3, |inner| {
            prop_oneof![
                (inner.clone(), inner.clone()).prop_map(|(left, right)| format!("{left}{right}")),
                (inner.clone(), inner.clone()).prop_map(|(left, right)| format!("({left}|{right})")),
                inner.clone().prop_map(|inner| format!("({inner})*")),
                inner.clone().prop_map(|inner| format!("({inner})?")),
                inner.prop_map(|inner| format!("({inner}){{1,2}}")),
            ]
        })
    }

    #[test]
    fn levels_are_limited_whatever_makes_them() {
        for deep in
            ["a".to_owned() + &"*".repeat(200_000), "(".repeat(5_000) + "a", "~".repeat(200_000) + "a"]
        {
            assert!(Regexp::parse(&deep, RegexpOptions::default()).is_err());
        }
        let nested = (1..=60).fold("a".to_owned(), |inner, _| format!("({inner})") + &"*".repeat(30));
        assert!(Regexp::parse(&nested, RegexpOptions::default()).is_err());
        let few = "a".to_owned() + &"*".repeat(50);
        assert!(Regexp::parse(&few, RegexpOptions::default()).is_ok());
    }

    /// Nothing recurses as deep as a pattern is long.
    #[test]
    fn patterns_may_be_long() {
        let options = RegexpOptions::default();
        let and = Regexp::parse(&("a&".repeat(50_000) + "a"), options).expect("valid");
        assert!(and.accepts(b"a") && !and.accepts(b"b"));
        for long in ["a?".repeat(50_000), "(".to_owned() + &"a".repeat(50_000) + ")b"] {
            let tree = syntax::read(&long, syntax::ALL, false).expect("valid");
            let mut nodes = Nodes::new();
            let start = nodes.add(&tree);
            assert_eq!(nodes.derive(start, u32::from('b')), NOTHING);
        }
    }

    #[test]
    fn what_was_refused_is_refused_again_without_work() {
        let pattern = "(a|b)*a(a|b){30}";
        let first = Regexp::shared(pattern, RegexpOptions::default()).expect_err("too many states");
        assert_eq!(Regexp::shared(pattern, RegexpOptions::default()).expect_err("the same"), first);
        let other = RegexpOptions { states_max: 5, ..RegexpOptions::default() };
        assert_ne!(Regexp::shared(pattern, other).expect_err("fewer states"), first);
        assert!(Regexp::shared("a", RegexpOptions::default()).is_ok());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn patterns_agree_with_another_engine_and_skips_pass_nothing(
            pattern in pattern(),
            mut terms in proptest::collection::vec("[abcé€]{0,6}", 1..40),
        ) {
            terms.sort();
            terms.dedup();
            let regexp = Regexp::parse(&pattern, RegexpOptions::default()).expect("the pattern is small");
            let other = regex::Regex::new(&format!("^(?s:{pattern})$")).expect("the pattern is valid");
            let (mut found, mut least, mut skip) = (Vec::new(), Vec::new(), Vec::new());
            for term in &terms {
                if term.as_bytes() < least.as_slice() {
                    continue;
                }
                match regexp.ask(term.as_bytes(), &mut skip) {
                    Verdict::Accepts(_) => found.push(term.clone()),
                    Verdict::Refuses => {}
                    Verdict::Skip => {
                        prop_assert!(skip.as_slice() > term.as_bytes());
                        least = skip.clone();
                    }
                    Verdict::End => break,
                }
            }
            let expected: Vec<String> = terms.iter().filter(|term| other.is_match(term)).cloned().collect();
            prop_assert_eq!(found, expected);
        }
    }
}
