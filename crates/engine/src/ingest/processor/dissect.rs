//! `dissect`: "put the text between these delimiters into fields". Source: Elasticsearch's
//! `DissectProcessor`.

use limber_mapping::RequestError;
use limber_text::dissect::Dissect;
use limber_work as work;

use super::super::document::IngestDocument;
use super::super::document::path::FieldPath;
use super::super::options::Options;
use super::text::string_field;
use super::{Flow, Processor};

#[derive(Debug)]
struct DissectProcessor {
    field: FieldPath,
    ignore_missing: bool,
    pattern: Box<str>,
    dissect: Dissect,
}

/// Bytes of a key of a pattern, in a list that grows by doubling and in a table of names.
const KEY_BYTES: u64 = 256;

/// Compiles the processor. Options: `field` and `pattern`; optional `append_separator` (empty) and
/// `ignore_missing` (false).
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let field = options.path("field")?;
    let pattern = options.string("pattern")?;
    let separator = options.string_or("append_separator", "")?;
    let ignore_missing = options.bool_or("ignore_missing", false)?;
    work::claim(pattern.matches("%{").count() as u64 * KEY_BYTES)?;
    let dissect = Dissect::parse(&pattern, &separator).map_err(|error| {
        let shown = format!("org.elasticsearch.dissect.DissectException${}: {}", error.class, error.reason);
        let cause = RequestError::internal(error.kind, error.reason);
        options.locate(RequestError::internal("exception", shown).caused_by(cause))
    })?;
    Ok(Box::new(DissectProcessor { field, ignore_missing, pattern: pattern.into(), dissect }))
}

impl Processor for DissectProcessor {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let text = string_field(document, &self.field, self.ignore_missing, "cannot process it.")?;
        let Some(text) = text else { return Ok(Flow::Continue) };
        let Some(parts) = self.dissect.parts(&text) else {
            let reason =
                format!("Unable to find match for dissect pattern: {} against source: {text}", self.pattern);
            return Err(RequestError::internal("find_match", reason));
        };
        for (name, part) in parts {
            let value = document.make_string(&part)?;
            FieldPath::parse(name)?.set(document, value)?;
        }
        Ok(Flow::Continue)
    }
}
