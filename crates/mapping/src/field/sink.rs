//! The receiver of a parsed document's values, and the spaces of nested documents.

use std::sync::Arc;

use super::mapped::Field;
#[cfg(doc)]
use super::mapped::Representation;

/// Receives the typed values of one document, field by field, in document order. Implemented by the segment's
/// buffer. The walker is generic over it, so that no value is boxed.
///
/// A field may be fed several times per document (arrays, `copy_to`).
pub trait FieldSink {
    /// Receives a value of a field whose representation is [`Representation::Terms`].
    fn term(&mut self, field: &Field, value: &[u8]);
    /// Receives a value of a field whose representation is [`Representation::Number`].
    fn number(&mut self, field: &Field, value: i64);
    /// Receives a value of a text field. The sink runs `field.analyzer` over it and applies
    /// `position_increment_gap`.
    fn text(&mut self, field: &Field, value: &str);
    /// Receives a shape of a field whose representation is [`Representation::Shape`]: its bytes, and the
    /// cells that it touches (none if the field has no index).
    fn shape(&mut self, field: &Field, cells: &[i64], bytes: &[u8]);
    /// Begins a nested document, to which the following values belong until its [`FieldSink::end_nested`].
    /// Its parent is the document that is open in `nested.parent`.
    fn begin_nested(&mut self, nested: &Nested);
    /// Ends the nested document that was begun last. The following values belong to its parent again.
    fn end_nested(&mut self, nested: &Nested);
    /// Switches to the document that is open in `space`, to which the following values belong.
    fn turn_to(&mut self, space: SpaceId);
}

/// The space of a value: [`SpaceId::ROOT`] for top-level documents, else the nested documents of one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct SpaceId(pub u32);

impl SpaceId {
    /// The space of the top-level documents.
    pub const ROOT: SpaceId = SpaceId(0);
}

/// The nested objects of one path. Each is a separate document, in a space of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nested {
    /// Dense from 1, stable while the index is open, never reused; greater than its parent's.
    pub space: SpaceId,
    /// Full dotted path.
    pub path: Arc<str>,
    /// The space of the enclosing nested objects, or the root.
    pub parent: SpaceId,
    /// As declared. The values may also reach the root through the parents.
    pub include_in_root: bool,
}
