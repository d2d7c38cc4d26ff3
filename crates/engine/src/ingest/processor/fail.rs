//! `fail`: "fail here, with this message". Source: Elasticsearch's `FailProcessor`, whose exception is a
//! server error.

use limber_mapping::RequestError;

use super::super::document::IngestDocument;
use super::super::options::Options;
use super::super::template::Text;
use super::{Flow, Processor};

#[derive(Debug)]
struct Fail {
    message: Text,
}

/// Compiles the processor. Options: `message`.
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    Ok(Box::new(Fail { message: options.template("message")? }))
}

/// Stands for a stored pipeline that cannot be compiled any more. Source: `IngestService#substitutePipeline`.
#[derive(Debug)]
pub struct Lost {
    /// The error of every document.
    pub reason: String,
}

impl Processor for Lost {
    fn execute(&self, _: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        Err(RequestError::internal("illegal_state_exception", self.reason.clone()))
    }
}

impl Processor for Fail {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        Err(RequestError::internal("fail_processor_exception", self.message.render(document)?))
    }
}
