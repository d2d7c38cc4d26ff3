//! `more_like_this`: documents that have the words by which given texts and documents stand out.
//!
//! [`parse`] reads the query, [`item`] the documents in it, whose terms [`counts`] counts; on a shard those
//! of the [`candidates`] are taken that are frequent there and rare in the shard, and [`bind`] makes a query
//! of them; [`likeness`] is what highlighting makes of it. Source: Elasticsearch's
//! `MoreLikeThisQueryBuilder`, `MoreLikeThisQuery` and `XMoreLikeThis`.

mod bind;
mod candidates;
mod counts;
mod item;
mod java_order;
mod likeness;
mod parse;

pub(crate) use likeness::Likeness;
pub(in crate::query) use parse::parse;
