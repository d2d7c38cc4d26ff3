//! Requests by query: "delete, update or copy every document that matches".
//!
//! Source: `org.elasticsearch.index.reindex.AbstractAsyncBulkByScrollAction`. A snapshot is opened at the
//! start and read in batches; a document that has changed since is a version conflict. One thread reads. With
//! `slices` several threads write, each its own batches, and every batch is an ordinary bulk request (with
//! pipelines, translog and fsync).

mod conductor;
mod request;
mod response;
mod scripted;
mod source;
mod start;

pub use request::{ByQueryRequest, Change, CopyDestination, CopyRouting, Slices};
pub use response::{ByQueryFailure, ByQueryResponse};
pub use source::{BatchSource, Batches, SourceBatch};
