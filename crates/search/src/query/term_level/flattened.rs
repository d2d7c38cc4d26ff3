//! Refuses queries that are not supported on keys of flattened fields, except for those of OpenSearch's
//! `flat_object`. Source: Elasticsearch's `KeyedFlattenedFieldType`.

use limber_mapping::{Field, RequestError};

/// Refuses a query of this type on a key, as Elasticsearch does.
pub(in crate::query) fn refuse_key(field: &Field, query: &str) -> Result<(), RequestError> {
    if !field.is_key_of_terms() {
        return Ok(());
    }
    let reason = format!("[{query}] queries are not currently supported on keyed [flattened] fields.");
    Err(RequestError::bad_request("unsupported_operation_exception", reason))
}
