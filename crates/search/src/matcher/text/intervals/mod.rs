//! Intervals opened on a segment or on a text: "where, one after the other, is what a rule of `intervals`
//! asks for?"
//!
//! The intervals of a document are minimal (none lies within another) and are found one by one, each from the
//! current intervals of the sources below: nothing but the positions of the terms in the document is held.
//! Source: Lucene's `IntervalIterator` and the classes beside it; Vigna and Boldi, "Efficient optimally lazy
//! algorithms for minimal-interval semantics".

mod iterator;

mod block;
mod ordered;
mod repeated;
mod unordered;

mod disjunction;
mod extended;
mod related;
mod selected;

mod docs;
mod open;

pub(crate) use docs::{confirmed, interval_freq, scorer};
pub(crate) use open::open;
