//! The trait of all processors: the options of a processor become one compiled step, which decides how the
//! pipeline continues.

use limber_mapping::RequestError;

use super::super::document::IngestDocument;
use super::super::options::Options;

/// How a pipeline continues after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// The next step runs.
    Continue,
    /// The document is not indexed. This is not a failure.
    Dropped,
    /// The pipeline ends here; the pipeline that called it continues.
    Terminated,
    /// The document has another index. All pipelines end here, and those of the new index follow.
    Rerouted,
}

/// One compiled processor.
pub trait Processor: Send + Sync + std::fmt::Debug {
    /// Changes the document, or fails with Elasticsearch's message.
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError>;
}

/// Parses a processor's own options.
pub type Parse = fn(&mut Options) -> Result<Box<dyn Processor>, RequestError>;
