//! Automata over terms: "which terms of this dictionary does the pattern accept?" without looking at all of them.
//!
//! A pattern says of a term that it does not accept which term could be the next ([`Verdict::Skip`]), and the walk seeks to it.
//! Source: Lucene's `AutomatonTermsEnum` and `FuzzyTermsEnum`.

mod ends;
mod levenshtein;
mod regexp;
mod syntax;
mod walk;

pub(crate) use ends::RangeEnds;
pub(crate) use levenshtein::Levenshtein;
pub(crate) use regexp::{Regexp, RegexpOptions};
pub(crate) use walk::{TermAutomaton, walk};
