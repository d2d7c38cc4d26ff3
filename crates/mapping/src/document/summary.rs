//! The value of a field of summaries: an object of which a document has one at most.

use serde_json::Value;

use super::walk::{Stop, Walk};
use super::{error, json};
use crate::RequestError;
use crate::field::{Field, FieldSink, Representation, Scalar};
use crate::mapping::tree::Leaf;

impl<'a, S: FieldSink> Walk<'a, S> {
    /// Reads the object at `at`. Returns the offset after it.
    #[inline(never)]
    pub(super) fn summary(&mut self, leaf: u32, at: usize) -> Result<usize, Stop> {
        let end = json::skip_value(self.bytes, at, 1, self.mapping.settings().limits.json_depth)?;
        let tree = self.tree;
        let value = self.value_of(at, end)?;
        self.put_summary(&tree.leaves[leaf as usize], leaf, &value, (end - 1, "null"))?;
        Ok(end)
    }

    /// Refuses or ignores a scalar, which is no summary.
    pub(super) fn put_summary_of_scalar(
        &mut self,
        node: &'a Leaf,
        leaf: u32,
        scalar: Scalar<'_>,
        at: usize,
    ) -> Result<(), Stop> {
        let value = match scalar {
            Scalar::Text(text) => Value::from(text),
            Scalar::Bool(flag) => Value::from(flag),
            Scalar::Integer { .. } | Scalar::Number(_) | Scalar::Stored(_) => Value::from(0),
        };
        self.put_summary(node, leaf, &value, (at, scalar.text()))
    }

    /// Feeds the numbers of a summary to the field and its hidden fields. An error names the offset and shows
    /// the preview.
    fn put_summary(
        &mut self,
        node: &'a Leaf,
        leaf: u32,
        value: &Value,
        (at, preview): (usize, &str),
    ) -> Result<(), Stop> {
        let field = &*node.field;
        if self.including {
            let (path, name) = (&field.path, field.type_name());
            return Err(RequestError::unsupported(format_args!(
                "field [{path}] of type [{name}] in nested objects that another document includes"
            ))
            .into());
        }
        let read = field.of.read_summary(field, value);
        let numbers = match read.and_then(|numbers| self.check_only_summary(node, leaf).map(|()| numbers)) {
            Ok(numbers) => numbers,
            Err(_) if field.ignore_malformed => {
                self.note_ignored(leaf);
                return Ok(());
            }
            Err(cause) => return Err(self.summary_refused(node, (at, preview), cause)),
        };
        let tree = self.tree;
        let columns = field.summary.iter().flat_map(|summary| &summary.columns);
        for ((_, path), numbers) in columns.zip(&numbers) {
            let hidden = node.multi_fields.iter().map(|&number| &tree.leaves[number as usize]);
            let mut leaves = std::iter::once(node).chain(hidden);
            if let Some(column) = leaves.find(|leaf| leaf.field.path == *path) {
                numbers.iter().for_each(|&number| self.sink.number(&column.field, number));
            }
        }
        if field.representation() == Representation::Terms {
            // The column of the field itself only shows that there is a summary.
            self.sink.term(field, &[]);
        }
        Ok(())
    }

    /// Returns the error about a value that is no summary. Elasticsearch shows no histograms in errors.
    #[cold]
    fn summary_refused(&self, node: &Leaf, (at, preview): (usize, &str), cause: RequestError) -> Stop {
        let field = &*node.field;
        let cause = match cause.kind {
            "document_parsing_exception" => error::document(self.bytes, at, cause.reason),
            _ => cause,
        };
        if is_histogram(field) {
            return self.unreadable(node, at, cause);
        }
        let (path_and_kind, id) = ((&*field.path, field.type_name()), &self.scratch.id);
        error::field(self.bytes, at, path_and_kind, id, preview, cause).into()
    }

    /// Refuses a second summary in the same document.
    fn check_only_summary(&mut self, node: &Leaf, leaf: u32) -> Result<(), RequestError> {
        let document = self.scratch.document;
        match std::mem::replace(&mut self.scratch.single[leaf as usize], document) == document {
            false => Ok(()),
            true => Err(RequestError::illegal_argument(format!(
                "Field [{}] of type [{}] {} support indexing multiple values for the same field in the same document",
                node.field.path,
                node.field.type_name(),
                if is_histogram(&node.field) { "doesn't not" } else { "does not" }
            ))),
        }
    }
}

fn is_histogram(field: &Field) -> bool {
    field.summary.as_ref().is_some_and(|summary| summary.is_histogram())
}
