//! `_reindex`: copies matching documents to another index.

use limber_engine::{
    ByQueryRequest, Change, CopyDestination, CopyRouting, IndicesOptions, OperationKind, Result, VersionType,
};
use limber_mapping::RequestError;
use limber_search::script::Script;
use limber_search::{SearchRequest, UrlParameters};
use serde_json::{Map, Value};

use super::by_query::{BATCH_SIZE, Shared, run};
use super::{App, Route};
use crate::http::pools::PoolName;
use crate::http::request::{Method, Request};
use crate::http::response::Response;

const PARAMETERS: &[&str] = &[
    "max_docs",
    "refresh",
    "require_alias",
    "requests_per_second",
    "scroll",
    "slices",
    "timeout",
    "wait_for_active_shards",
    "wait_for_completion",
];

pub const ROUTES: &[Route] = &[Route {
    methods: &[Method::Post],
    path: "/_reindex",
    parameters: PARAMETERS,
    pool: PoolName::Generic,
    handler: reindex,
}];

fn reindex(app: &App, request: &Request) -> Result<Response> {
    let mut body = request.json_required()?;
    let indices = parse_indices(body.pointer("/source/index").cloned()).unwrap_or_default();
    app.node.resolve_lookups(&mut body, Some(&indices))?;
    let Value::Object(mut members) = body else {
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
            (other, _) => return Err(unknown("reindex", other)),
        }
    }
    let indices = parse_indices(source.remove("index"))?;
    let destination = parse_destination(dest)?;
    let require_alias = request.flag_or("require_alias", false)?;
    if source.contains_key("remote") {
        return Err(RequestError::unsupported("[remote] in [reindex]"));
    }
    let search = in_source(SearchRequest::parse(&Value::Object(source), &UrlParameters::default()))?;
    shared.check_slicing(&search)?;
    let mut problems = Vec::new();
    if indices.is_empty() {
        problems.push("use _all if you really want to copy from all existing indexes");
    }
    if destination.index.is_empty() {
        problems.push("index must be specified");
    }
    if destination.routing.is_none() {
        problems.push("routing must be unset, [keep], [discard] or [=<some new value>]");
    }
    if !problems.is_empty() {
        return Err(RequestError::validation(problems));
    }
    let change = Change::Copy(CopyDestination {
        index: destination.index,
        kind: destination.kind,
        version_type: destination.version_type,
        routing: destination.routing.unwrap_or_default(),
        require_alias,
    });
    let search = SearchRequest { size: Some(search.size.unwrap_or(BATCH_SIZE)), ..search };
    let by_query = ByQueryRequest {
        script,
        pipeline: destination.pipeline,
        ..shared.request(&indices, IndicesOptions::SEARCH, search, change)
    };
    run(app, request, by_query)
}

/// A name, names with commas, or a list.
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
    /// `None`: in no form that is known.
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
            return Err(if known { failed(&name, None) } else { unknown("dest", &name) });
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
            _ => return Err(unknown("dest", &name)),
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

fn in_source(parsed: Result<SearchRequest>) -> Result<SearchRequest> {
    parsed.map_err(|cause| {
        RequestError::new(400, "x_content_parse_exception", "[reindex] failed to parse field [source]")
            .caused_by(cause)
    })
}

fn unknown(object: &str, name: &str) -> RequestError {
    RequestError::new(400, "x_content_parse_exception", format!("[{object}] unknown field [{name}]"))
}

/// A member of `dest` with a wrong value.
fn failed(name: &str, cause: Option<RequestError>) -> RequestError {
    let inner =
        RequestError::new(400, "x_content_parse_exception", format!("[dest] failed to parse field [{name}]"));
    let inner = match cause {
        Some(cause) => inner.caused_by(cause),
        None => inner,
    };
    RequestError::new(400, "x_content_parse_exception", "[reindex] failed to parse field [dest]")
        .caused_by(inner)
}
