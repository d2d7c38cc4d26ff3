//! Queries for documents by those that they are joined with: `has_child`, `has_parent`, `parent_id`.
//!
//! A join is evaluated when the query is bound: the documents on the other side are searched in the shard,
//! and the query is replaced by one for the terms of the parents' ids. Both sides are on the same shard
//! because of their routing. Source: Elasticsearch's module `parent-join`.

mod has_child;
mod has_parent;
mod hits;
mod joined;
mod parent_id;

pub(in crate::query) use has_child::parse as parse_has_child;
pub(in crate::query) use has_parent::parse as parse_has_parent;
pub(crate) use hits::JoinedHits;
pub(in crate::query) use parent_id::parse as parse_parent_id;
