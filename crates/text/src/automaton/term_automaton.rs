//! What every automaton over terms answers.

use std::fmt;

/// What an automaton says of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// At this distance; 0 where there is none.
    Accepts(u8),
    /// Not this term; the next may be.
    Refuses,
    /// Nothing before what was written into the buffer can be accepted.
    Skip,
    /// Nothing after the term can be accepted.
    End,
}

/// A set of terms. Immutable; shared by the segments of a shard.
pub trait TermAutomaton: fmt::Debug + Send + Sync {
    /// Looks at a term. With [`Verdict::Skip`], `skip` becomes a term greater than it.
    fn ask(&self, term: &[u8], skip: &mut Vec<u8>) -> Verdict;

    /// What every accepted term starts with.
    fn prefix(&self) -> &[u8];

    /// Where it accepts no term but those whose last bytes are a number of at least so much: that number, and
    /// how many bytes.
    fn least_tail(&self) -> Option<(u128, usize)> {
        None
    }

    /// Whether the term is in the set.
    fn accepts(&self, term: &[u8]) -> bool {
        matches!(self.ask(term, &mut Vec::new()), Verdict::Accepts(_))
    }
}
