//! Values that a script has computed for a document: "how are they fed to their field?"

use super::error;
use super::put::utf16_length;
use crate::field::{Field, FieldSink};
use crate::mapping::Mapping;
use crate::mapping::tree::TERM_BYTES_MAX;
use crate::{RequestError, reserved};

/// One value that a script has computed, in the form of the field's column.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptedValue {
    /// A number as the field's column stores it.
    Number(i64),
    /// The UTF-8 of a keyword before normalization, or the bytes of an address.
    Term(Vec<u8>),
}

/// Feeds the computed values of a field to the sink, like values in the document: a value longer than
/// `ignore_above` is left out, and the field is listed in `_ignored`.
///
/// # Errors
/// A term is too long for the index.
pub fn put_scripted<S: FieldSink>(
    mapping: &Mapping,
    field: &Field,
    values: &[ScriptedValue],
    sink: &mut S,
) -> Result<(), RequestError> {
    let (mut is_ignored, mut has_values) = (false, false);
    for value in values {
        match value {
            ScriptedValue::Number(number) => sink.number(field, *number),
            ScriptedValue::Term(term) => {
                let above = field.ignore_above.map_or(usize::MAX, |above| above as usize);
                if utf16_length(term) > above {
                    is_ignored = true;
                    continue;
                }
                match (&field.normalizer, std::str::from_utf8(term)) {
                    (Some(normalizer), Ok(text)) => {
                        put_term(field, normalizer.normalize(text).as_bytes(), sink)?
                    }
                    _ => put_term(field, term, sink)?,
                }
            }
        }
        has_values = true;
    }
    if has_values && field.is_named() {
        sink.term(mapping.field_by_id(reserved::FIELD_NAMES), field.path.as_bytes());
    }
    if is_ignored {
        put_ignored(mapping, field, sink);
    }
    Ok(())
}

fn put_term<S: FieldSink>(field: &Field, term: &[u8], sink: &mut S) -> Result<(), RequestError> {
    if term.len() > TERM_BYTES_MAX {
        return Err(error::immense(&field.path, term));
    }
    sink.term(field, term);
    Ok(())
}

/// Lists a field in `_ignored`. Called once per document and field.
pub fn put_ignored<S: FieldSink>(mapping: &Mapping, field: &Field, sink: &mut S) {
    sink.term(mapping.field_by_id(reserved::IGNORED), field.path.as_bytes());
}
