//! `_msearch`: many searches in one NDJSON body. A search that fails does not affect the others, but all
//! must be parsed before any runs.

use limber_engine::{IndicesOptions, Placement, Result};
use limber_mapping::RequestError;
use limber_search::{SearchRequest, UrlParameters};
use limber_work::{self as work, Stop};
use serde_json::Value;

use super::point_in_time::check_not_with_point_in_time;
use super::search::{
    ContextIds, beginning, check_clusters, check_hints, check_total_as_int, refused, render,
    without_default_pipeline,
};
use crate::http::pools::PoolName;
use crate::http::positions;
use crate::http::refusal::circuit_breaking;
use crate::http::request::{Method, Request, parse_json};
use crate::http::response::{Response, error_body};
use crate::rest::{App, Route};

/// Parameters of the URL.
pub const PARAMETERS: &[&str] = &[
    "allow_no_indices",
    "ccs_minimize_roundtrips",
    "expand_wildcards",
    "ignore_throttled",
    "ignore_unavailable",
    "include_named_queries_score",
    "max_concurrent_searches",
    "max_concurrent_shard_requests",
    "pre_filter_shard_size",
    "rest_total_hits_as_int",
    "search_type",
    "typed_keys",
    "routing",
];
const BOTH: &[Method] = &[Method::Get, Method::Post];

/// The endpoints of this file (`_msearch`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    Route {
        methods: BOTH,
        path: "/_msearch",
        parameters: PARAMETERS,
        pool: PoolName::Search,
        handler: msearch,
    },
    Route {
        methods: BOTH,
        path: "/{index}/_msearch",
        parameters: PARAMETERS,
        pool: PoolName::Search,
        handler: msearch,
    },
];

/// Maximum number of searches in one request; more are refused.
const SEARCHES_MAX: usize = 10_000;

/// Bytes after a response: a comma and its status.
const STATUS_BYTES: usize = 16;

fn msearch(app: &App, request: &Request) -> Result<Response> {
    run(app, request, |line, header| {
        let parsed = header.search(&parse_json(line)?, line, request);
        Ok(Ok(parsed.map_err(|error| positions::placed(error, line))?))
    })
}

/// Runs the searches and returns their responses. `read` makes the search of a body line; its outer error
/// fails the whole request, the inner one is the response to this search alone.
pub fn run(
    app: &App,
    request: &Request,
    read: impl Fn(&[u8], &Header) -> Result<Result<SearchRequest>>,
) -> Result<Response> {
    if !request.has_body() {
        return Err(RequestError::bad_request("parse_exception", "request body is required"));
    }
    if request.body.last() != Some(&b'\n') {
        return Err(RequestError::illegal_argument(
            "The msearch request must be terminated by a newline [\\n]",
        ));
    }
    if request.number::<i64>("max_concurrent_searches")?.is_some_and(|n| n < 1) {
        return Err(RequestError::illegal_argument("maxConcurrentSearchRequests must be positive"));
    }
    check_hints(request)?;
    let total_as_int = request.flag_or("rest_total_hits_as_int", false)?;
    // A line may be empty, so the lines are counted before there is a list of them.
    if memchr::memchr_iter(b'\n', &request.body).count().div_ceil(2) > SEARCHES_MAX {
        return Err(RequestError::illegal_argument(format!(
            "more than [{SEARCHES_MAX}] searches in one request"
        )));
    }
    let lines: Vec<&[u8]> = request.body.split(|byte| *byte == b'\n').collect();
    let pairs: Vec<&[&[u8]]> = lines[..lines.len() - 1].chunks(2).collect();
    let parsed = parsed(&pairs, request, total_as_int, read)?;
    let started = std::time::Instant::now();
    let mut out = Vec::new();
    // All responses are held until the last one is complete.
    let mut charge = app.node.ledger().request.charge(0, "<msearch>").map_err(|e| circuit_breaking(&e))?;
    for (header, search) in &parsed {
        let search = search.as_ref().map_err(Clone::clone);
        let answer = search.and_then(|search| found(app, request, header, search, total_as_int));
        let answer = answer.and_then(|bytes| {
            charge.grow(bytes.len() as u64, "<msearch>").map_err(|error| circuit_breaking(&error))?;
            Ok(bytes)
        });
        // Errors of shards may each quote a script.
        let answer = answer.map_err(|error| crate::http::json::to_bytes(&error_body(&error), false));
        let bytes = answer.as_ref().map_or_else(Vec::len, Vec::len);
        work::check_growth(out.len(), out.capacity(), bytes + STATUS_BYTES).map_err(stopped)?;
        if !out.is_empty() {
            out.push(b',');
        }
        match answer {
            Ok(bytes) => {
                out.extend_from_slice(&bytes[..bytes.len() - 1]);
                out.extend_from_slice(b",\"status\":200}");
            }
            Err(error) => out.extend_from_slice(&error),
        }
        // Even ten thousand error responses take time to produce.
        check_work()?;
    }
    // From here on the whole response is charged.
    drop(charge);
    let head = format!("{{\"took\":{},\"responses\":[", started.elapsed().as_millis());
    work::check_growth(out.len(), out.capacity(), head.len() + 2).map_err(stopped)?;
    out.splice(..0, head.into_bytes());
    out.extend_from_slice(b"]}");
    Ok(Response::raw(200, out))
}

/// A search, parsed from its two lines, or the response to this search alone.
type Parsed = (Header, Result<SearchRequest>);

/// Parses the lines of the searches. One that is wrong fails the whole request.
fn parsed(
    pairs: &[&[&[u8]]],
    request: &Request,
    total_as_int: bool,
    read: impl Fn(&[u8], &Header) -> Result<Result<SearchRequest>>,
) -> Result<Vec<Parsed>> {
    let mut parsed = Vec::with_capacity(pairs.len());
    for pair in pairs {
        check_work()?;
        let header = Header::parse(pair[0], request)?;
        // A last header without a body is no search.
        let Some(body) = pair.get(1) else { break };
        let body = read(body, &header)?;
        if let Ok(search) = &body {
            search.validate_slice()?;
            let routing = header.routing.as_deref().or(request.param("routing"));
            let (index, preference) = (header.index.as_deref(), header.preference.as_deref());
            check_not_with_point_in_time(search, index, header.options, routing, preference)?;
            if total_as_int {
                check_total_as_int(search)?;
            }
        }
        parsed.push((header, body));
    }
    if parsed.is_empty() {
        return Err(RequestError::validation(["no requests added"]));
    }
    Ok(parsed)
}

/// Runs one search and renders its response.
fn found(
    app: &App,
    request: &Request,
    header: &Header,
    search: &SearchRequest,
    total_as_int: bool,
) -> Result<Vec<u8>> {
    check_clusters(header.index.as_deref().unwrap_or_default())?;
    let (found, _) = app
        .node
        .search(
            header.index.as_deref().unwrap_or("_all"),
            header.options,
            Placement {
                routing: header.routing.as_deref().or(request.param("routing")),
                preference: header.preference.as_deref().or(request.param("preference")),
            },
            search,
            None,
            request.cancelled.clone(),
        )
        .map_err(|error| refused(&error))?;
    let pit_id = search.pit.as_ref().map(|point| point.id.as_str());
    let ids = ContextIds { pit_id, ..ContextIds::default() };
    render(app, &found, ids, total_as_int)
}

/// Fails if the request was stopped.
fn check_work() -> Result<()> {
    work::check_beyond_deadline().map_err(stopped)
}

fn stopped(stop: Stop) -> RequestError {
    stop.into()
}

/// The first line of a search: where it runs.
pub struct Header {
    index: Option<String>,
    options: IndicesOptions,
    routing: Option<String>,
    preference: Option<String>,
    request_cache: Option<bool>,
    allows_partial: Option<bool>,
    search_type: Option<String>,
}

impl Header {
    /// Builds the search from its body line and this header.
    pub fn search(&self, body: &Value, text: &[u8], request: &Request) -> Result<SearchRequest> {
        let mut url: Vec<(String, String)> = Vec::new();
        let search_type = self.search_type.as_deref().or(request.param("search_type"));
        for (name, value) in [
            ("search_type", search_type),
            ("typed_keys", request.param("typed_keys")),
            ("pre_filter_shard_size", request.param("pre_filter_shard_size")),
            ("include_named_queries_score", request.param("include_named_queries_score")),
        ] {
            url.extend(value.map(|value| (name.to_owned(), value.to_owned())));
        }
        for (name, flag) in
            [("request_cache", self.request_cache), ("allow_partial_search_results", self.allows_partial)]
        {
            url.extend(flag.map(|flag| (name.to_owned(), flag.to_string())));
        }
        let mut parsed =
            SearchRequest { text: Some(beginning(text)), ..SearchRequest::parse(body, &UrlParameters(url))? };
        without_default_pipeline(&mut parsed, self.index.as_deref());
        Ok(parsed)
    }

    fn parse(line: &[u8], request: &Request) -> Result<Header> {
        let mut header = Header {
            index: request.param("index").map(str::to_owned),
            options: crate::rest::options::indices_options(request, IndicesOptions::SEARCH)?,
            routing: None,
            preference: None,
            request_cache: None,
            allows_partial: None,
            search_type: None,
        };
        if line.iter().all(u8::is_ascii_whitespace) {
            return Ok(header);
        }
        let value = parse_json(line)?;
        let Some(object) = value.as_object() else {
            return Err(RequestError::illegal_argument("a header line of [_msearch] must be an object"));
        };
        let (mut unavailable, mut no_indices, mut expand) = (None, None, None);
        for (name, value) in object {
            let words = || match value {
                Value::String(text) => text.clone(),
                Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","),
                other => other.to_string(),
            };
            let flag = || value.as_bool().or_else(|| value.as_str().and_then(|text| text.parse().ok()));
            match name.as_str() {
                "index" | "indices" if value.is_null() => {
                    let reason = "Expected a list of strings but got null";
                    return Err(RequestError::bad_request("parse_exception", reason));
                }
                "routing" | "preference" if value.is_null() => {}
                "index" | "indices" => header.index = Some(words()),
                "routing" => header.routing = Some(words()),
                "search_type" | "searchType" => header.search_type = Some(words()),
                "ignore_unavailable" | "ignoreUnavailable" => unavailable = flag(),
                "allow_no_indices" | "allowNoIndices" => no_indices = flag(),
                "expand_wildcards" | "expandWildcards" => expand = Some(words()),
                "preference" => header.preference = Some(words()),
                "request_cache" | "requestCache" => header.request_cache = flag(),
                "allow_partial_search_results" => header.allows_partial = flag(),
                "ccs_minimize_roundtrips" | "ignore_throttled" => {}
                other => {
                    return Err(RequestError::illegal_argument(format!(
                        "key [{other}] is not supported in the metadata section"
                    )));
                }
            }
        }
        header.options = header.options.apply(unavailable, no_indices, expand.as_deref())?;
        Ok(header)
    }
}
