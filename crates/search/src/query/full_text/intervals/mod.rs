//! `intervals`: documents by where terms stand to one another.
//!
//! [`rule`] reads the rules, [`bind`] makes sources of them on a shard ([`crate::primitives::Source`]): trees
//! of terms and of what is asked of their intervals, simplified as Lucene simplifies them.
//! [`crate::matcher::text::intervals`] runs them.

mod bind;
mod node;
mod rule;

pub(in crate::query) use rule::parse;
