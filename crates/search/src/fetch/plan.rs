//! Which parts of a document are fetched, decided once per request.

use crate::request::{SearchRequest, StoredFields};
use crate::source::SourceFilter;

pub(super) struct Plan {
    pub id: bool,
    pub source: SourceFilter,
}

impl Plan {
    /// Decides which parts of each hit the request shows.
    pub fn of(request: &SearchRequest) -> Plan {
        let source = match (&request.source, &request.stored_fields) {
            (Some(filter), _) => filter.clone(),
            (None, Some(StoredFields::Names(names))) if names.iter().any(|name| name == "_source") => {
                SourceFilter::default()
            }
            (None, Some(_)) => SourceFilter::none(),
            (None, None) if !request.script_fields.is_empty() => SourceFilter::none(),
            (None, None) => SourceFilter::default(),
        };
        Plan { id: request.stored_fields != Some(StoredFields::None), source }
    }
}
