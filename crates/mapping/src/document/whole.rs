//! Values that are read as a whole instead of scalar by scalar: "which points, or which bytes, stand here?"

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;

use super::error;
use super::json;
use super::walk::{Stop, Walk};
use crate::RequestError;
use crate::field::FieldSink;
use crate::geo::parse_points;
use crate::tree::{Leaf, TERM_BYTES_MAX};
use crate::typed::{Scalar, Shape};

impl<'a, S: FieldSink> Walk<'a, S> {
    /// The object or list of a `geo_point`; returns the offset behind it.
    #[inline(never)]
    pub(super) fn points(&mut self, leaf: u32, at: usize, depth: usize) -> Result<usize, Stop> {
        let end = json::skip_value(self.bytes, at, depth, self.mapping.settings().limits.json_depth)?;
        let tree = self.tree;
        // The grammar is checked, so this fails only where serde_json is stricter (numbers beyond a double).
        let value = serde_json::from_str(&self.text[at..end]).unwrap_or(Value::Bool(false));
        self.put_points(&tree.leaves[leaf as usize], leaf, &value, end - 1)?;
        Ok(end)
    }

    /// A scalar under a type that is not a scalar's.
    #[inline(never)]
    pub(super) fn put_whole(
        &mut self,
        node: &'a Leaf,
        leaf: u32,
        scalar: Scalar<'_>,
        at: usize,
    ) -> Result<(), Stop> {
        match (node.shape, scalar) {
            (Shape::GeoPoint, Scalar::Text(text)) => self.put_points(node, leaf, &Value::from(text), at),
            (Shape::GeoPoint, _) => self.put_points(node, leaf, &Value::Bool(false), at),
            _ => self.put_bytes(node, leaf, scalar, at),
        }
    }

    fn put_points(&mut self, node: &'a Leaf, leaf: u32, value: &Value, at: usize) -> Result<(), Stop> {
        let field = &*node.field;
        let points = match parse_points(value, &field.path, field.ignore_malformed) {
            Ok(points) => points,
            Err(_) if field.ignore_malformed => {
                self.note_ignored(leaf);
                return Ok(());
            }
            Err(cause) if cause.kind == "illegal_argument_exception" => {
                return Err(error::wrapped(self.bytes, at, cause).into());
            }
            Err(cause) => {
                let reason =
                    format!("failed to parse field [{}] of type [{}]", field.path, field.type_name());
                return Err(error::document(self.bytes, at, reason).caused_by(cause).into());
            }
        };
        if node.is_fed && field.doc_values {
            points.iter().for_each(|point| self.sink.number(field, point.encode()));
        }
        if node.is_named && !points.is_empty() {
            self.note_name(leaf);
        }
        Ok(())
    }

    /// Base64. Nothing reads it unless the field is stored or has doc values.
    fn put_bytes(&mut self, node: &'a Leaf, leaf: u32, scalar: Scalar<'_>, at: usize) -> Result<(), Stop> {
        let field = &*node.field;
        if !field.doc_values && !field.store {
            return Ok(());
        }
        let refuse = |reason: String| RequestError::new(400, "x_content_parse_exception", reason);
        let outcome = match scalar {
            Scalar::Text(text) => BASE64
                .decode(text)
                .map_err(|error| refuse(format!("Failed to decode VALUE_STRING as base64: {error}"))),
            _ => Err(refuse(
                "Current token not VALUE_STRING or VALUE_EMBEDDED_OBJECT, can not access as binary"
                    .to_owned(),
            )),
        };
        let bytes = match outcome {
            Ok(bytes) if bytes.len() > TERM_BYTES_MAX => {
                return Err(RequestError::unsupported(format!(
                    "a value of more than {TERM_BYTES_MAX} bytes in field [{}] of type [binary] with doc values",
                    field.path
                ))
                .into());
            }
            Ok(bytes) => bytes,
            Err(cause) => {
                let path_and_kind = (&*field.path, field.type_name());
                let id = &self.scratch.id;
                return Err(error::field(self.bytes, at, path_and_kind, id, scalar.text(), cause).into());
            }
        };
        if field.doc_values {
            self.sink.term(field, &bytes);
        }
        if node.is_named {
            self.note_name(leaf);
        }
        Ok(())
    }
}
