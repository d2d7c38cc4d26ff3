//! The span iterators of span queries, opened on a segment or on a text.
//!
//! Unlike intervals, spans are not minimal, and each combination iterates over its parts in its own way,
//! which Elasticsearch's matches depend on. Source: Lucene's `Spans` and related classes.

mod contained;
mod either;
mod iterator;
mod ordered;
mod positioned;
mod unordered;
mod without;

mod docs;
mod open;

pub(crate) use docs::{confirmed, scorer, span_freq};
pub(crate) use open::open;
