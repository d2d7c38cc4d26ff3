//! `_reindex`: copies matching documents to another index.

use std::sync::Arc;

use limber_engine::{
    BatchSource, ByQueryRequest, Change, CopyDestination, CopyRouting, IndicesOptions, OperationKind, Result,
    Slices, VersionType,
};
use limber_mapping::{ObjectParser, RequestError};
use limber_script::Script;
use limber_search::{SearchRequest, UrlParameters};
use limber_work as work;
use serde_json::{Map, Value, json};

use super::by_query::{BATCH_SIZE, Shared, run};
use crate::http::pools::PoolName;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::remote::{RemoteHost, RemoteSearch, RemoteSource};
use crate::rest::{App, Route};

const PARAMETERS: &[&str] = &[
    "max_docs",
    "pipeline",
    "refresh",
    "require_alias",
    "requests_per_second",
    "scroll",
    "slices",
    "timeout",
    "wait_for_active_shards",
    "wait_for_completion",
];

/// The endpoints of this file (`_reindex`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[Route {
    methods: &[Method::Post],
    path: "/_reindex",
    parameters: PARAMETERS,
    pool: PoolName::Generic,
    handler: reindex,
}];

const REINDEX: ObjectParser<'_> = ObjectParser::new("reindex");

fn reindex(app: &App, request: &Request) -> Result<Response> {
    if request.param("pipeline").is_some() {
        return Err(RequestError::illegal_argument(
            "_reindex doesn't support [pipeline] as a query parameter. Specify it in the [dest] object instead.",
        ));
    }
    let Value::Object(mut members) = request.json_required()? else {
        return Err(RequestError::parsing("Expected [START_OBJECT]"));
    };
    let mut shared = Shared::from_url(request)?;
    shared.take_from(&mut members)?;
    let (mut source, mut dest) = (Map::new(), Map::new());
    let mut script = None;
    for (name, value) in members {
        match (name.as_str(), value) {
            ("source", Value::Object(object)) => source = object,
            ("dest", Value::Object(object)) => dest = object,
            ("script", value) => script = Some(Script::parse(&value)?),
            (name @ ("source" | "dest"), value) => return Err(REINDEX.unsupported(name, &value)),
            (other, _) => return Err(REINDEX.unknown(other)),
        }
    }
    let indices = parse_indices(source.remove("index"))?;
    let destination = parse_destination(dest)?;
    let require_alias = request.flag_or("require_alias", false)?;
    if source.contains_key("sort") {
        work::warn(
            "The sort option in reindex is deprecated. Instead consider using query filtering to find the desired subset of data.",
        );
    }
    let has_no_source = source.get("_source") == Some(&Value::Bool(false));
    let remote = match source.shift_remove("remote") {
        None => None,
        Some(remote) => Some(in_source(parse_remote(remote, &mut source, &indices, request))?),
    };
    let search = in_source(SearchRequest::parse(&Value::Object(source), &UrlParameters::default()))?;
    shared.check_slicing(&search)?;
    check_request(&indices, &destination, remote.is_some(), shared.slices, has_no_source)?;
    let change = Change::Copy(CopyDestination {
        made: None,
        index: destination.index,
        kind: destination.kind,
        version_type: destination.version_type,
        routing: destination.routing.unwrap_or_default(),
        require_alias,
        is_own: false,
    });
    let search = SearchRequest { size: Some(search.size.unwrap_or(BATCH_SIZE)), ..search };
    let remote = match remote {
        None => None,
        Some((host, search)) => {
            let pool = app.node.ledger().request.clone();
            let source: Arc<dyn BatchSource> =
                Arc::new(RemoteSource::new(host, search, &app.config.remote, pool)?);
            Some(source)
        }
    };
    let by_query = ByQueryRequest {
        remote,
        script,
        pipeline: destination.pipeline,
        ..shared.request(&indices, IndicesOptions::SEARCH, search, change)
    };
    run(app, request, by_query)
}

/// Checks the request as a whole. One error names all problems.
fn check_request(
    indices: &str,
    destination: &Destination,
    is_remote: bool,
    slices: Slices,
    has_no_source: bool,
) -> Result<()> {
    let mut problems = Vec::new();
    if has_no_source {
        problems.push("_source:false is not supported in this context".to_owned());
    }
    if indices.is_empty() {
        problems.push("use _all if you really want to copy from all existing indexes".to_owned());
    }
    if destination.index.is_empty() {
        problems.push("index must be specified".to_owned());
    }
    if destination.routing.is_none() {
        problems.push("routing must be unset, [keep], [discard] or [=<some new value>]".to_owned());
    }
    if is_remote && slices != Slices::Number(1) {
        // Elasticsearch encodes "auto" as 0.
        let asked = if let Slices::Number(number) = slices { number } else { 0 };
        problems.push(format!("reindex from remote sources doesn't support slices > 1 but was [{asked}]"));
    }
    if problems.is_empty() { Ok(()) } else { Err(RequestError::validation(problems)) }
}

/// Removes the members of `source` that describe the remote server's search. The rest is parsed like a local
/// search.
fn parse_remote(
    remote: Value,
    source: &mut Map<String, Value>,
    indices: &str,
    request: &Request,
) -> Result<(RemoteHost, RemoteSearch)> {
    let host = RemoteHost::parse(remote)?;
    let query = match source.shift_remove("query") {
        None | Some(Value::Null) => json!({"match_all": {}}),
        Some(query @ Value::Object(_)) => query,
        Some(other) => {
            let reason = format!("Expected [query] to be an object but was [{other}]");
            return Err(RequestError::illegal_argument(reason));
        }
    };
    if source.contains_key("slice") {
        return Err(RequestError::unsupported("[slice] of a remote source in [reindex]"));
    }
    let fields = source.shift_remove("_source");
    let sort = source.shift_remove("sort").map(|sort| sort_of_url(&sort)).transpose()?.flatten();
    if let Some(other) = source.keys().find(|key| *key != "size") {
        return Err(RequestError::unsupported(format_args!("[{other}] of a remote source in [reindex]")));
    }
    let keep_alive_ms = request.time_ms("scroll")?;
    Ok((host, RemoteSearch { indices: indices.to_owned(), query, source: fields, sort, keep_alive_ms }))
}

/// Converts a sort to the form in the URL of a search. `None` if it is empty. Source:
/// `RemoteRequestBuilders#sortToUri`.
fn sort_of_url(sort: &Value) -> Result<Option<String>> {
    let unsupported = || RequestError::illegal_argument(format!("Unsupported sort [{sort}]"));
    let one = |entry: &Value| -> Result<String> {
        match entry {
            Value::String(field) => Ok(field.clone()),
            Value::Object(entry) if entry.len() == 1 => {
                let (field, order) = entry.iter().next().ok_or_else(unsupported)?;
                let order = match order {
                    Value::Object(options) if options.len() == 1 => {
                        options.get("order").ok_or_else(unsupported)?
                    }
                    other => other,
                };
                match order.as_str() {
                    Some(order @ ("asc" | "desc")) => Ok(format!("{field}:{order}")),
                    _ => Err(unsupported()),
                }
            }
            _ => Err(unsupported()),
        }
    };
    let parts: Vec<String> = match sort {
        Value::Array(entries) => entries.iter().map(one).collect::<Result<_>>()?,
        other => vec![one(other)?],
    };
    Ok((!parts.is_empty()).then(|| parts.join(",")))
}

/// Reads index names: one string, which may contain commas, or a list.
fn parse_indices(value: Option<Value>) -> Result<String> {
    match value {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(names)) => Ok(names),
        Some(Value::Array(items)) => {
            let names: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            let names = names
                .ok_or_else(|| RequestError::illegal_argument("Expected [index] to be a list of strings"))?;
            Ok(names.join(","))
        }
        Some(_) => Err(RequestError::illegal_argument("Expected [index] to be a list of strings")),
    }
}

struct Destination {
    /// Empty when the request names none.
    index: String,
    kind: OperationKind,
    version_type: VersionType,
    /// `None` if the routing has an unknown form.
    routing: Option<CopyRouting>,
    pipeline: Option<String>,
}

fn parse_destination(members: Map<String, Value>) -> Result<Destination> {
    let mut destination = Destination {
        index: String::new(),
        kind: OperationKind::Index,
        version_type: VersionType::Internal,
        routing: Some(CopyRouting::Keep),
        pipeline: None,
    };
    for (name, value) in members {
        let known = ["index", "op_type", "version_type", "routing", "pipeline"].contains(&name.as_str());
        let Value::String(text) = value else {
            return Err(if known { failed(&name, None) } else { unknown(&name) });
        };
        match name.as_str() {
            "index" => destination.index = text,
            "pipeline" => destination.pipeline = Some(text),
            "routing" => destination.routing = parse_routing(&text),
            "version_type" => {
                destination.version_type =
                    VersionType::parse(&text).map_err(|error| failed(&name, Some(error)))?;
            }
            "op_type" => {
                destination.kind = match text.as_str() {
                    "index" => OperationKind::Index,
                    "create" => OperationKind::Create,
                    other => {
                        let reason = format!("opType must be 'create' or 'index', found: [{other}]");
                        return Err(failed(&name, Some(RequestError::illegal_argument(reason))));
                    }
                }
            }
            _ => return Err(unknown(&name)),
        }
    }
    Ok(destination)
}

fn parse_routing(text: &str) -> Option<CopyRouting> {
    match text {
        "keep" => Some(CopyRouting::Keep),
        "discard" => Some(CopyRouting::Discard),
        other => other.strip_prefix('=').map(|value| CopyRouting::Set(value.to_owned())),
    }
}

fn in_source<T>(parsed: Result<T>) -> Result<T> {
    parsed.map_err(|cause| ObjectParser::new("reindex").malformed("source").caused_by(cause))
}

/// Returns the error about an unknown member of `dest`.
fn unknown(name: &str) -> RequestError {
    REINDEX.failed("dest", ObjectParser::new("dest").unknown(name))
}

/// Returns the error about a member of `dest` with a wrong value.
fn failed(name: &str, cause: Option<RequestError>) -> RequestError {
    let inner = ObjectParser::new("dest").malformed(name);
    let inner = match cause {
        Some(cause) => inner.caused_by(cause),
        None => inner,
    };
    ObjectParser::new("reindex").malformed("dest").caused_by(inner)
}
