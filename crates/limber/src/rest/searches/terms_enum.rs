//! `_terms_enum`: terms of a field that begin with a prefix, for completion while the user types.

use limber_engine::{IndicesOptions, Result};
use limber_mapping::{ObjectParser, RequestError};
use limber_search::TermsEnumRequest;
use limber_search::request::read_query;
use serde_json::{Value, json};

use super::search::refused;
use crate::http::pools::PoolName;
use crate::http::request::{Method, Request, parse_time_ms};
use crate::http::response::Response;
use crate::rest::{App, Route};

/// The endpoints of this file (`_terms_enum`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[Route {
    methods: &[Method::Get, Method::Post],
    path: "/{index}/_terms_enum",
    parameters: &[],
    pool: PoolName::Search,
    handler: terms_enum,
}];

/// Default and maximum of `size`. Source: `TermsEnumRequest` (`DEFAULT_SIZE`) and the former default of
/// `search.max_buckets`.
const SIZE_DEFAULT: i64 = 10;
const SIZE_MAX: i64 = 10_000;
const TIMEOUT_MS: u64 = 1_000;

fn terms_enum(app: &App, request: &Request) -> Result<Response> {
    let body = request.json()?.unwrap_or(Value::Null);
    let mut wanted = TermsEnumRequest {
        field: String::new(),
        prefix: String::new(),
        case_insensitive: false,
        search_after: None,
        size: SIZE_DEFAULT as usize,
        index_filter: None,
    };
    let mut timeout_ms = TIMEOUT_MS;
    for (name, value) in body.as_object().into_iter().flatten() {
        match (name.as_str(), value) {
            ("field", Value::String(text)) => wanted.field.clone_from(text),
            ("string", Value::String(text)) => wanted.prefix.clone_from(text),
            ("string" | "search_after", Value::Null) => {}
            ("search_after", Value::String(text)) => wanted.search_after = Some(text.clone()),
            ("case_insensitive", Value::Bool(flag)) => wanted.case_insensitive = *flag,
            ("timeout", Value::String(text)) => timeout_ms = parse_time_ms("timeout", text)?,
            ("size", Value::Number(number)) if number.is_i64() => wanted.size = size(number.as_i64())?,
            ("index_filter", _) => {
                let parsed = read_query(value).map_err(|cause| PARSER.failed("index_filter", cause))?;
                wanted.index_filter = Some(parsed);
            }
            ("field" | "string" | "search_after" | "case_insensitive" | "timeout" | "size", _) => {
                return Err(PARSER.malformed(name));
            }
            _ => return Err(PARSER.unknown(name)),
        }
    }
    if wanted.field.is_empty() {
        return Err(RequestError::validation(["field cannot be null"]));
    }
    let (found, shards) = app
        .node
        .terms_enum(
            request.path("index"),
            IndicesOptions::SEARCH,
            &wanted,
            timeout_ms,
            request.cancelled.clone(),
        )
        .map_err(|error| refused(&error))?;
    let is_complete = !found.timed_out && shards.failed == 0;
    Ok(Response::ok(json!({"_shards": shards.to_json(), "terms": found.terms, "complete": is_complete})))
}

fn size(size: Option<i64>) -> Result<usize> {
    match size {
        Some(size @ 1..=SIZE_MAX) => Ok(size as usize),
        _ => Err(RequestError::validation(["size must be a positive integer between 1 and 10000"])),
    }
}

const PARSER: ObjectParser<'_> = ObjectParser::new("terms_enum_request");
