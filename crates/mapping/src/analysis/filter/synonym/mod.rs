//! `synonym` and `synonym_graph`: words that stand for words.
//!
//! [`rules`] reads them, [`map`] holds them as a tree of tokens, [`graph`] and [`flat`] put them beside what
//! they stand for.

mod flat;
mod graph;
mod make;
mod map;
mod rules;

pub(super) use make::{make, make_graph};
