//! `synonym` and `synonym_graph`: replace words by synonyms, or add synonyms.
//!
//! [`rules`] parses the rules, [`map`] stores them as a tree of tokens, [`graph`] and [`flat`] emit the
//! synonyms.

mod flat;
mod graph;
mod make;
mod map;
mod rules;

pub(super) use make::{make, make_graph};
