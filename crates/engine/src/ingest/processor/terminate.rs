//! `terminate`: "run no further step of this pipeline". Source: Elasticsearch's `TerminateProcessor`.

use limber_mapping::RequestError;

use super::super::document::IngestDocument;
use super::super::options::Options;
use super::{Flow, Processor};

#[derive(Debug)]
struct Terminate;

/// Compiles the processor, which has no options.
pub fn parse(_: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    Ok(Box::new(Terminate))
}

impl Processor for Terminate {
    fn execute(&self, _: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        Ok(Flow::Terminated)
    }
}
