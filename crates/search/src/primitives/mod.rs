//! The parts that bound queries consist of on a shard: "which terms, numbers and points are searched for?"
//!
//! Queries bind themselves to these parts, matchers open them on a segment, and highlighters search for
//! them in texts.
//!
//! **Invariant**: only data; nothing here opens a segment.

mod docs;
mod interval_choices;
mod intervals;
pub(crate) mod java_order;
mod nested_score;
mod nodes;
mod pattern_terms;
mod spans;
mod term_pattern;

pub(crate) use docs::{Docs, TermEnd};
pub(crate) use intervals::{Relation, Side, Source};
pub(crate) use nested_score::NestedScore;
pub(crate) use nodes::{BoundNeeded, IntervalsNode, PhraseNode, PhrasePlaces, SpansNode, TermNode};
pub(crate) use pattern_terms::{PatternTerms, too_many_terms};
pub(crate) use spans::SpanTree;
pub(crate) use term_pattern::{Piece, TermPattern};
