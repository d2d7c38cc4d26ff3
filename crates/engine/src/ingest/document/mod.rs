//! The document on its way through a pipeline: "what does it hold, and what was changed?"
//!
//! A compact tree over the document's own bytes: [`json`] finds where members start and end, [`node`] and
//! [`members`] are the tree, [`ingest_document`] edits it by [`path`], [`value`] shows it as Elasticsearch
//! does, and [`write`] copies what was not edited.

mod ingest_document;
pub(super) mod json;
pub(super) mod members;
pub(super) mod node;
pub(super) mod path;
pub(super) mod value;
pub(super) mod write;

pub use ingest_document::Metadata;
pub(super) use ingest_document::{
    GROWTH_BYTES_MAX, IngestDocument, NODE_COUNT_MAX, ROOT, check_depth, syntax_error_in, too_large,
};
