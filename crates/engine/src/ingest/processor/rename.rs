//! `rename`: "move this field to that name".
//!
//! Source: Elasticsearch's `RenameProcessor`.

use limber_mapping::RequestError;

use super::super::document::IngestDocument;
use super::super::document::path::FieldPath;
use super::super::options::Options;
use super::super::template::FieldName;
use super::{Flow, Processor};

#[derive(Debug)]
struct Rename {
    field: FieldName,
    target: FieldName,
    ignore_missing: bool,
    overwrite: bool,
}

/// Compiles the processor. Options: `field` and `target_field`; optional `ignore_missing` (false) and
/// `override` (false), which OpenSearch calls `override_target`.
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let overwrite = options.bool_or("override_target", false)?;
    Ok(Box::new(Rename {
        field: options.field_name("field")?,
        target: options.field_name("target_field")?,
        ignore_missing: options.bool_or("ignore_missing", false)?,
        overwrite: options.bool_or("override", overwrite)?,
    }))
}

impl Processor for Rename {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        self.field.with(document, |document, field| {
            self.target.with(document, |document, target| self.rename(document, field, target))
        })?;
        Ok(Flow::Continue)
    }
}

impl Rename {
    fn rename(
        &self,
        document: &mut IngestDocument<'_>,
        field: &FieldPath,
        target: &FieldPath,
    ) -> Result<(), RequestError> {
        let Some(found) = field.find_within(document)? else {
            if self.ignore_missing {
                return Ok(());
            }
            return Err(RequestError::illegal_argument(format!("field [{}] doesn't exist", field.text())));
        };
        if !self.overwrite && target.find(document)?.is_some() {
            return Err(RequestError::illegal_argument(format!("field [{}] already exists", target.text())));
        }
        let value = *document.node(found.node);
        field.remove(document)?;
        let moved = target.set(document, value);
        if moved.is_err() {
            // Like Elasticsearch, this restores the value but keeps the objects that were created on the path
            // to the target.
            field.set(document, value)?;
        }
        moved
    }
}
