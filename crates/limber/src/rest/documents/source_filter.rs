//! `_source`, `_source_includes`, `_source_excludes` of gets and updates: which part of a document is
//! returned.
//!
//! The filter itself is the one of the search. Source: `FetchSourceContext#parseFromRestRequest`.

use limber_search::SourceFilter;

use crate::http::json;
use crate::http::request::{Request, parse_json};

/// Reads the filter in the URL. `None` if the request says nothing about the source.
pub fn from_request(request: &Request) -> Option<SourceFilter> {
    let mut includes = request.list("_source_includes");
    let excludes = request.list("_source_excludes");
    let mut fetch = true;
    match request.param("_source") {
        None if includes.is_empty() && excludes.is_empty() => return None,
        None | Some("" | "true") => {}
        Some("false") => fetch = false,
        Some(_) => includes.extend(request.list("_source")),
    }
    Some(SourceFilter { fetch, includes, excludes })
}

/// Returns the filtered document, or `None` if the filter keeps everything.
pub fn apply(filter: Option<&SourceFilter>, source: &[u8]) -> Option<Vec<u8>> {
    let filter = filter.filter(|filter| !filter.is_everything())?;
    let value = parse_json(source).ok()?;
    Some(json::to_bytes(&limber_search::filter_source(&value, filter), false))
}

/// Whether the source is returned at all.
pub fn wants_source(filter: Option<&SourceFilter>) -> bool {
    filter.is_none_or(|filter| filter.fetch)
}
