//! What a script needs from documents: the interface to the crate that stores them.

use std::sync::Arc;

use limber_mapping::geo::{GeoPoint, GridBounds};
use limber_mapping::number::u64_from_sortable;
use limber_mapping::{Field, RequestError, ValueKind};

use crate::values::{DateValue, Value};

/// The number of a document in its segment.
pub type DocId = u32;

/// A field that a script names, on one shard.
#[derive(Debug, Clone)]
pub struct BoundField {
    /// As the script names it.
    pub name: Arc<str>,
    /// `None` if the field is not mapped.
    pub field: Option<Arc<Field>>,
    /// Why the field has no doc values.
    pub refused: Option<RequestError>,
    /// Whether it is a runtime field, which no segment stores.
    pub is_runtime: bool,
}

/// The documents of one segment, with the fields that a script names, each known by a number.
pub trait Documents {
    /// Returns a field that the script names.
    fn field(&self, number: u16) -> &BoundField;

    /// Returns the number of the field with this name; `None` if the script cannot read it.
    fn number_of(&self, name: &str) -> Option<u16>;

    /// Whether a field of this name is mapped, even if the script does not name it.
    fn is_mapped(&self, name: &str) -> bool;

    /// Whether the documents are nested ones. Only the documents that contain them have a source.
    fn is_nested(&self) -> bool;

    /// Returns the values of a field in a batch of ascending documents; they are read on the first call.
    fn values(&mut self, number: u16, docs: &[DocId]) -> Result<&mut dyn FieldValues, RequestError>;

    /// Discards the batch. Called before the next batch.
    fn unload(&mut self);

    /// Returns the JSON of a document.
    fn source(&mut self, doc: DocId) -> Result<Vec<u8>, RequestError>;

    /// Returns `randomScore(seed)`: a number from 0 to 1 that depends on the document's id in the segment.
    fn random_by_doc(&self, doc: DocId, seed: i32) -> f64;

    /// Returns `randomScore(seed, field)`: a number from 0 to 1 that depends on the bytes of a field's
    /// value.
    fn random_by_bytes(&self, bytes: &[u8], seed: i32) -> f64;
}

/// One field's values of a batch of documents. `at` is a document's index in the batch.
pub trait FieldValues {
    /// Returns the field; `None` if it is not mapped.
    fn field(&self) -> Option<&Field>;

    /// Whether values are stored as numbers.
    fn is_numeric(&self) -> bool;

    /// Returns how many values a document has.
    fn count(&self, at: usize) -> usize;

    /// Returns the stored numbers of a document, ascending.
    fn stored(&self, at: usize) -> &[i64];

    /// Returns the stored numbers of all documents of the batch, if each document has exactly one.
    fn aligned(&self) -> Option<&[i64]>;

    /// Returns an ordinal for the value of each document of the batch, equal for equal values. `None`
    /// unless each document has exactly one value and the field has few distinct strings.
    fn ordinals(&self) -> Option<&[u32]>;

    /// Returns an ordinal for the first value of each of these documents, given by their indexes in the
    /// batch: equal ordinals are equal strings. `None` if one of them has no value, or the values are no
    /// strings.
    fn first_ordinals(&self, rows: &[u32]) -> Option<Vec<u32>>;

    /// Returns whether the first value of each of these documents is this string. `None` if one of them has
    /// no value, or if it takes reading the values to tell.
    fn equals_string(&self, text: &str, rows: &[u32]) -> Option<Vec<bool>>;

    /// Returns the bounding box of a document's shapes.
    fn bounds(&self, at: usize) -> Option<GridBounds>;

    /// Returns value `nth` of a document, which must have it.
    fn value(&mut self, at: usize, nth: usize) -> Result<Value, RequestError>;
}

/// Converts a stored number to the script's value: whole numbers become `long`, all others `double`.
pub fn number(field: &Field, stored: i64) -> Value {
    match field.values {
        ValueKind::Bool => Value::Bool(stored != 0),
        ValueKind::Date { resolution, .. } => Value::Date(DateValue::utc(resolution.instant(stored))),
        ValueKind::Point => Value::Point(GeoPoint::decode(stored)),
        ValueKind::Double(_) | ValueKind::Scaled(_) => Value::Double(field.decode_f64(stored)),
        // As in Java, the upper half of the range is negative.
        ValueKind::UnsignedLong => Value::Long(u64_from_sortable(stored) as i64),
        _ => Value::Long(stored),
    }
}
