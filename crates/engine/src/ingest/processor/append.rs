//! `append`: "add these values to this array".
//!
//! Source: Elasticsearch's `AppendProcessor` and `IngestDocument.appendFieldValue`. A single value first
//! becomes an array; a missing field becomes an array. If nothing is appended, the document does not change.

use std::collections::HashSet;

use limber_mapping::RequestError;
use limber_work as work;

use super::super::document::IngestDocument;
use super::super::document::node::{Kind, NONE, Node, NodeId};
use super::super::document::path::FieldPath;
use super::super::document::value::java_text;
use super::super::options::Options;
use super::super::template::{FieldName, ValueSource};
use super::{Flow, Processor};

#[derive(Debug)]
enum Source {
    Value(ValueSource),
    CopyFrom(FieldPath),
}

#[derive(Debug)]
struct Append {
    field: FieldName,
    source: Source,
    allow_duplicates: bool,
    ignore_empty_values: bool,
}

/// Compiles the processor. Options: `field`, and either `value` or `copy_from`; optional `media_type`
/// (`application/json`), `allow_duplicates` (true) and `ignore_empty_values` (false: null and empty strings
/// are appended too).
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let field = options.field_name("field")?;
    let copy_from = options.optional_path("copy_from")?;
    let escape = options.media_type()?;
    let source = match copy_from {
        Some(_) if options.has("value") => {
            return Err(
                options.error("copy_from", "cannot set both `copy_from` and `value` in the same processor")
            );
        }
        Some(path) => Source::CopyFrom(path),
        None => Source::Value(ValueSource::parse(&options.value("value")?, escape)?),
    };
    let allow_duplicates = options.bool_or("allow_duplicates", true)?;
    let ignore_empty_values = options.bool_or("ignore_empty_values", false)?;
    Ok(Box::new(Append { field, source, allow_duplicates, ignore_empty_values }))
}

impl Processor for Append {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        self.field.with(document, |document, path| {
            let value = match &self.source {
                Source::Value(source) => source.make(document)?,
                Source::CopyFrom(from) => {
                    if self.ignore_empty_values && from.find(document)?.is_none() {
                        return Ok(());
                    }
                    let id = from.get(document)?;
                    document.copy(id, 0)?
                }
            };
            let value = match self.ignore_empty_values {
                true => without_empty(document, value)?,
                false => value,
            };
            if value.kind == Kind::Array && value.first == NONE {
                return Ok(());
            }
            append(document, path, value, self.allow_duplicates)
        })?;
        Ok(Flow::Continue)
    }
}

/// Returns an array without its nulls and empty strings, an empty array for one of these, and any other value
/// as it is.
fn without_empty(document: &mut IngestDocument<'_>, value: Node) -> Result<Node, RequestError> {
    // The text of an empty string is its two quotation marks.
    let is_empty = |node: &Node| node.kind == Kind::Null || (node.kind == Kind::String && node.text.len == 2);
    if value.kind != Kind::Array {
        return Ok(if is_empty(&value) { Node::container(Kind::Array) } else { value });
    }
    let holder = document.add(value);
    let items: Vec<NodeId> = document.children(holder).collect();
    let kept = document.add(Node::container(Kind::Array));
    for item in items {
        let item = *document.node(item);
        if !is_empty(&item) {
            document.append_child(kept, "", item)?;
        }
    }
    Ok(*document.node(kept))
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
