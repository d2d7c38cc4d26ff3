//! `wildcard`: a keyword whose matches all have the same score. Source: Elasticsearch's
//! `WildcardFieldMapper`.

use super::keyword::Keyword;
use crate::field::{
    Check, DOC_VALUES, Field, FieldType, IGNORE_ABOVE, KEEP, Leaf, META, NULL_VALUE, Param, Update, param,
};

#[derive(Debug)]
pub(super) struct Wildcard;

impl FieldType for Wildcard {
    fn name(&self) -> &'static str {
        "wildcard"
    }

    fn family(&self) -> &'static str {
        Keyword.name()
    }

    fn params(&self) -> &'static [Param] {
        // OpenSearch's type has `doc_values` and `normalizer` too. It always has a column here.
        static PARAMS: &[Param] = &[
            DOC_VALUES,
            IGNORE_ABOVE,
            param("normalizer", Check::Normalizer, Update::Never, ""),
            NULL_VALUE,
            META,
            KEEP,
        ];
        PARAMS
    }

    fn like(&self) -> Option<&'static dyn FieldType> {
        Some(&Keyword)
    }

    fn finish(&self, _: &Leaf, field: &mut Field) {
        (field.index, field.doc_values, field.is_wildcard) = (true, true, true);
    }
}
