//! `lookup`: a runtime field that shows values of another index's documents. It has no values of its own.
//!
//! Source: Elasticsearch's `LookupRuntimeFieldType`.

use crate::RequestError;
use crate::field::{DateContext, Field, FieldType, Param, Selection, Wanted};

#[derive(Debug)]
pub(crate) struct Lookup;

impl FieldType for Lookup {
    fn name(&self) -> &'static str {
        "lookup"
    }

    fn params(&self) -> &'static [Param] {
        &[]
    }

    fn select_term(
        &self,
        field: &Field,
        _: &Wanted<'_>,
        _: &DateContext<'_>,
    ) -> Result<Selection, RequestError> {
        Err(not_searched(field))
    }

    fn check_exists(&self, field: &Field) -> Result<(), RequestError> {
        Err(not_searched(field))
    }

    fn is_searchable(&self, _: &Field) -> bool {
        false
    }
}

fn not_searched(field: &Field) -> RequestError {
    let reason = format!("Cannot search on field [{}] since it is a lookup field.", field.path);
    RequestError::illegal_argument(reason)
}
