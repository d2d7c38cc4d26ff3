//! `sort`: "sort this array". Source: Elasticsearch's `SortProcessor` over `Collections.sort`.

use std::cmp::Ordering;

use limber_mapping::RequestError;

use super::super::document::IngestDocument;
use super::super::document::node::{Kind, Node, NodeId};
use super::super::document::path::FieldPath;
use super::super::document::value::java_type;
use super::super::options::Options;
use super::text::wrong_type;
use super::{Flow, Processor};

#[derive(Debug)]
struct Sort {
    field: FieldPath,
    target: FieldPath,
    is_descending: bool,
}

/// Compiles the processor. Options: `field`; optional `target_field` and `order` (`asc`).
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let field = options.path("field")?;
    let target = options.optional_path("target_field")?.unwrap_or_else(|| field.clone());
    let is_descending = options.is_descending()?;
    Ok(Box::new(Sort { field, target, is_descending }))
}

/// The sort key of a value, compared as its Java class does.
enum Key {
    Bool(bool),
    Whole(i128),
    Double(f64),
    /// In UTF-16, like Java's strings.
    Text(Vec<u16>),
}

impl Key {
    fn compare(&self, other: &Key) -> Ordering {
        match (self, other) {
            (Key::Bool(left), Key::Bool(right)) => left.cmp(right),
            (Key::Whole(left), Key::Whole(right)) => left.cmp(right),
            (Key::Double(left), Key::Double(right)) => left.total_cmp(right),
            (Key::Text(left), Key::Text(right)) => left.cmp(right),
            _ => Ordering::Equal,
        }
    }
}

impl Processor for Sort {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let list = self.field.get(document)?;
        match document.node(list).kind {
            Kind::Array => {}
            Kind::Null => {
                let reason = format!("field [{}] is null, cannot sort.", self.field.text());
                return Err(RequestError::illegal_argument(reason));
            }
            _ => return Err(wrong_type(document, &self.field, list, "java.util.List")),
        }
        let items: Vec<NodeId> = document.children(list).collect();
        check_classes(document, &items)?;
        let mut keyed: Vec<(Key, NodeId)> =
            items.iter().map(|&item| (key_of(document, item), item)).collect();
        keyed.sort_by(|(left, _), (right, _)| match self.is_descending {
            true => right.compare(left),
            false => left.compare(right),
        });
        let sorted = document.add(Node::container(Kind::Array));
        for (_, item) in keyed {
            let item = *document.node(item);
            document.append_child(sorted, "", item)?;
        }
        let sorted = *document.node(sorted);
        self.target.set(document, sorted)?;
        Ok(Flow::Continue)
    }
}

/// Checks that all values have the same Java class, as others cannot be compared. A single value is not
/// compared.
fn check_classes(document: &IngestDocument<'_>, items: &[NodeId]) -> Result<(), RequestError> {
    for pair in items.windows(2) {
        let (first, second) = (java_type(document, pair[0]), java_type(document, pair[1]));
        if first == "null" || second == "null" {
            let reason = match second {
                "java.lang.Integer" => "Cannot read field \"value\" because \"anotherInteger\" is null",
                _ => "cannot compare null",
            };
            return Err(RequestError::internal("null_pointer_exception", reason));
        }
        let is_container = |class: &str| class.starts_with("java.util.");
        let wanted = if is_container(second) { "java.lang.Comparable" } else { second };
        if first != wanted {
            return Err(RequestError::internal(
                "class_cast_exception",
                format!(
                    "class {first} cannot be cast to class {wanted} ({first} and {wanted} are in module java.base of loader 'bootstrap')"
                ),
            ));
        }
    }
    Ok(())
}

fn key_of(document: &IngestDocument<'_>, item: NodeId) -> Key {
    let node = document.node(item);
    match (node.kind, java_type(document, item)) {
        (Kind::String, _) => Key::Text(document.string(item).encode_utf16().collect()),
        (Kind::Number, "java.lang.Double") => {
            Key::Double(document.text(node.text).parse().unwrap_or(f64::NAN))
        }
        (Kind::Number, _) => Key::Whole(document.text(node.text).parse().unwrap_or(i128::MAX)),
        (kind, _) => Key::Bool(kind == Kind::True),
    }
}
