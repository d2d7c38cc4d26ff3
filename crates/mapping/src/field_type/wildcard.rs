//! `wildcard`: a keyword whose matches all have the same score. Source: Elasticsearch's
//! `WildcardFieldMapper`.

use super::keyword::Keyword;
use crate::field::{Field, FieldType, IGNORE_ABOVE, KEEP, Leaf, META, NULL_VALUE, Param};

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
        &[IGNORE_ABOVE, NULL_VALUE, META, KEEP]
    }

    fn like(&self) -> Option<&'static dyn FieldType> {
        Some(&Keyword)
    }

    fn finish(&self, _: &Leaf, field: &mut Field) {
        (field.index, field.doc_values, field.is_wildcard) = (true, true, true);
    }
}
