//! Documents by the documents that they are joined with: `has_child`, `has_parent`, `parent_id`.
//!
//! A join is done when the query is bound: the documents on the other side are found in the shard, and what
//! is left are the terms of the parents' ids. Routing keeps both sides on one shard. Source: Elasticsearch's
//! module `parent-join`.

mod has_child;
mod has_parent;
mod hits;
mod joined;
mod parent_id;

pub(in crate::query) use has_child::parse as parse_has_child;
pub(in crate::query) use has_parent::parse as parse_has_parent;
pub(crate) use hits::JoinedHits;
pub(in crate::query) use parent_id::parse as parse_parent_id;
