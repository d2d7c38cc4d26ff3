//! Transforms: "what do the documents of these indices amount to, as a separate index?"
//!
//! `pivot` groups documents and aggregates each group; `latest` keeps the newest document for each key. A run
//! pages through the groups with a composite aggregation ([`Shape::page_request`]), makes a document for each
//! group ([`Shape::documents`]), and writes it under an id that depends only on the group, so that the next
//! run overwrites it. Source: Elasticsearch's plugin `transform`.

mod config;
mod document;
mod mappings;
mod shape;

pub(crate) use config::{TransformConfig, check_id};
pub(crate) use mappings::deduced;
pub(crate) use shape::Page;
