//! Automata over terms: "does the pattern accept this term, and if not, which term could be the next?"
//!
//! For a term that it does not accept, a pattern returns which term could be the next ([`Verdict::Skip`]),
//! so that a walk over a dictionary can seek to it. Source: Lucene's `AutomatonTermsEnum` and
//! `FuzzyTermsEnum`.

mod derivative;
mod levenshtein;
mod regexp;
mod syntax;
mod term_automaton;

pub use levenshtein::Levenshtein;
pub use regexp::{Regexp, RegexpOptions};
pub use term_automaton::{TermAutomaton, Verdict};
