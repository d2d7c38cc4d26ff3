//! `more_like_this`: documents that have the words by which given texts and documents stand out.
//!
//! [`parse`] reads the query, [`item`] the documents in it, whose terms [`counts`] counts; on a shard [`choice`] takes the terms that are
//! frequent there and rare in the shard, and [`bind`] makes a query of them. Source: Elasticsearch's `MoreLikeThisQueryBuilder`, `MoreLikeThisQuery`
//! and `XMoreLikeThis`.

mod bind;
mod choice;
mod counts;
mod item;
mod java_order;
mod parse;

pub use counts::TermCounts;
pub use item::{LikeLookup, found_of};
pub(super) use parse::parse;
