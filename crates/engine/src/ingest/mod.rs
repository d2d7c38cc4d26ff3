//! Ingest pipelines: "what do the user's processors make of this document before it is indexed?"
//!
//! A pipeline is compiled once ([`pipeline`]). A document is parsed into a compact tree over its own bytes
//! ([`document`]), edited, and written by copying the parts that were not edited. [`Registry`] holds the
//! node's pipelines; [`Runner`] runs the documents of one request through them.
//!
//! **Invariants**: processing a document makes no `serde_json::Value`; nothing in a document or pipeline can
//! make a processor recurse without limit, run without limit (patterns are linear or bounded) or panic.

mod date_pattern;
mod date_pattern_write;
mod document;
mod failure;
mod geoip;
mod listing;
mod options;
mod pipeline;
mod processor;
mod registry;
mod resources;
pub(crate) mod routing;
mod run;
mod run_each;
mod script;
mod simulate;
mod stats;
mod template;
mod timestamp;
mod trace;
mod user_agent;

#[cfg(test)]
mod script_tests;
#[cfg(test)]
mod tests;

pub use document::Metadata;
pub use listing::{grok_patterns, processor_names};
pub(crate) use options::Options;
pub use pipeline::Pipeline;
pub(crate) use processor::pieces;
pub use registry::{Entry, Pipelines, Registry};
pub use resources::Resources;
pub(crate) use run::ends_request;
pub use run::{ChangedMetadata, Outcome, Runner};
pub(crate) use script::PipelineScript;
pub use simulate::simulate;
pub(crate) use simulate::{SimulatedDocument, given_documents};
pub(crate) use stats::{Metric, Tally};
pub use timestamp::timestamp;
pub(crate) use trace::tree_of;
