//! `copy`: "copy this value to that field".
//!
//! Source: OpenSearch's documentation of its `copy` processor; Elasticsearch has `set` with `copy_from`.

use limber_mapping::RequestError;

use super::super::document::IngestDocument;
use super::super::document::path::FieldPath;
use super::super::options::Options;
use super::super::template::FieldName;
use super::{Flow, Processor};

#[derive(Debug)]
struct Copy {
    source: FieldName,
    target: FieldName,
    ignore_missing: bool,
    overwrite: bool,
    remove_source: bool,
}

/// Compiles the processor. Options: `source_field` and `target_field`; optional `ignore_missing`,
/// `override_target` and `remove_source` (false).
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    Ok(Box::new(Copy {
        source: options.field_name("source_field")?,
        target: options.field_name("target_field")?,
        ignore_missing: options.bool_or("ignore_missing", false)?,
        overwrite: options.bool_or("override_target", false)?,
        remove_source: options.bool_or("remove_source", false)?,
    }))
}

impl Processor for Copy {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        self.source.with(document, |document, source| {
            self.target.with(document, |document, target| self.copy(document, source, target))
        })?;
        Ok(Flow::Continue)
    }
}

impl Copy {
    fn copy(
        &self,
        document: &mut IngestDocument<'_>,
        source: &FieldPath,
        target: &FieldPath,
    ) -> Result<(), RequestError> {
        let Some(found) = source.find(document)? else {
            if self.ignore_missing {
                return Ok(());
            }
            let reason = format!("source field [{}] doesn't exist", source.text());
            return Err(RequestError::illegal_argument(reason));
        };
        if !self.overwrite && target.find(document)?.is_some() {
            let reason = format!("target field [{}] already exists", target.text());
            return Err(RequestError::illegal_argument(reason));
        }
        let value = document.copy(found.node, 0)?;
        target.set(document, value)?;
        if self.remove_source {
            source.remove(document)?;
        }
        Ok(())
    }
}
