//! The object of a range field: `{"gte": 1, "lt": 5}`.

use serde_json::Value;

use super::scan::skip_space;
use super::walk::{Stop, Walk};
use super::whole_value::claim_value;
use super::{error, json};
use crate::RequestError;
use crate::field::{Ends, FieldSink, RangeKind, RangeReader, Scalar, block_of};
use crate::mapping::tree::Leaf;

impl<'a, S: FieldSink> Walk<'a, S> {
    /// Reads the object at `at`. Returns the offset after it.
    #[inline(never)]
    pub(super) fn range(&mut self, leaf: u32, at: usize) -> Result<usize, Stop> {
        let json_depth = self.mapping.settings().limits.json_depth;
        let end = json::skip_value(self.bytes, at, 1, json_depth)?;
        let tree = self.tree;
        let node = &tree.leaves[leaf as usize];
        let Some(kind) = node.field.range_kind() else {
            unreachable!("ranges are read for fields of ranges")
        };
        let mut reader = RangeReader::new(&node.field, kind);
        // The grammar has been checked: members follow one another up to the brace.
        let mut next = skip_space(self.bytes, at + 1);
        while self.bytes[next] == b'"' {
            let (key_end, _) = json::string_end(self.bytes, next + 1)?;
            let mut name = String::new();
            json::unescape(&self.text[next + 1..key_end], &mut name);
            let colon = skip_space(self.bytes, key_end + 1);
            let start = skip_space(self.bytes, colon + 1);
            let stop = json::skip_value(self.bytes, start, 2, json_depth)?;
            let text = &self.text[start..stop];
            let is_whole = matches!(self.bytes[start], b'{' | b'[');
            let offset = if is_whole { stop - 1 } else { start };
            claim_value(text.as_bytes())?;
            // Fails only if serde_json is stricter (numbers beyond a double).
            let value = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
            match reader.take(&name, &value) {
                Ok(true) => {}
                Ok(false) => {
                    let path = &node.field.path;
                    let reason = format!("error parsing field [{path}], with unknown parameter [{name}]");
                    let cause = error::document(self.bytes, offset, reason);
                    return Err(self.range_refused(node, offset, &error::preview(text), cause));
                }
                Err(cause) => return Err(self.range_refused(node, offset, &error::preview(text), cause)),
            }
            let comma = skip_space(self.bytes, stop);
            if self.bytes[comma] != b',' {
                break;
            }
            next = skip_space(self.bytes, comma + 1);
        }
        match reader.finish() {
            Ok(ends) => self.put_range(node, leaf, kind, ends),
            Err(cause) => return Err(self.range_refused(node, end - 1, "null", cause)),
        }
        self.check_copies(node, end - 1)?;
        match node.multi_fields.first() {
            None => Ok(end),
            Some(&sub) => Err(self.no_text(&tree.leaves[sub as usize], end - 1)),
        }
    }

    /// Reads a scalar, which for addresses is a block such as `10.0.0.0/8`.
    pub(super) fn put_range_of_scalar(
        &mut self,
        node: &'a Leaf,
        leaf: u32,
        scalar: Scalar<'_>,
        at: usize,
    ) -> Result<(), Stop> {
        let field = &*node.field;
        let cause = match (field.range_kind(), scalar) {
            (Some(kind @ RangeKind::Ip), Scalar::Text(text)) => match block_of(text) {
                Ok(ends) => {
                    self.put_range(node, leaf, kind, ends);
                    return Ok(());
                }
                Err(cause) => cause,
            },
            _ => {
                let (path, name) = (&field.path, field.path.rsplit('.').next().unwrap_or(&field.path));
                error::document(
                    self.bytes,
                    at,
                    format!("error parsing field [{path}], expected an object but got {name}"),
                )
            }
        };
        Err(self.range_refused(node, at, scalar.text(), cause))
    }

    fn put_range(&mut self, node: &'a Leaf, leaf: u32, kind: &RangeKind, ends: Ends) {
        if node.is_fed {
            self.sink.term(&node.field, &kind.encode(ends));
        }
        if node.is_named {
            self.note_name(leaf);
        }
    }

    /// Refuses to copy an object or list that ends at `at`.
    pub(super) fn check_copies(&self, node: &Leaf, at: usize) -> Result<(), Stop> {
        if node.copies.is_empty() {
            return Ok(());
        }
        let targets: Vec<&str> = node.field.copy_to.iter().map(|path| &**path).collect();
        let reason = format_args!(
            "Cannot copy field [{}] to fields [{}]. Copy-to currently only works for value-type fields, not objects.",
            node.field.path,
            targets.join(", ")
        );
        Err(error::document(self.bytes, at, reason).into())
    }

    /// Returns the error about a multi-field of a range object. Elasticsearch's parser has already consumed
    /// the object when it reaches the multi-field.
    #[cold]
    fn no_text(&self, node: &Leaf, at: usize) -> Stop {
        let place = error::position(self.bytes, at);
        let cause = RequestError::illegal_argument(format!("Expected text at {place} but found END_OBJECT"));
        self.range_refused(node, at, "null", cause)
    }

    #[cold]
    fn range_refused(&self, node: &Leaf, at: usize, preview: &str, cause: RequestError) -> Stop {
        let path_and_kind = (&*node.field.path, node.field.type_name());
        error::field(self.bytes, at, path_and_kind, &self.scratch.id, preview, cause).into()
    }
}
