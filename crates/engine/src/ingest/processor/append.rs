//! `append`: "add these values to this array".
//!
//! Source: Elasticsearch's `AppendProcessor` and `IngestDocument.appendFieldValue`. A single value first
//! becomes an array; a missing field becomes an array.

use std::collections::HashSet;

use limber_mapping::RequestError;
use limber_work as work;

use super::super::document::IngestDocument;
use super::super::document::node::{Kind, Node, NodeId};
use super::super::document::path::FieldPath;
use super::super::document::value::java_text;
use super::super::options::Options;
use super::super::template::{FieldName, ValueSource};
use super::{Flow, Processor};

#[derive(Debug)]
struct Append {
    field: FieldName,
    value: ValueSource,
    allow_duplicates: bool,
}

/// Compiles the processor. Options: `field` and `value`; optional `media_type` (`application/json`) and
/// `allow_duplicates` (true).
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let field = options.field_name("field")?;
    let value = options.value("value")?;
    let escape = options.media_type()?;
    let value = ValueSource::parse(&value, escape)?;
    let allow_duplicates = options.bool_or("allow_duplicates", true)?;
    Ok(Box::new(Append { field, value, allow_duplicates }))
}

impl Processor for Append {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        self.field.with(document, |document, path| {
            let value = self.value.make(document)?;
            append(document, path, value, self.allow_duplicates)
        })?;
        Ok(Flow::Continue)
    }
}

/// Appends a value, or the elements of an array, to the array at `path`, which is created if necessary.
pub fn append(
    document: &mut IngestDocument<'_>,
    path: &FieldPath,
    value: Node,
    allow_duplicates: bool,
) -> Result<(), RequestError> {
    let list = match path.find(document)? {
        Some(found) if document.node(found.node).kind == Kind::Array => found.node,
        Some(found) if !allow_duplicates && repeats(document, found.node, value) => return Ok(()),
        Some(found) => {
            let single = *document.node(found.node);
            document.replace(found.node, Node::container(Kind::Array));
            document.append_child(found.node, "", single)?;
            found.node
        }
        None => {
            path.set(document, Node::container(Kind::Array))?;
            path.get(document)?
        }
    };
    path.mark_edited(document)?;
    document.mark_edited(list);
    let mut known = (!allow_duplicates).then(|| {
        let texts = document.children(list).map(|child| known_as(document, child));
        texts.collect::<HashSet<_>>()
    });
    if value.kind == Kind::Array {
        let holder = document.add(value);
        let values: Vec<NodeId> = document.children(holder).collect();
        for value in values {
            let value = *document.node(value);
            append_one(document, list, value, known.as_mut())?;
        }
        Ok(())
    } else {
        append_one(document, list, value, known.as_mut())
    }
}

/// Whether a value, or each element of an array, equals the single value that is there.
fn repeats(document: &mut IngestDocument<'_>, single: NodeId, value: Node) -> bool {
    let known = known_as(document, single);
    let holder = document.add(value);
    if value.kind != Kind::Array {
        return known_as(document, holder) == known;
    }
    document.children(holder).all(|child| known_as(document, child) == known)
}

fn append_one(
    document: &mut IngestDocument<'_>,
    list: NodeId,
    value: Node,
    known: Option<&mut HashSet<(u8, String)>>,
) -> Result<(), RequestError> {
    if let Some(known) = known {
        let candidate = document.add(value);
        if !known.insert(known_as(document, candidate)) {
            return Ok(());
        }
        work::check()?;
    }
    document.append_child(list, "", value)?;
    Ok(())
}

/// Returns kind and text of a value. Values that agree in both are duplicates.
fn known_as(document: &IngestDocument<'_>, value: NodeId) -> (u8, String) {
    (document.node(value).kind as u8, java_text(document, value))
}
