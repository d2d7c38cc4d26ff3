//! `set`: "set this field to this value (or to a copy of that field)".
//!
//! Source: Elasticsearch's `SetProcessor`.

use limber_mapping::RequestError;

use super::super::document::IngestDocument;
use super::super::document::node::Kind;
use super::super::options::Options;
use super::super::template::{FieldName, ValueSource};
use super::{Flow, Processor};

#[derive(Debug)]
enum Source {
    Value(ValueSource),
    CopyFrom(FieldName),
}

#[derive(Debug)]
struct Set {
    field: FieldName,
    source: Source,
    overwrite: bool,
    ignore_empty_value: bool,
}

/// Compiles the processor. Options: `field`; optional `media_type` (`application/json`), `copy_from`,
/// `value`, `override` (true) and `ignore_empty_value` (false).
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let field = options.field_name("field")?;
    let escape = options.media_type()?;
    let source = match options.optional_string("copy_from")? {
        Some(_) if options.has("value") => {
            return Err(
                options.error("copy_from", "cannot set both `copy_from` and `value` in the same processor")
            );
        }
        Some(copy_from) => Source::CopyFrom(FieldName::parse(&copy_from)?),
        None => Source::Value(ValueSource::parse(&options.value("value")?, escape)?),
    };
    let overwrite = options.bool_or("override", true)?;
    let ignore_empty_value = options.bool_or("ignore_empty_value", false)?;
    Ok(Box::new(Set { field, source, overwrite, ignore_empty_value }))
}

impl Processor for Set {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        self.field.with(document, |document, path| {
            if !self.overwrite
                && let Some(found) = path.find(document)?
                && document.node(found.node).kind != Kind::Null
            {
                return Ok(());
            }
            let value = match &self.source {
                Source::Value(source) => {
                    let value = source.make(document)?;
                    // Elasticsearch checks only rendered templates for emptiness.
                    if self.ignore_empty_value && source.is_template() && value.text.len == 2 {
                        return Ok(());
                    }
                    value
                }
                Source::CopyFrom(field) => match self.copied(document, field)? {
                    Some(value) => value,
                    None => return Ok(()),
                },
            };
            path.set(document, value)
        })?;
        Ok(Flow::Continue)
    }
}

impl Set {
    fn copied(
        &self,
        document: &mut IngestDocument<'_>,
        field: &FieldName,
    ) -> Result<Option<super::super::document::node::Node>, RequestError> {
        field.with(document, |document, path| {
            if path.is_timestamp()
                && let Some(timestamp) = document.given_timestamp()
            {
                return Ok(Some(timestamp));
            }
            if self.ignore_empty_value {
                let Some(found) = path.find(document)? else { return Ok(None) };
                let node = document.node(found.node);
                if node.kind == Kind::Null || (node.kind == Kind::String && node.text.len == 2) {
                    return Ok(None);
                }
            }
            let id = path.get(document)?;
            document.copy(id, 0).map(Some)
        })
    }
}
