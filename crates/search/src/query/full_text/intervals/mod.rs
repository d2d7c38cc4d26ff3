//! `intervals`: documents by the relative positions of terms.
//!
//! [`rule`] parses the rules. [`bind`] converts them to sources on a shard ([`crate::primitives::Source`]):
//! trees of terms and of conditions on their intervals, simplified as in Lucene.
//! [`crate::matcher::text::intervals`] evaluates them.

mod bind;
mod node;
mod rule;

pub(in crate::query) use rule::parse;
