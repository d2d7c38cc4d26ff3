//! `remove`: "remove these fields", or with `keep`, all others.
//!
//! Source: Elasticsearch's `RemoveProcessor`, and OpenSearch's, where `exclude_field` names the fields that
//! stay.

use limber_mapping::RequestError;
use limber_work as work;

use super::super::document::node::{Kind, NONE, NodeId};
use super::super::document::{IngestDocument, ROOT};
use super::super::options::Options;
use super::super::template::{FieldName, Text};
use super::{Flow, Processor};

#[derive(Debug)]
struct Remove {
    fields: Vec<FieldName>,
    ignore_missing: bool,
}

#[derive(Debug)]
struct Keep {
    fields: Vec<Text>,
}

/// Compiles the processor. Optional: `field`, `keep` (`exclude_field` of OpenSearch) and `ignore_missing`
/// (false).
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let fields = options.string_or_list("field")?;
    let excluded = options.string_or_list("exclude_field")?;
    if fields.is_some() && excluded.is_some() {
        return Err(options.error("field", "either field or exclude_field can be set"));
    }
    // An empty list is as good as none.
    let fields = fields.filter(|fields| !fields.is_empty());
    let keep = options.string_or_list("keep")?.or(excluded).filter(|keep| !keep.is_empty());
    let ignore_missing = options.bool_or("ignore_missing", false)?;
    match (fields, keep) {
        (Some(_), Some(_)) => {
            Err(options.error("keep", "and [field] cannot both be used in the same processor"))
        }
        (None, None) => Err(options.error("keep", "or [field] must be specified")),
        (Some(fields), None) => {
            let fields = fields.iter().map(|field| FieldName::parse(field)).collect::<Result<_, _>>()?;
            Ok(Box::new(Remove { fields, ignore_missing }))
        }
        (None, Some(keep)) => {
            let fields = keep.iter().map(|field| Text::parse(field)).collect::<Result<_, _>>()?;
            Ok(Box::new(Keep { fields }))
        }
    }
}

impl Processor for Remove {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        for field in &self.fields {
            field.with(document, |document, path| {
                if self.ignore_missing {
                    path.remove_if_there(document).map(drop)
                } else {
                    path.remove(document)
                }
            })?;
        }
        Ok(Flow::Continue)
    }
}

impl Processor for Keep {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let mut keep =
            self.fields.iter().map(|field| field.render(document)).collect::<Result<Vec<_>, _>>()?;
        keep.sort_unstable();
        keep_only(document, ROOT, "", &keep)?;
        Ok(Flow::Continue)
    }
}

/// Unlinks every member of `object` that is not in, below or above a kept path. `prefix` is the path of
/// `object` with a dot at its end. `keep` is sorted.
fn keep_only(
    document: &mut IngestDocument<'_>,
    object: NodeId,
    prefix: &str,
    keep: &[String],
) -> Result<(), RequestError> {
    let mut before = NONE;
    let mut child = document.node(object).first;
    document.mark_edited(object);
    while child != NONE {
        work::check()?;
        let next = document.node(child).next;
        let path = format!("{prefix}{}", document.key(child));
        let below = format!("{path}.");
        let first_below = keep.partition_point(|kept| *kept < below);
        if keep.binary_search(&path).is_ok() {
            before = child;
        } else if keep.get(first_below).is_some_and(|kept| kept.starts_with(&below)) {
            if document.node(child).kind == Kind::Object {
                keep_only(document, child, &below, keep)?;
            }
            before = child;
        } else {
            document.unlink(object, child, before);
        }
        child = next;
    }
    Ok(())
}
