//! Single documents: index, create, get, exists, source, update, delete.

use std::borrow::Cow;

use limber_engine::{
    ActiveCopies, BulkOperation, GetRequest, GetResponse, OperationKind, Result, VersionType, WriteResponse,
    WriteResult,
};
use limber_mapping::RequestError;
use limber_text::url;
use serde_json::json;

use super::bulk::source_member;
use super::bulk_items::{push_json_string, push_outcome, push_update_get};
use super::source_filter;
use crate::http::comments::without_comments;
use crate::http::pools::PoolName;
use crate::http::refusal::circuit_breaking;
use crate::http::request::{Method, Request, without_mark};
use crate::http::response::Response;
use crate::http::status;
use crate::rest::options::{refresh_policy, version_type};
use crate::rest::searches::search::placement;
use crate::rest::{App, Route};
use limber_search::SourceFilter;

const WRITE: &[&str] = &[
    "routing",
    "refresh",
    "timeout",
    "version",
    "version_type",
    "if_seq_no",
    "if_primary_term",
    "op_type",
    "pipeline",
    "wait_for_active_shards",
    "require_alias",
    "require_data_stream",
    "include_source_on_error",
];
const DELETE: &[&str] = &[
    "routing",
    "refresh",
    "timeout",
    "version",
    "version_type",
    "if_seq_no",
    "if_primary_term",
    "wait_for_active_shards",
];
const UPDATE: &[&str] = &[
    "routing",
    "refresh",
    "timeout",
    "if_seq_no",
    "if_primary_term",
    "retry_on_conflict",
    "wait_for_active_shards",
    "require_alias",
    "_source",
    "_source_includes",
    "_source_excludes",
    "_source_exclude_vectors",
    "doc_as_upsert",
    "include_source_on_error",
    "version",
    "version_type",
];
const GET: &[&str] = &[
    "routing",
    "refresh",
    "realtime",
    "preference",
    "version",
    "version_type",
    "_source",
    "_source_includes",
    "_source_excludes",
    "_source_exclude_vectors",
    "force_synthetic_source",
    "fields",
    "stored_fields",
];
/// What `_source` reads: it returns nothing else of a document.
const SOURCE: &[&str] = &[
    "routing",
    "refresh",
    "realtime",
    "preference",
    "_source",
    "_source_includes",
    "_source_excludes",
    "_source_exclude_vectors",
];

const fn route(
    methods: &'static [Method],
    path: &'static str,
    parameters: &'static [&'static str],
    pool: PoolName,
    handler: crate::rest::router::Handler,
) -> Route {
    Route { methods, path, parameters, pool, handler }
}

/// The endpoints of this file (`_doc`, `_create`, `_update`, `_source`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Put, Method::Post], "/{index}/_doc/{id}", WRITE, PoolName::Write, index),
    route(&[Method::Post], "/{index}/_doc", WRITE, PoolName::Write, index),
    route(&[Method::Put, Method::Post], "/{index}/_create/{id}", WRITE, PoolName::Write, create),
    route(&[Method::Post], "/{index}/_update/{id}", UPDATE, PoolName::Write, update),
    route(&[Method::Delete], "/{index}/_doc/{id}", DELETE, PoolName::Write, delete),
    route(&[Method::Get, Method::Head], "/{index}/_doc/{id}", GET, PoolName::Get, get),
    route(&[Method::Get, Method::Head], "/{index}/_source/{id}", SOURCE, PoolName::Get, source),
];

/// Milliseconds that a write waits for active copies, unless the request says otherwise. Source:
/// `ReplicationRequest#DEFAULT_TIMEOUT`.
pub(super) const TIMEOUT_MS: u64 = 60_000;

/// Waits until the shards that the operations go to have as many active copies as the request or the index
/// wants. All operations name the same index.
pub fn await_copies(app: &App, request: &Request, operations: &[BulkOperation<'_>]) -> Result<()> {
    match (active_copies(request)?, operations.first()) {
        (ActiveCopies::Number(0 | 1), _) | (_, None) => Ok(()),
        (copies, Some(first)) => {
            let timeout_ms = request.time_ms("timeout")?.unwrap_or(TIMEOUT_MS);
            app.node.await_active_copies(&first.index, copies, timeout_ms, operations)
        }
    }
}

/// Whether the shards of these indices have as many active copies as the request wants.
pub fn has_copies<'n>(
    app: &App,
    request: &Request,
    mut names: impl Iterator<Item = &'n str>,
) -> Result<bool> {
    let copies = active_copies(request)?;
    Ok(names.all(|name| app.node.await_active_copies(name, copies, 0, &[]).is_ok()))
}

/// Reads `wait_for_active_shards`. Without it the index's setting applies.
pub fn active_copies(request: &Request) -> Result<ActiveCopies> {
    request.param("wait_for_active_shards").map_or(Ok(ActiveCopies::AsSet), ActiveCopies::parse)
}

/// Reads `include_source_on_error`: whether an error may show the document where it cannot be parsed. Errors
/// never show more of it than the value of a field, which Elasticsearch shows in any case.
pub fn check_source_on_error(request: &Request) -> Result<()> {
    request.flag("include_source_on_error").map(drop)
}

fn operation<'a>(request: &'a Request, kind: OperationKind, source: &'a [u8]) -> Result<BulkOperation<'a>> {
    check_source_on_error(request)?;
    let mut operation = BulkOperation::new(kind, request.path("index"), source);
    operation.id = request.param("id").map(Cow::Borrowed);
    // As in Elasticsearch, a write with an empty routing has none.
    operation.routing = request.param("routing").filter(|routing| !routing.is_empty()).map(Cow::Borrowed);
    operation.version_type = version_type(request)?;
    // With internal versions, any version is refused.
    operation.version = match operation.version_type {
        VersionType::Internal => long(request, "version")?.map(i64::unsigned_abs),
        _ => read_version(request)?,
    };
    operation.if_seq_no = not_negative(request, "if_seq_no", |number| {
        format!("sequence numbers must be non negative. got [{number}].")
    })?;
    operation.if_primary_term = not_negative(request, "if_primary_term", |number| {
        format!("primary term must be non negative. got [{number}]")
    })?
    // Elasticsearch's value for "any term".
    .filter(|term| *term != 0);
    operation.require_alias = request.flag_or("require_alias", false)?;
    operation.require_data_stream = request.flag_or("require_data_stream", false)?;
    Ok(operation)
}

/// Reads a parameter that is a 64-bit number.
fn long(request: &Request, name: &str) -> Result<Option<i64>> {
    let Some(text) = request.param(name) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| {
        let reason = format!("Failed to parse long parameter [{name}] with value [{text}]");
        RequestError::illegal_argument(reason).caused_by(RequestError::number_format(text))
    })
}

/// Reads a parameter that is a number from 0 on. `refusal` words the error about another one.
fn not_negative(request: &Request, name: &str, refusal: impl FnOnce(i64) -> String) -> Result<Option<u64>> {
    let Some(number) = long(request, name)? else { return Ok(None) };
    u64::try_from(number).map(Some).map_err(|_| RequestError::illegal_argument(refusal(number)))
}

fn require_body(request: &Request) -> Result<&[u8]> {
    if !request.has_body() {
        return Err(RequestError::bad_request("parse_exception", "request body is required"));
    }
    Ok(&request.body)
}

fn index(app: &App, request: &Request) -> Result<Response> {
    let kind = match request.param("op_type") {
        // A generated id cannot exist yet.
        None if request.param("id").is_none() => OperationKind::Create,
        None | Some("index") => OperationKind::Index,
        Some("create") => OperationKind::Create,
        Some(other) => {
            return Err(RequestError::illegal_argument(format!(
                "opType must be 'create' or 'index', found: [{other}]"
            )));
        }
    };
    write_document(app, request, kind)
}

fn create(app: &App, request: &Request) -> Result<Response> {
    match request.param("op_type") {
        None | Some("create") => write_document(app, request, OperationKind::Create),
        Some(other) => {
            Err(RequestError::illegal_argument(format!("opType must be 'create', found: [{other}]")))
        }
    }
}

fn write_document(app: &App, request: &Request, kind: OperationKind) -> Result<Response> {
    let body = without_mark(require_body(request)?);
    let write = |source: &[u8]| {
        let operation = operation(request, kind, source)?;
        await_copies(app, request, std::slice::from_ref(&operation))?;
        app.node.write(operation, refresh_policy(request)?, request.param("pipeline"))
    };
    // A document with comments cannot be parsed as it is; it is kept without them.
    let response = write(body).or_else(|error| match error.kind {
        "document_parsing_exception" | "json_e_o_f_exception" => match without_comments(body) {
            Some(plain) => write(&plain).map_err(|_| error),
            None => Err(error),
        },
        _ => Err(error),
    })?;
    Ok(located(written(&response), &response, request.param("routing")))
}

/// Adds the header `Location` if the write created a document.
fn located(answer: Response, write: &WriteResponse, routing: Option<&str>) -> Response {
    if write.outcome.result != WriteResult::Created {
        return answer;
    }
    answer.with_header("Location", location_of(&write.index, &write.id, routing))
}

/// Returns the path of a document. Source: `DocWriteResponse#getLocation`.
fn location_of(index: &str, id: &str, routing: Option<&str>) -> String {
    let mut location = "/".to_owned();
    url::push_form_encoded(&mut location, index);
    location.push_str("/_doc/");
    url::push_form_encoded(&mut location, id);
    if let Some(routing) = routing {
        location.push_str("?routing=");
        url::push_form_encoded(&mut location, routing);
    }
    location
}

fn delete(app: &App, request: &Request) -> Result<Response> {
    let operation = operation(request, OperationKind::Delete, &[])?;
    await_copies(app, request, std::slice::from_ref(&operation))?;
    Ok(written(&app.node.write(operation, refresh_policy(request)?, None)?))
}

const VERSIONED_UPDATE: &str = "internal versioning can not be used for optimistic concurrency control. Please use `if_seq_no` and \
     `if_primary_term` instead";

fn update(app: &App, request: &Request) -> Result<Response> {
    let filter = source_filter::from_request(request);
    request.flag("_source_exclude_vectors")?;
    if request.param("version").or(request.param("version_type")).is_some() {
        return Err(RequestError::validation([VERSIONED_UPDATE]));
    }
    if !request.has_body() {
        return Err(RequestError::validation(["script or doc is missing"]));
    }
    let body = &request.body;
    // The only member of the body that may also be in the URL.
    let body = match request.flag("doc_as_upsert")? {
        None => {
            let body = without_mark(body);
            without_comments(body).map_or(Cow::Borrowed(body), Cow::Owned)
        }
        Some(flag) => {
            let mut document = request.json_required()?;
            if let Some(members) = document.as_object_mut() {
                members.insert("doc_as_upsert".to_owned(), flag.into());
            }
            Cow::Owned(crate::http::json::to_bytes(&document, false))
        }
    };
    let mut operation = operation(request, OperationKind::Update, &body)?;
    // As in Elasticsearch, a negative number means no retries.
    let retries: i32 = request.number("retry_on_conflict")?.unwrap_or(0);
    operation.retry_on_conflict = u32::try_from(retries).unwrap_or(0);
    let ledger = app.node.ledger();
    let mut charge = ledger.request.charge(0, "<update>").map_err(|error| circuit_breaking(&error))?;
    let filter = match filter {
        Some(filter) => Some(filter),
        None => source_member(&body, &mut charge)?,
    };
    await_copies(app, request, std::slice::from_ref(&operation))?;
    operation.wants_source = filter.as_ref().is_some_and(|filter| filter.fetch);
    let mut response = app.node.write(operation, refresh_policy(request)?, None)?;
    // As in Elasticsearch, such an update counts no shards here, but does in a bulk.
    if response.outcome.result == WriteResult::Noop {
        (response.outcome.shards_total, response.outcome.shards_successful) = (0, 0);
    }
    let mut out = start(&response.index, &response.id);
    push_outcome(&mut out, &response.outcome);
    if let Some(source) = &response.outcome.source {
        out.extend_from_slice(b",\"get\":");
        push_update_get(&mut out, &response.outcome, source, filter.as_ref())?;
    }
    out.push(b'}');
    let answer = Response::raw(status::of_write(response.outcome.result), out);
    Ok(located(answer, &response, request.param("routing")))
}

fn start(index: &str, id: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    out.extend_from_slice(b"{\"_index\":");
    push_json_string(&mut out, index);
    out.extend_from_slice(b",\"_id\":");
    push_json_string(&mut out, id);
    out
}

fn written(response: &WriteResponse) -> Response {
    let mut out = start(&response.index, &response.id);
    push_outcome(&mut out, &response.outcome);
    out.push(b'}');
    Response::raw(status::of_write(response.outcome.result), out)
}

/// Reads the version that a read expects, which must be one that a document can have.
fn read_version(request: &Request) -> Result<Option<u64>> {
    let Some(version) = long(request, "version")? else { return Ok(None) };
    let kind = version_type(request)?;
    let least = if kind == VersionType::Internal { 1 } else { 0 };
    match u64::try_from(version).ok().filter(|version| *version >= least) {
        Some(version) => Ok(Some(version)),
        None => {
            let kind = request.param("version_type").unwrap_or("internal").to_uppercase();
            let fault = format!("illegal version value [{version}] for version type [{kind}]");
            Err(RequestError::validation([fault]))
        }
    }
}

fn get_request(request: &Request) -> Result<GetRequest<'_>> {
    placement(request).check_for_document()?;
    // There are no vectors that could be left out.
    request.flag("_source_exclude_vectors")?;
    Ok(GetRequest {
        routing: request.param("routing"),
        realtime: request.flag_or("realtime", true)?,
        refresh: request.flag_or("refresh", false)?,
        forces_source: request.flag_or("force_synthetic_source", false)?,
        version: read_version(request)?,
        version_type: version_type(request)?,
        ..GetRequest::new(request.path("index"), request.path("id"))
    })
}

fn get(app: &App, request: &Request) -> Result<Response> {
    if request.param("fields").is_some() {
        return Err(RequestError::illegal_argument(
            "the parameter [fields] is no longer supported, please use [stored_fields] to retrieve stored fields or [_source] to load the \
             field from _source",
        ));
    }
    let filter = source_filter::from_request(request);
    let response = app.node.get(&get_request(request)?)?;
    let status = if response.found.is_some() { 200 } else { 404 };
    let names = request.param("stored_fields").map(|_| request.list("stored_fields"));
    let stored = StoredFields::of(app, &response, names.as_deref())?;
    let mut out = Vec::with_capacity(256);
    push_get(&mut out, &response, filter.as_ref(), stored.as_ref())?;
    Ok(Response::raw(status, out))
}

/// What `stored_fields` asks for of one document.
pub struct StoredFields {
    fields: serde_json::Map<String, serde_json::Value>,
    /// Whether `_source` is among the names.
    with_source: bool,
}

impl StoredFields {
    /// Loads the stored fields. Returns `None` if `stored_fields` is not given. Metadata fields are shown in
    /// any case.
    pub fn of(app: &App, response: &GetResponse, names: Option<&[String]>) -> Result<Option<StoredFields>> {
        let Some(names) = names else { return Ok(None) };
        let mut stored = StoredFields {
            fields: serde_json::Map::new(),
            with_source: names.iter().any(|name| name == "_source"),
        };
        if let Some(found) = &response.found
            && names.iter().any(|name| !name.starts_with('_'))
            && let Some(kept) = [&found.stored, &found.source].into_iter().find(|kept| !kept.is_empty())
        {
            let mapping = app.node.mapping_of(response)?;
            limber_mapping::claim_parsed(kept)?;
            let source = limber_mapping::parse_source(kept)
                .map_err(|error| RequestError::internal("exception", error.to_string()))?;
            stored.fields = limber_search::stored_values(&mapping, &source, names)
                .map_err(|error| error.to_request_error())?;
        }
        Ok(Some(stored))
    }
}

/// Appends one document of a get or mget response.
///
/// # Errors
/// There is not enough memory for its source; `out` ends anywhere then.
pub fn push_get(
    out: &mut Vec<u8>,
    response: &GetResponse,
    filter: Option<&SourceFilter>,
    stored: Option<&StoredFields>,
) -> Result<()> {
    out.extend_from_slice(&start(&response.index, &response.id));
    match &response.found {
        None => out.extend_from_slice(b",\"found\":false"),
        Some(found) => {
            let text = format!(
                ",\"_version\":{},\"_seq_no\":{},\"_primary_term\":{}",
                found.identity.version, found.identity.seq_no, found.identity.primary_term
            );
            out.extend_from_slice(text.as_bytes());
            if let Some(routing) = &found.routing {
                out.extend_from_slice(b",\"_routing\":");
                push_json_string(out, routing);
            }
            out.extend_from_slice(b",\"found\":true");
            let wants_source = match (filter, stored) {
                (None, Some(stored)) => stored.with_source,
                (filter, _) => source_filter::wants_source(filter),
            };
            if wants_source && !found.source.is_empty() {
                out.extend_from_slice(b",\"_source\":");
                source_filter::push(out, filter, &found.source)?;
            }
            if let Some(stored) = stored.filter(|stored| !stored.fields.is_empty()) {
                out.extend_from_slice(b",\"fields\":");
                let fields = serde_json::Value::Object(stored.fields.clone());
                out.extend_from_slice(&crate::http::json::to_bytes(&fields, false));
            }
        }
    }
    out.push(b'}');
    Ok(())
}

fn source(app: &App, request: &Request) -> Result<Response> {
    let filter = source_filter::from_request(request);
    if !source_filter::wants_source(filter.as_ref()) {
        return Err(RequestError::validation(["fetching source can not be disabled"]));
    }
    let response = app.node.get(&get_request(request)?)?;
    match response.found {
        Some(found) if found.source.is_empty() => Err(RequestError::not_found(
            "resource_not_found_exception",
            format!("Source not found [{}]/[{}]", response.index, response.id),
        )),
        Some(found) => {
            let filtered = match source_filter::apply(filter.as_ref(), &found.source)? {
                Cow::Owned(filtered) => Some(filtered),
                Cow::Borrowed(_) => None,
            };
            Ok(Response::raw(200, filtered.unwrap_or(found.source)))
        }
        None => Err(RequestError::not_found(
            "resource_not_found_exception",
            format!("Document not found [{}]/[{}]", response.index, response.id),
        )),
    }
}

/// Returns an mget item that failed, with `_index`, `_id` and the error.
pub fn error_item(index: &str, id: &str, error: &RequestError) -> serde_json::Value {
    let mut body = error.to_json();
    if let Some(object) = body.as_object_mut() {
        let mut root = object.clone();
        root.shift_remove("caused_by");
        object.shift_insert(0, "root_cause".into(), json!([root]));
    }
    json!({"_index": index, "_id": id, "error": body})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_those_of_elasticsearch() {
        assert_eq!(location_of("i", "1", None), "/i/_doc/1");
        assert_eq!(location_of("my-index", "a b/*~", Some("r 1")), "/my-index/_doc/a+b%2F*%7E?routing=r+1");
    }
}
