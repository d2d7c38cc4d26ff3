//! `_source`, `_source_includes`, `_source_excludes` of gets and updates: which part of a document is
//! returned.
//!
//! The filter itself is the one of the search. Source: `FetchSourceContext#parseFromRestRequest`.

use std::borrow::Cow;

use limber_mapping::{claim_parsed, parse_source};
use limber_search::SourceFilter;
use limber_work::Stop;
use serde_json::Value;

use crate::http::json;
use crate::http::request::Request;

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

/// Returns the filtered document, or the document itself if the filter keeps everything.
///
/// # Errors
/// There is not enough memory for its tree.
pub fn apply<'s>(filter: Option<&SourceFilter>, source: &'s [u8]) -> Result<Cow<'s, [u8]>, Stop> {
    apply_by(limber_search::filter_source, filter, source)
}

fn apply_by<'s>(
    apply: fn(&Value, &SourceFilter) -> Result<Value, Stop>,
    filter: Option<&SourceFilter>,
    source: &'s [u8],
) -> Result<Cow<'s, [u8]>, Stop> {
    let Some(filter) = filter.filter(|filter| !filter.is_everything()) else {
        return Ok(Cow::Borrowed(source));
    };
    claim_parsed(source)?;
    let Ok(value) = parse_source(source) else { return Ok(Cow::Borrowed(source)) };
    Ok(Cow::Owned(json::to_bytes_checked(&apply(&value, filter)?, false)?))
}

/// Appends the filtered document to a response.
///
/// # Errors
/// There is not enough memory for it.
pub fn push(out: &mut Vec<u8>, filter: Option<&SourceFilter>, source: &[u8]) -> Result<(), Stop> {
    append(out, &apply(filter, source)?)
}

/// Appends the filtered document of an update, which has parsed it, to a response.
///
/// # Errors
/// There is not enough memory for it.
pub fn push_updated(out: &mut Vec<u8>, filter: Option<&SourceFilter>, source: &[u8]) -> Result<(), Stop> {
    append(out, &apply_by(limber_search::filter_parsed, filter, source)?)
}

fn append(out: &mut Vec<u8>, shown: &[u8]) -> Result<(), Stop> {
    limber_work::check_growth(out.len(), out.capacity(), shown.len())?;
    out.extend_from_slice(shown);
    Ok(())
}

/// Whether the source is returned at all.
pub fn wants_source(filter: Option<&SourceFilter>) -> bool {
    filter.is_none_or(|filter| filter.fetch)
}
