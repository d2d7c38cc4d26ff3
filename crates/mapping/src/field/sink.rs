//! Where a parsed document is poured, and the documents that nested objects are.

use std::sync::Arc;

use super::mapped::Field;
#[cfg(doc)]
use super::mapped::Representation;

/// Receives the typed values of one document, field by field, in document order. Implemented by the segment's
/// buffer; the walker is generic over it, so that nothing is boxed on the way.
///
/// A field may be fed several times per document (arrays, `copy_to`).
pub trait FieldSink {
    /// A value of a field whose representation is [`Representation::Terms`].
    fn term(&mut self, field: &Field, value: &[u8]);
    /// A value of a field whose representation is [`Representation::Number`].
    fn number(&mut self, field: &Field, value: i64);
    /// A value of a text field; the sink runs `field.analyzer` over it and applies `position_increment_gap`.
    fn text(&mut self, field: &Field, value: &str);
    /// A shape of a field whose representation is [`Representation::Shape`]: its bytes, and the cells that it
    /// touches (none where the field has no index).
    fn shape(&mut self, field: &Field, cells: &[i64], bytes: &[u8]);
    /// A nested document begins: the values that follow are its own, until its [`FieldSink::end_nested`]. Its
    /// parent is the document that is open in `nested.parent`.
    fn begin_nested(&mut self, nested: &Nested);
    /// The nested document that was begun last ends; values are again those of its parent.
    fn end_nested(&mut self, nested: &Nested);
    /// The values that follow are of the document that is open in `space`, one of those that are open.
    fn turn_to(&mut self, space: SpaceId);
}

/// Which documents values belong to: [`SpaceId::ROOT`] for the documents themselves, else those of the nested
/// objects of one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct SpaceId(pub u32);

impl SpaceId {
    /// The space of the documents around all nested ones.
    pub const ROOT: SpaceId = SpaceId(0);
}

/// The nested objects of one path. Each is a document of its own, in a space of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nested {
    /// Dense from 1, stable while the index is open, never reused; greater than its parent's.
    pub space: SpaceId,
    /// Full dotted path.
    pub path: Arc<str>,
    /// The nested objects around, or the root.
    pub parent: SpaceId,
    /// As declared; values may come to the root through parents as well.
    pub include_in_root: bool,
}
