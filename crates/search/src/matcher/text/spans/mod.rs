//! Spans opened on a segment or on a text: "from where to where, one after the other, is what a span query
//! asks for?"
//!
//! Unlike intervals, spans are not minimal, and each combination walks its parts in a way of its own, which
//! the matches of Elasticsearch depend on. Source: Lucene's `Spans` and the classes beside it.

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
