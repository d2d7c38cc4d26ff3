//! `drop`: "do not index this document". Source: Elasticsearch's `DropProcessor`.

use limber_mapping::RequestError;

use super::super::document::IngestDocument;
use super::super::options::Options;
use super::{Flow, Processor};

#[derive(Debug)]
struct Drop;

/// Compiles the processor, which has no options.
pub fn parse(_options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    Ok(Box::new(Drop))
}

impl Processor for Drop {
    fn execute(&self, _document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        Ok(Flow::Dropped)
    }
}
