//! `bytes`: "how many bytes is `1.5kb`?" Source: Elasticsearch's `BytesProcessor`.

use limber_mapping::RequestError;
use limber_text::byte_size;

use super::super::document::IngestDocument;
use super::super::document::node::{Kind, Node};
use super::super::options::Options;
use super::Processor;
use super::text::{Make, TextProcessor};

#[derive(Debug)]
struct Bytes;

/// Compiles the processor, whose options are those of [`super::text`].
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    TextProcessor::parse(options, Bytes)
}

impl Make for Bytes {
    fn make(&self, document: &mut IngestDocument<'_>, text: &str) -> Result<Node, RequestError> {
        let bytes = byte_size::of_ingest_field(text)
            .map_err(|reason| RequestError::bad_request("parse_exception", reason))?;
        document.make_scalar(Kind::Number, &bytes.to_string())
    }
}
