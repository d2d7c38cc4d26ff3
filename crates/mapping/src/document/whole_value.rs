//! Values that are read as a whole instead of scalar by scalar: "which points, shapes or bytes are these?"

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;

use super::scan::skip_space;
use super::walk::{Stop, Walk};
use super::{error, json};
use crate::field::{Field, FieldSink, Reads, Scalar};
use crate::geo::{
    GeoPoint, GridShape, ReadOptions, cells_of, check_simple, encode_on_plane, geohash_at, read,
    read_position, read_shape,
};
use crate::mapping::tree::{Leaf, TERM_BYTES_MAX};
use crate::number::double_from_json;
use crate::{ErrorClass, RequestError, claim_parsed};

/// Values up to this size are not worth a claim before their tree is made.
const UNCLAIMED_BYTES_MAX: usize = 4 << 10;

/// Claims the memory of the tree of a document or of a value in it.
///
/// # Errors
/// There is not enough memory, or the request must end.
pub(super) fn claim_value(text: &[u8]) -> Result<(), RequestError> {
    if text.len() > UNCLAIMED_BYTES_MAX {
        claim_parsed(text)?;
    }
    Ok(())
}

fn parse_exception(reason: &str) -> RequestError {
    RequestError::bad_request("parse_exception", reason)
}

/// A point of a document.
struct Spot {
    /// The number of the column.
    stored: i64,
    /// The point on the earth, whose geohash multi-fields get; points of a plane have none.
    on_earth: Option<GeoPoint>,
}

impl From<GeoPoint> for Spot {
    fn from(point: GeoPoint) -> Spot {
        Spot { stored: point.encode(), on_earth: Some(point) }
    }
}

/// Reads the point in a document's value.
fn spot_of(field: &Field, value: &Value) -> Result<Spot, RequestError> {
    if field.is_cartesian_point() {
        let position = read_position(value, &field.path, field.ignore_z)?;
        return Ok(Spot { stored: encode_on_plane(position)?, on_earth: None });
    }
    let options = ReadOptions { ignore_z: field.ignore_z, bring_back: field.ignore_malformed };
    read(value, &field.path, options).map(Spot::from)
}

/// Reads the shape in a document's value, ready to be stored.
fn shape_of(field: &Field, value: &Value) -> Result<GridShape, RequestError> {
    let given = read_shape(value, &field.shape_options())?;
    let shape = GridShape::of(field.surface(), &given.geometry, given.is_clockwise)?;
    check_simple(field.surface(), &given.geometry, given.is_clockwise)?;
    Ok(shape)
}

/// Reads the common notation of a point, `[lon, lat]` within the map. Returns the point and the offset after
/// it; `None` if the general rules must be applied.
fn plain_position(text: &str, at: usize) -> Option<(GeoPoint, usize)> {
    let bytes = text.as_bytes();
    let (longitude, comma) = coordinate(text, at, b'[')?;
    let (latitude, end) = coordinate(text, comma, b',')?;
    let is_within = (-90.0..=90.0).contains(&latitude) && (-180.0..=180.0).contains(&longitude);
    (is_within && bytes.get(end) == Some(&b']')).then_some((GeoPoint { latitude, longitude }, end + 1))
}

/// Reads the number after the byte `mark` at `at`. Returns it with the offset of what follows.
#[inline]
fn coordinate(text: &str, at: usize, mark: u8) -> Option<(f64, usize)> {
    let bytes = text.as_bytes();
    if bytes.get(at) != Some(&mark) {
        return None;
    }
    let start = skip_space(bytes, at + 1);
    if !matches!(bytes.get(start), Some(b'-' | b'0'..=b'9')) {
        return None;
    }
    let end = json::number(bytes, start).ok()?.end;
    Some((double_from_json(&text[start..end]), skip_space(bytes, end)))
}

impl<'a, S: FieldSink> Walk<'a, S> {
    /// Reads the object or list of a `geo_shape` or `shape`. Returns the offset after it.
    #[inline(never)]
    pub(super) fn shapes(&mut self, leaf: u32, at: usize, depth: usize) -> Result<usize, Stop> {
        let end = json::skip_value(self.bytes, at, depth, self.mapping.settings().limits.json_depth)?;
        let tree = self.tree;
        let node = &tree.leaves[leaf as usize];
        let value = self.value_of(at, end)?;
        self.put_shapes(node, leaf, &value, end - 1)?;
        Ok(end)
    }

    fn put_shapes(&mut self, node: &'a Leaf, leaf: u32, value: &Value, at: usize) -> Result<(), Stop> {
        match value {
            // The limit on the depth of JSON bounds this recursion.
            Value::Array(items) => items.iter().try_for_each(|item| self.put_shapes(node, leaf, item, at)),
            Value::Null => Ok(()),
            shape => self.put_shape(node, leaf, shape, at),
        }
    }

    fn put_shape(&mut self, node: &'a Leaf, leaf: u32, value: &Value, at: usize) -> Result<(), Stop> {
        let field = &*node.field;
        let shape = match shape_of(field, value) {
            Ok(shape) => shape,
            Err(cause) if field.ignore_malformed && cause.class == ErrorClass::BadRequest => {
                self.note_ignored(leaf);
                return Ok(());
            }
            Err(cause) => return Err(self.unreadable(node, at, cause)),
        };
        if shape.is_empty() {
            return Ok(());
        }
        if node.is_fed {
            let cells = if field.index { cells_of(field.surface(), &shape) } else { Vec::new() };
            let mut bytes = Vec::new();
            shape.encode(&mut bytes);
            self.sink.shape(field, &cells, &bytes);
        }
        if node.is_named {
            self.note_name(leaf);
        }
        Ok(())
    }

    /// Reads the object or list of a `geo_point` or `point`. Returns the offset after it.
    #[inline(never)]
    pub(super) fn points(&mut self, leaf: u32, at: usize, depth: usize) -> Result<usize, Stop> {
        let json_depth = self.mapping.settings().limits.json_depth;
        let tree = self.tree;
        let node = &tree.leaves[leaf as usize];
        if depth < json_depth
            && node.field.is_point()
            && let Some((point, end)) = plain_position(self.text, at)
        {
            self.check_copies(node, end - 1)?;
            self.feed_point(node, leaf, &Spot::from(point), at)?;
            return Ok(end);
        }
        let end = json::skip_value(self.bytes, at, depth, json_depth)?;
        self.check_copies(node, end - 1)?;
        let first = skip_space(self.bytes, at + 1);
        if self.bytes[at] == b'{' {
            self.put_point(node, leaf, &self.value_of(at, end)?, end - 1)?;
        } else if matches!(self.bytes[first], b'-' | b'0'..=b'9') {
            self.put_position(node, leaf, &self.value_of(at, end)?, end - 1)?;
        } else if self.bytes[first] != b']' {
            let mut start = first;
            loop {
                let stop = json::skip_value(self.bytes, start, depth, json_depth)?;
                let is_scalar = !matches!(self.bytes[start], b'{' | b'[');
                self.put_point(
                    node,
                    leaf,
                    &self.value_of(start, stop)?,
                    if is_scalar { start } else { stop - 1 },
                )?;
                let comma = skip_space(self.bytes, stop);
                if self.bytes[comma] != b',' {
                    break;
                }
                start = skip_space(self.bytes, comma + 1);
            }
        }
        Ok(end)
    }

    /// Parses a value whose grammar has been checked. If serde_json is stricter (numbers beyond a double), it
    /// is `false`.
    ///
    /// # Errors
    /// Those of [`claim_value`].
    pub(super) fn value_of(&self, at: usize, end: usize) -> Result<Value, RequestError> {
        let text = &self.text[at..end];
        claim_value(text.as_bytes())?;
        Ok(serde_json::from_str(text).unwrap_or(Value::Bool(false)))
    }

    /// Feeds `[lon, lat]` as the whole value of the field; Elasticsearch reads the numbers itself in this
    /// case.
    fn put_position(&mut self, node: &'a Leaf, leaf: u32, value: &Value, at: usize) -> Result<(), Stop> {
        let field = &*node.field;
        let items = value.as_array().map_or(&[][..], |items| items);
        let numeric = |item: &Value| matches!(item, Value::Number(_) | Value::String(_));
        let (cause, is_fatal) = match items {
            [_, latitude, rest @ ..] if numeric(latitude) => {
                let is_z = |item: &Value| item.is_number();
                match rest {
                    [z, ..] if !is_z(z) => {
                        (parse_exception("field type does not accept > 3 dimensions"), true)
                    }
                    _ => match spot_of(field, &Value::Array(items[..items.len().min(3)].to_vec())) {
                        Ok(spot) => {
                            if items.len() > 3 && !field.ignore_malformed {
                                let cause = parse_exception(&format!("{} expected", field.type_name()));
                                return Err(self.unreadable(node, at, cause));
                            }
                            if items.len() > 3 {
                                self.note_ignored(leaf);
                            }
                            return self.feed_point(node, leaf, &spot, at);
                        }
                        Err(cause) => (cause, false),
                    },
                }
            }
            _ => {
                let found = match items.get(1) {
                    None => "END_ARRAY",
                    Some(Value::Null) => "VALUE_NULL",
                    Some(Value::Bool(true)) => "VALUE_TRUE",
                    Some(Value::Bool(false)) => "VALUE_FALSE",
                    Some(Value::Array(_)) => "START_ARRAY",
                    Some(_) => "START_OBJECT",
                };
                let reason =
                    format!("Current token ({found}) not numeric, can not use numeric value accessors");
                (RequestError::bad_request("x_content_parse_exception", reason), true)
            }
        };
        if field.ignore_malformed && !is_fatal {
            self.note_ignored(leaf);
            return Ok(());
        }
        Err(error::wrapped(self.bytes, at, cause).into())
    }

    /// Feeds a scalar to a field whose type reads whole values.
    #[inline(never)]
    pub(super) fn put_whole(
        &mut self,
        node: &'a Leaf,
        leaf: u32,
        scalar: Scalar<'_>,
        at: usize,
    ) -> Result<(), Stop> {
        match (node.reads, scalar) {
            (Reads::Points, Scalar::Text(text)) => self.put_point(node, leaf, &Value::from(text), at),
            (Reads::Points, _) => self.put_point(node, leaf, &Value::Bool(false), at),
            (Reads::Shapes, Scalar::Text(text)) => self.put_shape(node, leaf, &Value::from(text), at),
            (Reads::Shapes, _) => self.put_shape(node, leaf, &Value::Bool(false), at),
            (Reads::Ranges, _) => self.put_range_of_scalar(node, leaf, scalar, at),
            (Reads::Inputs, _) => self.put_completion(node, leaf, scalar, at),
            (Reads::Relation, _) => self.put_join(node, scalar, at),
            (Reads::Query, _) => {
                let cause = RequestError::parsing("[_na] query malformed, must start with start_object");
                Err(self.unreadable(node, at, cause))
            }
            (Reads::Feature, _) => self.put_feature(node, leaf, scalar, at),
            (Reads::Features, _) => Err(self.not_features(scalar, at)),
            (Reads::Flattened, _) => Err(self.not_flattened(node, scalar, at)),
            (Reads::Summary, _) => self.put_summary_of_scalar(node, leaf, scalar, at),
            _ => self.put_bytes(node, leaf, scalar, at),
        }
    }

    /// Skips the query of a `percolator` field, which is parsed by the code that writes the document. Returns
    /// the offset after it.
    #[inline(never)]
    pub(super) fn query(&mut self, leaf: u32, at: usize) -> Result<usize, Stop> {
        let end = json::skip_value(self.bytes, at, 1, self.mapping.settings().limits.json_depth)?;
        if self.tree.leaves[leaf as usize].is_named {
            self.note_name(leaf);
        }
        Ok(end)
    }

    /// Feeds one point in any notation; null stands for `null_value`.
    pub(super) fn put_point(
        &mut self,
        node: &'a Leaf,
        leaf: u32,
        value: &Value,
        at: usize,
    ) -> Result<(), Stop> {
        let field = &*node.field;
        let value = match (value, &field.null_value) {
            (Value::Null, None) => return Ok(()),
            (Value::Null, Some(null)) => null,
            (value, _) => value,
        };
        match spot_of(field, value) {
            Ok(spot) => self.feed_point(node, leaf, &spot, at),
            Err(_) if field.ignore_malformed => {
                self.note_ignored(leaf);
                Ok(())
            }
            Err(cause) => Err(self.unreadable(node, at, cause)),
        }
    }

    /// Feeds a point. Multi-fields get it as its geohash, whatever its notation.
    fn feed_point(&mut self, node: &'a Leaf, leaf: u32, spot: &Spot, at: usize) -> Result<(), Stop> {
        if node.is_fed {
            self.sink.number(&node.field, spot.stored);
        }
        if node.is_named {
            self.note_name(leaf);
        }
        let Some(point) = spot.on_earth.filter(|_| !node.multi_fields.is_empty()) else { return Ok(()) };
        let hash = geohash_at(point.latitude, point.longitude);
        let tree = self.tree;
        let mut subs = node.multi_fields.iter();
        subs.try_for_each(|&sub| self.put(&tree.leaves[sub as usize], sub, Scalar::Text(&hash), at))
    }

    #[cold]
    pub(super) fn unreadable(&self, node: &Leaf, at: usize, cause: RequestError) -> Stop {
        let path_and_kind = (&*node.field.path, node.field.type_name());
        error::field_without_preview(self.bytes, at, path_and_kind, cause).into()
    }

    /// Feeds Base64, which is decoded only if the field is stored or has doc values.
    fn put_bytes(&mut self, node: &'a Leaf, leaf: u32, scalar: Scalar<'_>, at: usize) -> Result<(), Stop> {
        let field = &*node.field;
        if !field.doc_values && !field.store {
            return Ok(());
        }
        let refuse = |reason: String| RequestError::bad_request("x_content_parse_exception", reason);
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
