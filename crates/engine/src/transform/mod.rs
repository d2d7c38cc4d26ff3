//! Transforms: "what do the documents of these indices come to, as an index of their own?"
//!
//! `pivot` groups documents and aggregates each group; `latest` keeps the newest document of each key. A run
//! pages through the groups with a composite aggregation ([`Shape::page_request`]), makes a document of each
//! ([`Shape::documents`]), and writes it under an id that depends on the group alone, so that the next run
//! writes over it. Source: Elasticsearch's plugin `transform`.

mod config;
mod document;
mod mappings;
mod shape;

pub(crate) use config::{TransformConfig, check_id};
pub(crate) use mappings::deduced;
pub(crate) use shape::Page;
