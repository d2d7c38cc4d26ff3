//! Refuses queries that are not supported on keys of flattened fields. Source: Elasticsearch's
//! `KeyedFlattenedFieldType`.

use limber_mapping::{Field, Flattened, RequestError};

/// Refuses a query of this type on a key, as Elasticsearch does.
pub(in crate::query) fn refuse_key(field: &Field, query: &str) -> Result<(), RequestError> {
    if field.flattened != Some(Flattened::Key) {
        return Ok(());
    }
    let reason = format!("[{query}] queries are not currently supported on keyed [flattened] fields.");
    Err(RequestError::bad_request("unsupported_operation_exception", reason))
}
