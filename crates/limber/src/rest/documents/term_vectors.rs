//! `_termvectors` and `_mtermvectors`: the terms of documents, with their frequencies.

use std::time::Instant;

use limber_engine::Result;
use limber_mapping::{ErrorClass, RequestError};
use limber_search::TermVectorsRequest;
use serde_json::{Map, Value, json};

use super::document::error_item;
use crate::http::pools::PoolName;
use crate::http::refusal::circuit_breaking;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::options::version_type;
use crate::rest::router::Handler;
use crate::rest::searches::search::placement;
use crate::rest::{App, Route};

const MANY_PARAMETERS: &[&str] = &[
    "ids",
    "fields",
    "offsets",
    "positions",
    "payloads",
    "term_statistics",
    "field_statistics",
    "routing",
    "preference",
    "realtime",
    "version",
    "version_type",
];

/// All parameters except `ids`.
const PARAMETERS: &[&str] = MANY_PARAMETERS.split_at(1).1;

const fn route(path: &'static str, parameters: &'static [&'static str], handler: Handler) -> Route {
    Route { methods: &[Method::Get, Method::Post], path, parameters, pool: PoolName::Search, handler }
}

/// The endpoints of this file (`_termvectors`, `_mtermvectors`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route("/{index}/_termvectors", PARAMETERS, one),
    route("/{index}/_termvectors/{id}", PARAMETERS, one),
    route("/_mtermvectors", MANY_PARAMETERS, many),
    route("/{index}/_mtermvectors", MANY_PARAMETERS, many),
];

/// Maximum number of documents in one request.
const DOCUMENTS_MAX: usize = 10_000;

fn one(app: &App, request: &Request) -> Result<Response> {
    placement(request).check_for_document()?;
    let mut wanted = from_url(request)?;
    wanted.id = request.param("id").map(str::to_owned);
    if let Some(body) = request.json()? {
        wanted.read(object(&body)?)?;
    }
    if wanted.id.is_none() && wanted.document.is_none() {
        return Err(invalid("1: id or doc is missing;"));
    }
    let realtime = request.flag_or("realtime", true)?;
    let index = wanted.index.as_deref().unwrap_or(request.path("index"));
    Ok(Response::ok(answer(app, request, index, &wanted, realtime)?))
}

fn many(app: &App, request: &Request) -> Result<Response> {
    placement(request).check_for_document()?;
    let wanted = documents(request)?;
    let realtime = request.flag_or("realtime", true)?;
    let mut charge =
        app.node.ledger().request.charge(0, "<mtermvectors>").map_err(|error| circuit_breaking(&error))?;
    let mut shown = Vec::with_capacity(wanted.len());
    for wanted in &wanted {
        let index = wanted.index.as_deref().or(request.param("index")).unwrap_or_default();
        let item = match answer(app, request, index, wanted, realtime) {
            Ok(item) => item,
            Err(error) if error.class == ErrorClass::TooManyRequests => return Err(error),
            Err(error) => error_item(index, wanted.id.as_deref().unwrap_or_default(), &error),
        };
        // Four times the item's length is an estimate for its JSON tree and the string of the response.
        let bytes = item.to_string().len() as u64;
        charge.grow(bytes * 4, "<mtermvectors>").map_err(|error| circuit_breaking(&error))?;
        shown.push(item);
    }
    Ok(Response::ok(json!({ "docs": shown })))
}

fn answer(
    app: &App,
    request: &Request,
    index: &str,
    wanted: &TermVectorsRequest,
    realtime: bool,
) -> Result<Value> {
    let started = Instant::now();
    let found = app.node.term_vectors(index, wanted, realtime, request.cancelled.clone())?;
    let mut out = Map::new();
    out.insert("_index".into(), (&*found.index).into());
    if let Some(id) = &wanted.id {
        out.insert("_id".into(), id.as_str().into());
    }
    out.insert("_version".into(), found.version.into());
    out.insert("found".into(), found.vectors.is_some().into());
    out.insert("took".into(), (started.elapsed().as_millis() as u64).into());
    if let Some(vectors) = found.vectors {
        out.insert("term_vectors".into(), vectors.into());
    }
    Ok(out.into())
}

/// Reads what the URL says about all documents.
fn from_url(request: &Request) -> Result<TermVectorsRequest> {
    let mut wanted = TermVectorsRequest::default();
    if request.param("fields").is_some() {
        wanted.set_fields(request.list("fields").iter().map(|name| name.to_string()).collect())?;
    }
    wanted.offsets = request.flag_or("offsets", true)?;
    wanted.positions = request.flag_or("positions", true)?;
    wanted.payloads = request.flag_or("payloads", true)?;
    wanted.term_statistics = request.flag_or("term_statistics", false)?;
    wanted.field_statistics = request.flag_or("field_statistics", true)?;
    wanted.routing = request.param("routing").map(str::to_owned);
    version_type(request)?;
    wanted.version = match request.param("version") {
        None => None,
        Some(text) => Some(text.parse().map_err(|_| {
            RequestError::illegal_argument(format!(
                "Failed to parse long parameter [version] with value [{text}]"
            ))
            .caused_by(RequestError::number_format(text))
        })?),
    };
    Ok(wanted)
}

fn documents(request: &Request) -> Result<Vec<TermVectorsRequest>> {
    let mut common = from_url(request)?;
    let body = request.json()?.unwrap_or_else(|| json!({}));
    let body = object(&body)?;
    if let Some(Value::Object(parameters)) = body.get("parameters") {
        common.read(parameters)?;
    }
    let of_id = |id: String| TermVectorsRequest { id: Some(id), ..common.clone() };
    let mut wanted: Vec<TermVectorsRequest> =
        request.list("ids").iter().map(|id| of_id(id.to_string())).collect();
    for (name, value) in body {
        let list = value.as_array();
        match (name.as_str(), list) {
            ("parameters", _) if value.is_object() => {}
            ("docs" | "ids", Some(list)) if list.len() > DOCUMENTS_MAX => {
                return Err(RequestError::illegal_argument(format!(
                    "more than [{DOCUMENTS_MAX}] documents in one request"
                )));
            }
            ("docs", Some(list)) => {
                for document in list {
                    // Each document has a copy of the common parameters.
                    limber_work::check()?;
                    let Value::Object(members) = document else {
                        return Err(RequestError::illegal_argument(
                            "docs array element should include an object",
                        ));
                    };
                    let mut one = common.clone();
                    one.read(members)?;
                    wanted.push(one);
                }
            }
            ("ids", Some(list)) => {
                for id in list {
                    limber_work::check()?;
                    let id = match id {
                        Value::String(text) => text.clone(),
                        Value::Number(number) => number.to_string(),
                        Value::Bool(flag) => flag.to_string(),
                        _ => {
                            let reason = "ids array element should only contain ids";
                            return Err(RequestError::illegal_argument(reason));
                        }
                    };
                    wanted.push(of_id(id));
                }
            }
            _ => {
                let reason = match value {
                    Value::Array(_) => format!("no parameter named [{name}] and type ARRAY"),
                    Value::Object(_) => format!("no parameter named [{name}] and type OBJECT"),
                    _ => format!("_mtermvectors: Parameter [{name}] not supported"),
                };
                return Err(RequestError::bad_request("parse_exception", reason));
            }
        }
    }
    if wanted.is_empty() {
        return Err(invalid("1: multi term vectors: no documents requested;"));
    }
    check_are_complete(&wanted, request)?;
    Ok(wanted)
}

/// Fails if an index or a document is missing. As in Elasticsearch, the error is about the last request of
/// which something is missing.
fn check_are_complete(wanted: &[TermVectorsRequest], request: &Request) -> Result<()> {
    let mut problem = None;
    for (place, one) in wanted.iter().enumerate() {
        let has_index = one.index.is_some() || request.param("index").is_some();
        let has_document = one.id.is_some() || one.document.is_some();
        let mut faults = Vec::new();
        if !has_index {
            faults.push("index is missing".to_owned());
        }
        if !has_document {
            faults.push("id or doc is missing".to_owned());
        }
        if !faults.is_empty() {
            faults.push(format!("at multi term vectors for doc {place}"));
            problem = Some(RequestError::validation(faults));
        }
    }
    problem.map_or(Ok(()), Err)
}

fn object(value: &Value) -> Result<&Map<String, Value>> {
    value.as_object().ok_or_else(|| {
        RequestError::bad_request(
            "parse_exception",
            "failed to parse term vectors request. an object is expected",
        )
    })
}

fn invalid(problems: &str) -> RequestError {
    RequestError::bad_request("action_request_validation_exception", format!("Validation Failed: {problems}"))
}
