//! Search pipelines: "what do the user's processors make of a search, and of its answer?"
//!
//! A pipeline is kept as it was put and compiled by the search that names it: it is a few options, a query,
//! and scripts that are kept compiled elsewhere. Request processors change the parsed search before an index
//! is looked at, response processors the hits that were fetched. Both are one file and one line of
//! `processor/table.rs` each.
//!
//! Source: OpenSearch's documentation of search pipelines; messages and answers as recorded from OpenSearch
//! 3.8.

mod pipeline;
mod processor;
mod run;

pub(crate) use pipeline::SearchPipeline;
pub(crate) use run::PipelineRun;

/// Names of the processors of requests and of those of answers, sorted.
pub fn search_pipeline_processors() -> (Vec<&'static str>, Vec<&'static str>) {
    let request = processor::REQUEST.iter().map(|(name, _)| *name).collect();
    (request, processor::RESPONSE.iter().map(|(name, _)| *name).collect())
}
