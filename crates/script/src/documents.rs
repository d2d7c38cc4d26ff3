//! What a script needs of documents: the seam to whoever holds them.

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
    /// `None`: not mapped.
    pub field: Option<Arc<Field>>,
    /// Why the field has no doc values.
    pub refused: Option<RequestError>,
    /// Whether no segment holds the field: a runtime field.
    pub is_runtime: bool,
}

/// The documents of one segment, with the fields that a script names, by number.
pub trait Documents {
    /// A field that the script names.
    fn field(&self, number: u16) -> &BoundField;

    /// Whether there is a field of this name, whether the script names it or not.
    fn is_mapped(&self, name: &str) -> bool;

    /// Whether the documents are nested in others, which alone have a source.
    fn is_nested(&self) -> bool;

    /// The values of a field in a batch of documents, which ascend; read when first asked for.
    fn values(&mut self, number: u16, docs: &[DocId]) -> Result<&mut dyn FieldValues, RequestError>;

    /// Forgets the batch before the next one.
    fn unload(&mut self);

    /// The JSON of a document.
    fn source(&mut self, doc: DocId) -> Result<Vec<u8>, RequestError>;

    /// `randomScore(seed)`: a number from 0 to 1 by the document's place.
    fn random_by_place(&self, doc: DocId, seed: i32) -> f64;

    /// `randomScore(seed, field)`: a number from 0 to 1 by the bytes of a field's value.
    fn random_by_bytes(&self, bytes: &[u8], seed: i32) -> f64;
}

/// One field's values of a batch of documents, which are named by their place in the batch.
pub trait FieldValues {
    /// `None`: not mapped.
    fn field(&self) -> Option<&Field>;

    /// Whether values are stored as numbers.
    fn is_numeric(&self) -> bool;

    /// How many values a document has.
    fn count(&self, at: usize) -> usize;

    /// Stored numbers of a document, ascending.
    fn stored(&self, at: usize) -> &[i64];

    /// Stored numbers of all documents of the batch where each has exactly one.
    fn aligned(&self) -> Option<&[i64]>;

    /// A number for the value of each document of the batch, equal for equal values, where each has exactly
    /// one and they are texts of few kinds.
    fn kinds(&self) -> Option<&[u32]>;

    /// Whether the value of each document of the batch is this text, where each has exactly one and they are
    /// texts.
    fn are_text(&self, text: &str) -> Option<Vec<bool>>;

    /// What lies around the shapes of a document.
    fn bounds(&self, at: usize) -> Option<GridBounds>;

    /// Value `nth` of a document, which has it.
    fn value(&mut self, at: usize, nth: usize) -> Result<Value, RequestError>;
}

/// Appends stored whole numbers divided by a factor to `out`.
pub fn divided(stored: &[i64], factor: f64, out: &mut Vec<f64>) {
    let bits = stored.iter().fold(0, |bits, value| bits | (value ^ (value >> 63)));
    match bits >> 31 {
        // Numbers of 32 bits become doubles several at a time.
        0 => out.extend(stored.iter().map(|&value| f64::from(value as i32) / factor)),
        _ => out.extend(stored.iter().map(|&value| value as f64 / factor)),
    }
}

/// A stored number as the script's value: whole numbers are `long`, all others `double`.
pub fn number(field: &Field, stored: i64) -> Value {
    match field.values {
        ValueKind::Bool => Value::Bool(stored != 0),
        ValueKind::Date { resolution, .. } => Value::Date(DateValue::utc(resolution.instant(stored))),
        ValueKind::Point => Value::Point(GeoPoint::decode(stored)),
        ValueKind::Double(_) | ValueKind::Scaled(_) => Value::Double(field.decode_f64(stored)),
        // As in Java: the upper half is negative.
        ValueKind::UnsignedLong => Value::Long(u64_from_sortable(stored) as i64),
        _ => Value::Long(stored),
    }
}
