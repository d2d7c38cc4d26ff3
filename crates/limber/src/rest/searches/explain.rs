//! `_explain`: does this document match, and how is its score computed?

use limber_engine::{GetRequest, GetResponse, IndicesOptions, Result};
use limber_mapping::RequestError;
use limber_search::{SearchRequest, SearchResponse, SourceFilter, UrlParameters};
use limber_work as work;
use serde_json::{Map, Value, json};

use super::count::{has_query_body, refuse_url_query};
use super::search::{placement, refused};
use crate::http::pools::PoolName;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::documents::source_filter;
use crate::rest::{App, Route};

/// The endpoints of this file (`_explain`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[Route {
    methods: &[Method::Get, Method::Post],
    path: "/{index}/_explain/{id}",
    parameters: &[
        "_source",
        "_source_exclude_vectors",
        "_source_excludes",
        "_source_includes",
        "analyze_wildcard",
        "analyzer",
        "default_operator",
        "df",
        "lenient",
        "preference",
        "q",
        "routing",
        "stored_fields",
    ],
    pool: PoolName::Search,
    handler: explain,
}];

/// URL parameters that define the query; the search parses them too.
const QUERY_PARAMETERS: [&str; 6] =
    ["q", "df", "analyzer", "analyze_wildcard", "default_operator", "lenient"];

/// Returns the search that explains the document `id`.
///
/// # Errors
/// The body has other members than a query, or there is no query.
fn search_for(request: &Request, id: &str) -> Result<Map<String, Value>> {
    let body = request.json()?.unwrap_or(Value::Null);
    let mut search = Map::new();
    for (name, value) in body.as_object().into_iter().flatten() {
        if name != "query" {
            return Err(RequestError::parsing(format!("request does not support [{name}]")));
        }
        search.insert(name.clone(), value.clone());
    }
    if search.is_empty() && request.param("q").is_none() {
        return Err(RequestError::validation(["query is missing"]));
    }
    search.insert("post_filter".into(), json!({"ids": {"values": [id]}}));
    search.insert("explain".into(), true.into());
    search.insert("size".into(), 1.into());
    search.insert("search_pipeline".into(), "_none".into());
    Ok(search)
}

/// Searches for the document, and reads it in the state and from the index in which the search has found it:
/// it may be written, and the index be replaced, at any time.
fn found_with_document(
    app: &App,
    request: &Request,
    search: &SearchRequest,
) -> Result<(SearchResponse, GetResponse)> {
    let (index, id) = (request.path("index"), request.path("id"));
    let look_up = || {
        app.node.get(&GetRequest {
            routing: request.param("routing"),
            realtime: false,
            is_counted: false,
            ..GetRequest::new(index, id)
        })
    };
    let state_of =
        |response: &GetResponse| (response.uuid.clone(), response.found.as_ref().map(|found| found.identity));
    // The errors of the search are told first.
    let mut before = look_up().ok().as_ref().map(state_of);
    loop {
        let cancelled = request.cancelled.clone();
        let (found, _) = app
            .node
            .search(index, IndicesOptions::SEARCH, placement(request), search, None, cancelled)
            .map_err(|error| refused(&error))?;
        let document = look_up()?;
        let now = state_of(&document);
        if before.as_ref() == Some(&now) {
            return Ok((found, document));
        }
        work::check()?;
        before = Some(now);
    }
}

fn explain(app: &App, request: &Request) -> Result<Response> {
    let id = request.path("id");
    if has_query_body(request) || request.param("q").is_none() {
        refuse_url_query(request)?;
    }
    // There are no vectors that could be left out.
    request.flag("_source_exclude_vectors")?;
    let mut search = search_for(request, id)?;
    let stored = request.list("stored_fields");
    if !stored.is_empty() {
        search.insert("stored_fields".into(), json!(stored));
    }
    let url = request.query.iter().filter(|(name, _)| QUERY_PARAMETERS.contains(&name.as_str())).cloned();
    let search = SearchRequest::parse(&Value::Object(search), &UrlParameters(url.collect()))?;
    let (found, document) = found_with_document(app, request, &search)?;
    let mut answer = Map::new();
    answer.insert("_index".into(), (&*document.index).into());
    answer.insert("_id".into(), id.into());
    let explanation = found.hits.first().and_then(|hit| hit.explanation.as_ref());
    answer.insert("matched".into(), explanation.is_some().into());
    let Some(present) = document.found else {
        return Ok(Response::json(404, Value::Object(answer)));
    };
    let explanation = match explanation {
        Some(explanation) => explanation.to_json(),
        None => json!({"value": 0.0, "description": "no matching clause", "details": []}),
    };
    answer.insert("explanation".into(), explanation);
    let filter = match source_filter::from_request(request) {
        // As a stored field, `_source` is the whole document.
        None if stored.iter().any(|name| name == "_source") => {
            Some(SourceFilter { fetch: true, includes: Vec::new(), excludes: Vec::new() })
        }
        filter => filter.filter(|filter| filter.fetch),
    };
    if filter.is_some() || !stored.is_empty() {
        let mut get = json!({
            "_seq_no": present.identity.seq_no,
            "_primary_term": present.identity.primary_term,
            "found": true,
        });
        if let Some(filter) = filter {
            let shown = source_filter::apply(Some(&filter), &present.source)?;
            limber_mapping::claim_parsed(&shown)?;
            get["_source"] = limber_mapping::parse_source(&shown)
                .map_err(|error| RequestError::internal("exception", error.to_string()))?;
        }
        if let Some(fields) = found.hits.first().and_then(|hit| hit.fields.as_deref()) {
            get["fields"] = fields.clone();
        }
        answer.insert("get".into(), get);
    }
    Ok(Response::ok(Value::Object(answer)))
}
