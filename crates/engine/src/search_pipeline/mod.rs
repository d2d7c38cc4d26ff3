//! Search pipelines: "what do the user's processors change in a search, and in its response?"
//!
//! A pipeline is stored as the user put it and compiled by each search that uses it. That is cheap, because
//! it consists of a few options, a query, and scripts whose compiled form is cached elsewhere. Request
//! processors change the parsed search before it runs; response processors change the hits that were fetched.
//! Each processor is one file and one line in `processor/table.rs`.
//!
//! Source: OpenSearch's documentation of search pipelines; messages and responses as recorded from OpenSearch
//! 3.8.

mod listing;
mod pipeline;
mod processor;
mod run;
mod stats;
mod verbose;

pub use listing::search_pipeline_processors;
pub(crate) use pipeline::SearchPipeline;
pub(crate) use run::PipelineRun;
pub(crate) use stats::{PipelineMetrics, SearchPipelineStats};
