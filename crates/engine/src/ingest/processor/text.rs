//! What processors of a string (or an array of strings) share: "read the field, transform each string, write
//! the target".
//!
//! Source: Elasticsearch's `AbstractStringProcessor`.

use std::fmt::Debug;

use limber_mapping::RequestError;
use limber_work as work;

use super::super::document::IngestDocument;
use super::super::document::node::{Kind, Node, NodeId};
use super::super::document::path::{FieldPath, Found};
use super::super::document::value::{java_text, java_type};
use super::super::options::Options;
use super::{Flow, Processor};

/// Splits `text` at delimiters like `String.split`: an empty match at the start does not count, and trailing
/// empty pieces are dropped unless `keeps_trailing`. `find_each` calls its argument with the start and end of
/// each delimiter.
///
/// # Errors
/// Those of `find_each`; there is not enough memory, or the request must end.
pub fn pieces(
    text: &str,
    keeps_trailing: bool,
    find_each: impl FnOnce(&mut dyn FnMut(usize, usize)) -> Result<(), RequestError>,
) -> Result<Vec<&str>, RequestError> {
    let (mut pieces, mut from) = (Vec::new(), 0);
    let mut refusal = None;
    find_each(&mut |start, end| {
        if end == 0 || refusal.is_some() {
            return;
        }
        if pieces.len() == pieces.capacity() {
            // A text may consist of pieces of one byte. The list is copied to one of twice the size.
            let bytes = (pieces.len() * size_of::<&str>()).saturating_mul(3);
            refusal = work::claim(bytes as u64).err();
        }
        pieces.push(&text[from..start]);
        from = end;
    })?;
    if let Some(refusal) = refusal {
        return Err(refusal.into());
    }
    let is_whole = pieces.is_empty();
    pieces.push(&text[from..]);
    while !is_whole && !keeps_trailing && pieces.last().is_some_and(|piece| piece.is_empty()) {
        pieces.pop();
    }
    Ok(pieces)
}

/// A function from a string to a string.
pub trait Transform: Send + Sync + Debug {
    /// Appends the result as the inside of a JSON string. Returns whether it contains escapes.
    fn push(&self, text: &str, out: &mut String) -> Result<bool, RequestError>;
}

/// A function from a string to any value. If the result is always a string, implement [`Transform`].
pub trait Make: Send + Sync + Debug {
    /// Makes the value for a string.
    fn make(&self, document: &mut IngestDocument<'_>, text: &str) -> Result<Node, RequestError>;
}

impl<T: Transform> Make for T {
    fn make(&self, document: &mut IngestDocument<'_>, text: &str) -> Result<Node, RequestError> {
        let mut outcome = Ok(false);
        let made = document.make_string_with(text.len(), |out| {
            outcome = self.push(text, out);
            matches!(outcome, Ok(true))
        })?;
        outcome.map(|_| made)
    }
}

/// A processor that applies a [`Make`] to a field.
#[derive(Debug)]
pub struct TextProcessor<T> {
    field: FieldPath,
    target: Option<FieldPath>,
    ignore_missing: bool,
    transform: T,
}

impl<T: Make + 'static> TextProcessor<T> {
    /// Reads `field`, `target_field` and `ignore_missing`. The caller reads the options of the transform
    /// itself.
    pub fn parse(options: &mut Options, transform: T) -> Result<Box<dyn Processor>, RequestError> {
        let field = options.path("field")?;
        let target = options.optional_path("target_field")?.filter(|target| *target != field);
        let ignore_missing = options.bool_or("ignore_missing", false)?;
        Ok(Box::new(TextProcessor { field, target, ignore_missing, transform }))
    }

    fn transformed(&self, document: &mut IngestDocument<'_>, id: NodeId) -> Result<Node, RequestError> {
        let text = document.string(id);
        self.transform.make(document, &text)
    }

    fn list(&self, document: &mut IngestDocument<'_>, list: NodeId) -> Result<Node, RequestError> {
        let made = document.add(Node::container(Kind::Array));
        let values: Vec<NodeId> = document.children(list).collect();
        for value in values {
            work::check()?;
            if document.node(value).kind != Kind::String {
                return Err(RequestError::illegal_argument(format!(
                    "value [{}] of type [{}] in list field [{}] cannot be cast to [java.lang.String]",
                    java_text(document, value),
                    java_type(document, value),
                    self.field.text()
                )));
            }
            let value = self.transformed(document, value)?;
            document.append_child(made, "", value)?;
        }
        Ok(*document.node(made))
    }
}

impl<T: Make + 'static> Processor for TextProcessor<T> {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let Some(found @ Found { node, .. }) = self.field.find(document)? else {
            if self.ignore_missing {
                return Ok(Flow::Continue);
            }
            self.field.get(document)?;
            return Ok(Flow::Continue);
        };
        let value = match document.node(node).kind {
            Kind::String => self.transformed(document, node)?,
            Kind::Array => self.list(document, node)?,
            Kind::Null if self.ignore_missing => return Ok(Flow::Continue),
            Kind::Null => {
                let field = self.field.text();
                return Err(RequestError::illegal_argument(format!(
                    "field [{field}] is null, cannot process it."
                )));
            }
            _ => return Err(wrong_type(document, &self.field, node, "java.lang.String")),
        };
        match &self.target {
            Some(target) => target.set(document, value)?,
            None => self.field.replace(document, found, value)?,
        }
        Ok(Flow::Continue)
    }
}

/// Makes the error `field [a] of type [java.lang.Integer] cannot be cast to [java.lang.String]`.
pub fn wrong_type(
    document: &IngestDocument<'_>,
    field: &FieldPath,
    id: NodeId,
    wanted: &str,
) -> RequestError {
    let kind = java_type(document, id);
    RequestError::illegal_argument(format!(
        "field [{}] of type [{kind}] cannot be cast to [{wanted}]",
        field.text()
    ))
}

/// Returns the string at `field`; `None` when it is missing or null and `ignore_missing` is set.
pub fn string_field<'a>(
    document: &mut IngestDocument<'a>,
    field: &FieldPath,
    ignore_missing: bool,
    null_reason: &str,
) -> Result<Option<std::borrow::Cow<'a, str>>, RequestError> {
    if ignore_missing && field.find(document)?.is_none() {
        return Ok(None);
    }
    let id = field.get(document)?;
    match document.node(id).kind {
        Kind::String => Ok(Some(document.string(id))),
        Kind::Null if ignore_missing => Ok(None),
        Kind::Null => {
            Err(RequestError::illegal_argument(format!("field [{}] is null, {null_reason}", field.text())))
        }
        _ => Err(wrong_type(document, field, id, "java.lang.String")),
    }
}
