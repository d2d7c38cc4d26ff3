//! The interval iterators of an `intervals` query, opened on a segment or on a text.
//!
//! The intervals of a document are minimal: none contains another. They are found one by one, from the
//! current intervals of the sources below; only the positions of the terms in the document are kept in
//! memory. Source: Lucene's `IntervalIterator` and related classes; Vigna and Boldi, "Efficient optimally
//! lazy algorithms for minimal-interval semantics".

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
