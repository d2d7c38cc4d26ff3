//! `keyword`: a whole string as one term. Source: Elasticsearch's `KeywordFieldMapper`.

use serde_json::Value;

use crate::RequestError;
use crate::date::DateFormat;
use crate::field::{
    BOOST, Cause, Check, DIMENSION, DOC_VALUES, DateContext, Dimension, EAGER_ORDINALS, Field, FieldType,
    IGNORE_ABOVE, INDEX, KEEP, KEYWORD_INDEX_OPTIONS, KeptIn, Leaf, META, NULL_VALUE, ON_SCRIPT_ERROR, Param,
    RangeEnd, Reads, SCRIPT, SIMILARITY, SPLITS_QUERIES, STORE, Scalar, Selection, Typed, Update, ValueKind,
    Wanted, param,
};

#[derive(Debug)]
pub(crate) struct Keyword;

static PARAMS: &[Param] = &[
    INDEX,
    DOC_VALUES,
    STORE,
    NULL_VALUE,
    EAGER_ORDINALS,
    IGNORE_ABOVE,
    KEYWORD_INDEX_OPTIONS,
    param("norms", Check::Bool, Update::Off, "false"),
    SIMILARITY,
    param("normalizer", Check::Normalizer, Update::Never, "null"),
    SPLITS_QUERIES,
    SCRIPT,
    ON_SCRIPT_ERROR,
    BOOST,
    META,
    DIMENSION,
    KEEP,
];

impl FieldType for Keyword {
    fn name(&self) -> &'static str {
        "keyword"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn values(&self, _: &Leaf) -> Result<ValueKind, RequestError> {
        Ok(ValueKind::Keyword)
    }

    fn dimension(&self) -> Dimension {
        Dimension::Allowed
    }

    fn runtime_params(&self) -> Option<&'static [&'static str]> {
        Some(&[])
    }

    fn kept_in(&self, field: &Field) -> KeptIn {
        match (field.store, field.doc_values) {
            // What is stored has the order of the document, and duplicates.
            (true, _) => KeptIn::Shown,
            (false, true) => KeptIn::Column,
            (false, false) => KeptIn::Nothing,
        }
    }

    fn reads(&self) -> Reads {
        Reads::Keyword
    }

    fn read<'a>(&self, _: &Field, scalar: Scalar<'a>, _: &'a mut [u8; 16]) -> Result<Typed<'a>, Cause> {
        Ok(Typed::Term(scalar.text().as_bytes()))
    }

    fn select_term(
        &self,
        field: &Field,
        wanted: &Wanted<'_>,
        _: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        Ok(Selection::Term(field.normalize(wanted.text).as_bytes().to_vec()))
    }

    fn select_range(
        &self,
        field: &Field,
        lower: Option<RangeEnd<'_>>,
        upper: Option<RangeEnd<'_>>,
        _: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        field.select_texts(lower, upper)
    }

    fn show_source(&self, field: &Field, text: String, _: Option<&DateFormat>) -> Option<Value> {
        let limit = field.ignore_above.unwrap_or(u32::MAX) as usize;
        let is_kept = text.len() <= limit || text.encode_utf16().count() <= limit;
        is_kept.then(|| field.normalize(&text).into_owned().into())
    }

    fn sorts_indices(&self) -> bool {
        true
    }

    fn collapses(&self) -> bool {
        true
    }
}
