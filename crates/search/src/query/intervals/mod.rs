//! `intervals`: documents by where terms stand to one another.
//!
//! [`rule`] reads the rules, [`bind`] makes [`source`]s of them on a shard: trees of terms and of what is asked of their intervals, simplified
//! as Lucene simplifies them. [`crate::matcher::intervals`] runs them.

mod bind;
mod node;
mod rule;
mod source;

pub(super) use rule::parse;
