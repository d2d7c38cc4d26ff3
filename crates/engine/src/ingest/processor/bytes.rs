//! `bytes`: "how many bytes is `1.5kb`?" Source: Elasticsearch's `BytesProcessor` over
//! `ByteSizeValue.parseBytesSizeValue`.

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
        let bytes = bytes_of(text)?;
        document.make_scalar(Kind::Number, &bytes.to_string())
    }
}

fn bytes_of(text: &str) -> Result<i64, RequestError> {
    let refused = |why: &str| {
        let reason = format!("failed to parse setting [Ingest Field] with value [{text}]{why}");
        RequestError::bad_request("parse_exception", reason)
    };
    let lower = text.trim().to_ascii_lowercase();
    match lower.as_str() {
        "0" => return Ok(0),
        "-1" => return Ok(-1),
        _ => {}
    }
    let Some((number, shift)) = byte_size::split_unit(&lower) else {
        return Err(refused(" as a size in bytes: unit is missing or unrecognized"));
    };
    if let Ok(whole) = number.parse::<i64>() {
        if whole < 0 {
            return Err(refused(" as a size in bytes: negative values are not allowed"));
        }
        return whole.checked_mul(1 << shift).ok_or_else(|| refused(" as a size in bytes"));
    }
    match number.parse::<f64>() {
        // A fraction of a byte is dropped.
        Ok(fraction) if shift > 0 && fraction >= 0.0 => {
            let bytes = fraction * (1i64 << shift) as f64;
            if bytes < i64::MAX as f64 { Ok(bytes as i64) } else { Err(refused(" as a size in bytes")) }
        }
        _ => Err(refused("")),
    }
}
