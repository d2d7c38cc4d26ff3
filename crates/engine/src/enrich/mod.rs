//! Enrich policies: "from which index do documents get additional values?"
//!
//! A policy names source indices, a field that documents are matched on, and fields that are added to them.
//! Executing it copies these fields into an enrich index with the alias [`Policy::alias`], which the `enrich`
//! processor searches. Source: Elasticsearch's plugin `enrich`.

mod policy;
mod source;

pub(crate) use policy::{Kind, Policy, check_name};
pub use source::EnrichSource;
