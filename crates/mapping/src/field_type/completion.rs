//! `completion`: strings that a suggester finds by prefix. Source: Elasticsearch's `CompletionFieldMapper`.

use std::sync::Arc;

use crate::RequestError;
use crate::field::completion::Completion as Completions;
use crate::field::{
    Check, Field, FieldType, KEEP, KeptIn, Leaf, META, Param, Reads, Update, ValueKind, param,
};

#[derive(Debug)]
pub(super) struct Completion;

static PARAMS: &[Param] = &[
    param("analyzer", Check::Analyzer, Update::Never, "\"simple\""),
    param("search_analyzer", Check::Analyzer, Update::Always, ""),
    param("preserve_separators", Check::Bool, Update::Never, "true"),
    param("preserve_position_increments", Check::Bool, Update::Never, "true"),
    param("max_input_length", Check::Count, Update::Always, "50"),
    param("contexts", Check::Contexts, Update::Never, "null"),
    META,
    KEEP,
];

impl FieldType for Completion {
    fn name(&self) -> &'static str {
        "completion"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn values(&self, _: &Leaf) -> Result<ValueKind, RequestError> {
        Ok(ValueKind::Bytes)
    }

    fn finish(&self, leaf: &Leaf, field: &mut Field) {
        field.index = true;
        field.completion = Some(Arc::new(Completions {
            preserve_separators: leaf.flag("preserve_separators"),
            preserve_position_increments: leaf.flag("preserve_position_increments"),
            input_length_max: leaf.param("max_input_length").as_u64().unwrap_or(50) as usize,
            // The parameter has been validated.
            contexts: Completions::parse_contexts(&leaf.param("contexts")).unwrap_or_default(),
        }));
    }

    fn always_shown(&self) -> &'static [&'static str] {
        &["analyzer", "preserve_separators", "preserve_position_increments", "max_input_length"]
    }

    fn reads(&self) -> Reads {
        Reads::Inputs
    }

    fn kept_in(&self, _: &Field) -> KeptIn {
        KeptIn::Nothing
    }

    fn is_searchable(&self, _: &Field) -> bool {
        true
    }

    fn is_aggregatable(&self, _: &Field, _: bool) -> bool {
        false
    }
}
