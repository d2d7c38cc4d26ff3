//! `flattened`: an object whose keys are not mapped. Its values are one field; its pairs of key and value are
//! another. Source: Elasticsearch's `FlattenedFieldMapper`.

use super::keyword::Keyword;
use crate::RequestError;
use crate::date::DateFormat;
use crate::field::{
    self, Check, DOC_VALUES, EAGER_ORDINALS, Field, FieldType, IGNORE_ABOVE, INDEX, KEEP,
    KEYWORD_INDEX_OPTIONS, KeptIn, Leaf, Location, META, NULL_VALUE, Param, Reads, SIMILARITY,
    SPLITS_QUERIES, Update, param,
};

#[derive(Debug)]
pub(super) struct Flattened;

static PARAMS: &[Param] = &[
    INDEX,
    DOC_VALUES,
    param("depth_limit", Check::Count, Update::Always, "20"),
    NULL_VALUE,
    EAGER_ORDINALS,
    IGNORE_ABOVE,
    // As in Elasticsearch, frequencies are never written.
    KEYWORD_INDEX_OPTIONS,
    SIMILARITY,
    SPLITS_QUERIES,
    META,
    param("time_series_dimensions", Check::Dimensions, Update::Never, "[]"),
    KEEP,
];

impl FieldType for Flattened {
    fn name(&self) -> &'static str {
        "flattened"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn like(&self) -> Option<&'static dyn FieldType> {
        Some(&Keyword)
    }

    fn finish(&self, leaf: &Leaf, field: &mut Field) {
        let depth_max = leaf.param("depth_limit").as_u64().unwrap_or(0) as u32;
        field.flattened = Some(field::Flattened::Root { depth_max });
        field.frequencies = false;
    }

    fn check(&self, leaf: &Leaf, place: &Location<'_>) -> Result<(), RequestError> {
        let refused = [("fields", leaf.fields.is_empty()), ("copy_to", leaf.copy_to.is_empty())];
        match refused.iter().find(|(_, is_absent)| !is_absent) {
            None => Ok(()),
            Some((name, _)) => Err(RequestError::illegal_argument(format!(
                "flattened field [{}] does not support [{name}]",
                place.name()
            ))),
        }
    }

    fn keys(&self) -> Option<&'static dyn FieldType> {
        Some(&FlattenedKeys)
    }

    fn reads(&self) -> Reads {
        Reads::Flattened
    }

    fn kept_in(&self, field: &Field) -> KeptIn {
        if field.doc_values { KeptIn::Shown } else { KeptIn::Nothing }
    }

    fn shown_by(&self, field: &Field, _: &str) -> Result<DateFormat, RequestError> {
        Err(no_formats(field))
    }

    fn sorts_indices(&self) -> bool {
        true
    }
}

/// The pairs of key and value, and single keys. Mappings cannot name this type.
#[derive(Debug)]
pub(super) struct FlattenedKeys;

impl FieldType for FlattenedKeys {
    fn name(&self) -> &'static str {
        Flattened.name()
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn like(&self) -> Option<&'static dyn FieldType> {
        Some(&Keyword)
    }

    fn finish(&self, _: &Leaf, field: &mut Field) {
        field.flattened = Some(field::Flattened::Keyed);
        field.frequencies = false;
    }

    fn kept_in(&self, _: &Field) -> KeptIn {
        KeptIn::Nothing
    }

    fn shown_by(&self, field: &Field, _: &str) -> Result<DateFormat, RequestError> {
        Err(no_formats(field))
    }
}

fn no_formats(field: &Field) -> RequestError {
    RequestError::illegal_argument(format!(
        "Field [{}] of type [flattened] does not support custom formats",
        field.path
    ))
}
