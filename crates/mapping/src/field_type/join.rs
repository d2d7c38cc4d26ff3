//! `join`: parent and child documents. Source: Elasticsearch's `ParentJoinFieldMapper`.

use std::sync::Arc;

use super::keyword::Keyword;
use crate::RequestError;
use crate::field::join::Relations;
use crate::field::{
    Check, Field, FieldType, KEEP, KeptIn, Leaf, Location, META, Param, Reads, Update, param,
};

#[derive(Debug)]
pub(super) struct Join;

static PARAMS: &[Param] = &[
    param("eager_global_ordinals", Check::Bool, Update::Always, "true"),
    param("relations", Check::Relations, Update::Always, "{}"),
    META,
    KEEP,
];

impl FieldType for Join {
    fn name(&self) -> &'static str {
        "join"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn like(&self) -> Option<&'static dyn FieldType> {
        Some(&Keyword)
    }

    fn finish(&self, leaf: &Leaf, field: &mut Field) {
        (field.index, field.doc_values) = (true, true);
        // The parameter has been validated.
        field.relations = Some(Arc::new(Relations::parse(&leaf.param("relations")).unwrap_or_default()));
    }

    fn check(&self, leaf: &Leaf, place: &Location<'_>) -> Result<(), RequestError> {
        if place.is_multi_field {
            let reason = format!("Field [{}] of type [join] can't be used in multifields", place.name());
            return Err(RequestError::illegal_argument(reason));
        }
        place.refuse_copies(leaf)
    }

    fn always_shown(&self) -> &'static [&'static str] {
        &["eager_global_ordinals"]
    }

    /// The source of a relation is always kept as it is.
    fn never_shown(&self) -> &'static [&'static str] {
        &["synthetic_source_keep"]
    }

    fn takes_script(&self) -> bool {
        false
    }

    fn reads(&self) -> Reads {
        Reads::Relation
    }

    fn kept_in(&self, _: &Field) -> KeptIn {
        KeptIn::Nothing
    }
}
