//! A document in a pipeline: "what does it contain, and what has been changed?"
//!
//! A compact tree over the document's own bytes: [`json`] finds where members start and end, [`node`] and
//! [`members`] are the tree of an [`ingest_document`], [`make`] makes new values, [`edit`] puts them into the
//! tree, [`path`] finds them, [`value`] shows them as Elasticsearch does, and [`write`] copies what was not
//! edited.

mod edit;
mod ingest_document;
pub(super) mod json;
mod make;
pub(super) mod members;
pub(super) mod node;
pub(super) mod path;
pub(super) mod value;
pub(super) mod write;

pub use ingest_document::Metadata;
pub(super) use ingest_document::{
    GROWTH_BYTES_MAX, IngestDocument, NODE_COUNT_MAX, ROOT, check_depth, syntax_error_in, too_large,
};
