//! `constant_keyword`: all documents have the same value, which is set by the mapping or by the first
//! document. Source: Elasticsearch's `ConstantKeywordFieldMapper`.

use super::keyword::Keyword;
use crate::RequestError;
use crate::field::{
    Check, Field, FieldType, KEEP, Leaf, Location, META, Param, RuntimeScript, Update, param,
};

#[derive(Debug)]
pub(crate) struct ConstantKeyword;

impl FieldType for ConstantKeyword {
    fn name(&self) -> &'static str {
        "constant_keyword"
    }

    fn family(&self) -> &'static str {
        Keyword.name()
    }

    fn params(&self) -> &'static [Param] {
        static PARAMS: &[Param] = &[param("value", Check::Constant, Update::Once, ""), META, KEEP];
        PARAMS
    }

    fn like(&self) -> Option<&'static dyn FieldType> {
        Some(&Keyword)
    }

    fn check(&self, leaf: &Leaf, place: &Location<'_>) -> Result<(), RequestError> {
        if place.is_multi_field {
            let what = format!("[constant_keyword] as multi-field [{}]", place.path);
            return Err(RequestError::unsupported(what));
        }
        place.refuse_copies(leaf)
    }

    fn finish(&self, leaf: &Leaf, field: &mut Field) {
        field.doc_values = true;
        let constant = leaf.param("value").as_str().map(std::sync::Arc::from);
        field.runtime = Some(RuntimeScript { constant: Some(constant), ..RuntimeScript::default() });
    }
}
