//! `binary`: Base64 in JSON, bytes in the column. Source: Elasticsearch's `BinaryFieldMapper`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;

use crate::RequestError;
use crate::date::DateFormat;
use crate::field::{
    Check, DateContext, Field, FieldType, KEEP, KeptIn, Leaf, Location, META, Param, Reads, STORE, Selection,
    Update, ValueKind, Wanted, param,
};

#[derive(Debug)]
pub(super) struct Binary;

static PARAMS: &[Param] = &[STORE, param("doc_values", Check::Bool, Update::Never, "false"), META, KEEP];

impl FieldType for Binary {
    fn name(&self) -> &'static str {
        "binary"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn values(&self, _: &Leaf) -> Result<ValueKind, RequestError> {
        Ok(ValueKind::Bytes)
    }

    fn check(&self, leaf: &Leaf, place: &Location<'_>) -> Result<(), RequestError> {
        place.refuse_copies(leaf)
    }

    fn reads(&self) -> Reads {
        Reads::Bytes
    }

    fn kept_in(&self, _: &Field) -> KeptIn {
        KeptIn::Sorted
    }

    fn select_term(&self, _: &Field, _: &Wanted<'_>, _: &DateContext<'_>) -> Result<Selection, RequestError> {
        Err(RequestError::illegal_argument("Binary fields do not support searching"))
    }

    fn decode_term(&self, term: &[u8]) -> String {
        BASE64.encode(term)
    }

    fn show_source(&self, _: &Field, text: String, _: Option<&DateFormat>) -> Option<Value> {
        Some(text.into())
    }

    fn check_sortable(&self, field: &Field) -> Result<(), RequestError> {
        Err(RequestError::unsupported(format!(
            "a sort or aggregation on field [{}] of type [binary]",
            field.path
        )))
    }

    fn is_searchable(&self, _: &Field) -> bool {
        false
    }
}
