//! `flat_object`: OpenSearch's name for an object whose keys are not mapped. It is [`Flattened`] without
//! parameters and without a column of its own; only its keys can be sorted by and aggregated over. Source:
//! OpenSearch's `FlatObjectFieldMapper`; messages as recorded from OpenSearch 3.8.

use super::flattened::Flattened;
use crate::RequestError;
use crate::date::DateFormat;
use crate::field::{self, Field, FieldType, Leaf, Location, Param};

/// Maximum nesting depth of objects, as in `flattened`. OpenSearch only limits the depth of documents.
const DEPTH_MAX: u32 = 20;

#[derive(Debug)]
pub(super) struct FlatObject;

fn finish(field: &mut Field, flattened: field::Flattened) {
    field.flattened = Some(flattened);
    (field.index, field.doc_values) = (true, true);
    field.frequencies = false;
}

impl FieldType for FlatObject {
    fn name(&self) -> &'static str {
        "flat_object"
    }

    fn params(&self) -> &'static [Param] {
        &[]
    }

    fn like(&self) -> Option<&'static dyn FieldType> {
        Some(&Flattened)
    }

    fn finish(&self, _: &Leaf, field: &mut Field) {
        finish(field, field::Flattened::Root { depth_max: DEPTH_MAX });
    }

    fn check(&self, leaf: &Leaf, place: &Location<'_>) -> Result<(), RequestError> {
        Flattened.check(leaf, place)
    }

    fn keys(&self) -> Option<&'static dyn FieldType> {
        Some(&FlatObjectKeys)
    }

    fn shown_by(&self, field: &Field, _: &str) -> Result<DateFormat, RequestError> {
        Err(no_formats(field))
    }

    fn check_column(&self, field: &Field) -> Result<(), RequestError> {
        Err(RequestError::illegal_argument(format!(
            "Field [{}] of type [flat_object] does not support doc_value in root field",
            field.path
        )))
    }

    fn is_aggregatable(&self, _: &Field, _: bool) -> bool {
        false
    }
}

/// The pairs of key and value, and single keys. Mappings cannot name this type.
#[derive(Debug)]
pub(super) struct FlatObjectKeys;

impl FieldType for FlatObjectKeys {
    fn name(&self) -> &'static str {
        FlatObject.name()
    }

    fn params(&self) -> &'static [Param] {
        &[]
    }

    fn like(&self) -> Option<&'static dyn FieldType> {
        Some(&super::flattened::FlattenedKeys)
    }

    fn finish(&self, _: &Leaf, field: &mut Field) {
        finish(field, field::Flattened::Keyed);
    }

    fn shown_by(&self, field: &Field, _: &str) -> Result<DateFormat, RequestError> {
        Err(no_formats(field))
    }

    fn keys_take_patterns(&self) -> bool {
        true
    }
}

fn no_formats(field: &Field) -> RequestError {
    RequestError::illegal_argument(format!(
        "Field [{}] of type [flat_object] does not support custom formats",
        field.path
    ))
}
