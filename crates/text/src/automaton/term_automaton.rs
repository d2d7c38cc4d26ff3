//! The interface of automata over terms.

use std::fmt;

/// An automaton's answer for a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The term is accepted, at this edit distance; 0 for automata without distances.
    Accepts(u8),
    /// The term is not accepted; the next one may be.
    Refuses,
    /// No term before the one written into the buffer can be accepted.
    Skip,
    /// No term after this one can be accepted.
    End,
}

/// A set of terms. Immutable; shared by the segments of a shard.
pub trait TermAutomaton: fmt::Debug + Send + Sync {
    /// Tests a term. With [`Verdict::Skip`], `skip` is set to a term greater than it.
    fn ask(&self, term: &[u8], skip: &mut Vec<u8>) -> Verdict;

    /// Returns the common prefix of all accepted terms.
    fn prefix(&self) -> &[u8];

    /// Returns a lower bound for the number in the last bytes of all accepted terms, and how many bytes
    /// that number has; `None` if there is no such bound.
    fn least_tail(&self) -> Option<(u128, usize)> {
        None
    }

    /// Whether the term is in the set.
    fn accepts(&self, term: &[u8]) -> bool {
        matches!(self.ask(term, &mut Vec::new()), Verdict::Accepts(_))
    }
}
