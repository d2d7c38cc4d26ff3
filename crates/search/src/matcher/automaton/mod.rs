//! Automata over term dictionaries: "which terms of this segment does the automaton accept?" without
//! visiting all of them.
//!
//! Source: Lucene's `AutomatonTermsEnum`.

mod ends;
mod shown;
mod walk;

pub(crate) use ends::RangeEnds;
pub(crate) use shown::shown_terms;
pub(crate) use walk::walk;
