//! `text`: analysed into terms. Source: Elasticsearch's `TextFieldMapper`.

use serde_json::Value;

use crate::RequestError;
use crate::date::DateFormat;
use crate::field::{
    Cause, Check, DateContext, EAGER_ORDINALS, Field, FieldType, INDEX, KEEP, KeptIn, Leaf, META, Param,
    RangeEnd, Reads, SIMILARITY, STORE, Scalar, Selection, Typed, Update, ValueKind, Wanted, param,
};

#[derive(Debug)]
pub(super) struct Text;

static PARAMS: &[Param] = &[
    INDEX,
    STORE,
    param("index_options", Check::TextIndexOptions, Update::Never, "\"positions\""),
    param("norms", Check::Bool, Update::Off, "true"),
    // Terms are made anew for `_termvectors`: it tells which fields are shown unasked, and what of them.
    param("term_vector", Check::TermVector, Update::Never, "\"no\""),
    param("analyzer", Check::Analyzer, Update::Never, ""),
    param("search_analyzer", Check::Analyzer, Update::Always, ""),
    param("search_quote_analyzer", Check::OnlyDefault, Update::Always, "null"),
    SIMILARITY,
    param("position_increment_gap", Check::Count, Update::Never, "100"),
    EAGER_ORDINALS,
    // Kept and answered by `Mapping::parameter`; whoever aggregates over text must look at it.
    param("fielddata", Check::Bool, Update::Always, "false"),
    param("fielddata_frequency_filter", Check::OnlyDefault, Update::Always, "null"),
    param("index_prefixes", Check::OnlyDefault, Update::Never, "null"),
    param("index_phrases", Check::OnlyDefault, Update::Never, "false"),
    META,
    KEEP,
];

impl FieldType for Text {
    fn name(&self) -> &'static str {
        "text"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn values(&self, _: &Leaf) -> Result<ValueKind, RequestError> {
        Ok(ValueKind::Text)
    }

    fn reads(&self) -> Reads {
        Reads::Text
    }

    fn read<'a>(&self, _: &Field, scalar: Scalar<'a>, _: &'a mut [u8; 16]) -> Result<Typed<'a>, Cause> {
        Ok(Typed::Text(scalar.text()))
    }

    /// A stored text is in the source alone, another one in the column of a keyword beside it.
    fn kept_in(&self, field: &Field) -> KeptIn {
        if field.store { KeptIn::Nothing } else { KeptIn::Keyword }
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

    fn show_source(&self, _: &Field, text: String, _: Option<&DateFormat>) -> Option<Value> {
        Some(text.into())
    }

    fn is_searchable(&self, field: &Field) -> bool {
        field.index
    }

    fn is_aggregatable(&self, _: &Field, has_fielddata: bool) -> bool {
        has_fielddata
    }
}
