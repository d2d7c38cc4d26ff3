//! `more_like_this`: documents with the most significant terms of given texts and documents.
//!
//! [`parse`] parses the query, and [`item`] the documents in it, whose terms [`counts`] counts. On a shard,
//! [`candidates`] selects the terms that are frequent in the texts and rare in the shard, and [`bind`] makes
//! a query of them; [`highlighted`] selects terms for highlighting. Source: Elasticsearch's
//! `MoreLikeThisQueryBuilder`, `MoreLikeThisQuery` and `XMoreLikeThis`.

mod bind;
mod candidates;
mod counts;
mod highlighted;
mod item;
mod parse;

pub(crate) use highlighted::MoreLikeThisTerms;
pub(in crate::query) use parse::parse;
