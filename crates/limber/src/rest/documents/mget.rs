//! `_mget`: many gets in one request.

use limber_engine::{GetRequest, Result, VersionType};
use limber_mapping::{ErrorClass, ObjectParser, RequestError, token};
use limber_search::SourceFilter;
use limber_work as work;
use serde_json::Value;

use super::document::{StoredFields, error_item, push_get};
use super::source_filter;
use crate::http::pools::PoolName;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::searches::search::placement;
use crate::rest::{App, Route};

const PARAMETERS: &[&str] = &[
    "routing",
    "refresh",
    "realtime",
    "preference",
    "_source",
    "_source_includes",
    "_source_excludes",
    "_source_exclude_vectors",
    "force_synthetic_source",
    "stored_fields",
];

/// The endpoints of this file (`_mget`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    Route {
        methods: &[Method::Get, Method::Post],
        path: "/_mget",
        parameters: PARAMETERS,
        pool: PoolName::Get,
        handler: mget,
    },
    Route {
        methods: &[Method::Get, Method::Post],
        path: "/{index}/_mget",
        parameters: PARAMETERS,
        pool: PoolName::Get,
        handler: mget,
    },
];

/// Maximum number of documents in one request: each holds its source until the response is written.
const DOCUMENTS_MAX: usize = 100_000;

struct Item {
    index: String,
    id: String,
    routing: Option<String>,
    version: Option<u64>,
    version_type: VersionType,
    filter: Option<SourceFilter>,
    stored_fields: Option<Vec<String>>,
}

fn mget(app: &App, request: &Request) -> Result<Response> {
    placement(request).check_for_document()?;
    let items = parse(request)?;
    let (realtime, refresh) = (request.flag_or("realtime", true)?, request.flag_or("refresh", false)?);
    let forces_source = request.flag_or("force_synthetic_source", false)?;
    // There are no vectors that could be left out.
    request.flag("_source_exclude_vectors")?;
    let room_bytes = 64 + items.len() * 256;
    work::claim(room_bytes as u64)?;
    let mut out = Vec::with_capacity(room_bytes);
    out.extend_from_slice(b"{\"docs\":[");
    for (number, item) in items.iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        let outcome = app.node.get(&GetRequest {
            routing: item.routing.as_deref(),
            realtime,
            refresh,
            forces_source,
            version: item.version,
            version_type: item.version_type,
            ..GetRequest::new(&item.index, &item.id)
        });
        work::check_growth(out.len(), out.capacity(), ITEM_BYTES)?;
        let start = out.len();
        let outcome = outcome.and_then(|response| {
            let stored = StoredFields::of(app, &response, item.stored_fields.as_deref())?;
            push_get(&mut out, &response, item.filter.as_ref(), stored.as_ref())
        });
        match outcome {
            Ok(()) => {}
            // The others would not fit either.
            Err(error) if error.class == ErrorClass::TooManyRequests => return Err(error),
            Err(error) => {
                out.truncate(start);
                let body = error_item(&item.index, &item.id, &error);
                out.extend_from_slice(&crate::http::json::to_bytes(&body, false));
            }
        }
    }
    out.extend_from_slice(b"]}");
    Ok(Response::raw(200, out))
}

/// Estimated bytes of an item in the response, besides its source.
const ITEM_BYTES: usize = 1 << 10;

fn parse(request: &Request) -> Result<Vec<Item>> {
    let body = request.json()?.ok_or_else(|| {
        RequestError::bad_request("parse_exception", "request body or source parameter is required")
    })?;
    let default_filter = source_filter::from_request(request);
    let invalid = |reason: &str| {
        RequestError::bad_request(
            "action_request_validation_exception",
            format!("Validation Failed: {reason}"),
        )
    };
    let Some(object) = body.as_object() else {
        let found = token(&body);
        return Err(RequestError::parsing(format!("unexpected token [{found}], expected [START_OBJECT]")));
    };
    let mut items = Vec::new();
    for (name, value) in object {
        match (name.as_str(), value) {
            ("docs", Value::Array(docs)) => {
                for doc in docs {
                    // Each document has a copy of what the URL says.
                    limber_work::check()?;
                    items.push(parse_doc(request, doc, &default_filter)?);
                }
            }
            ("ids", Value::Array(ids)) => {
                for id in ids {
                    limber_work::check()?;
                    let id = scalar_text(id).ok_or_else(|| {
                        RequestError::illegal_argument("ids array element should only contain ids")
                    })?;
                    items.push(Item {
                        index: request.param("index").unwrap_or("").to_owned(),
                        id,
                        routing: request.param("routing").map(str::to_owned),
                        version: None,
                        version_type: VersionType::Internal,
                        filter: default_filter.clone(),
                        stored_fields: default_stored_fields(request),
                    });
                }
            }
            (other, Value::Array(_)) => {
                return Err(RequestError::parsing(format!(
                    "unknown key [{other}] for a START_ARRAY, expected [docs] or [ids]"
                )));
            }
            (_, value) => {
                return Err(RequestError::parsing(format!(
                    "unexpected token [{}], expected [FIELD_NAME] or [START_ARRAY]",
                    token(value)
                )));
            }
        }
        if items.len() > DOCUMENTS_MAX {
            return Err(RequestError::illegal_argument(format!(
                "more than [{DOCUMENTS_MAX}] documents requested"
            )));
        }
    }
    if items.is_empty() {
        return Err(invalid("1: no documents to get;"));
    }
    let missing = what_is_missing(&items);
    if !missing.is_empty() {
        return Err(invalid(&missing));
    }
    Ok(items)
}

/// Lists the items without an index or id, as Elasticsearch does.
fn what_is_missing(items: &[Item]) -> String {
    let missing = items.iter().enumerate().flat_map(|(place, item)| {
        let index = item.index.is_empty().then_some("index");
        let id = item.id.is_empty().then_some("id");
        [index, id].into_iter().flatten().map(move |what| (place, what))
    });
    let text = |(number, (place, what))| format!("{number}: {what} is missing for doc {place};");
    (1..).zip(missing).map(text).collect()
}

/// Reads `stored_fields` of the URL, the default for documents that name none.
fn default_stored_fields(request: &Request) -> Option<Vec<String>> {
    request.param("stored_fields").map(|_| request.list("stored_fields"))
}

fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Reads a version, which may be a text.
fn version(value: &Value) -> Result<Option<u64>> {
    match value {
        Value::String(text) => text.parse().map(Some).map_err(|_| RequestError::number_format(text)),
        other => Ok(other.as_u64()),
    }
}

/// Reads `_source` of a document.
fn source(value: &Value) -> Result<SourceFilter> {
    const PARTS: [&str; 5] = ["include", "includes", "exclude", "excludes", "exclude_vectors"];
    let refused = |reason: String| Err(RequestError::bad_request("parse_exception", reason));
    match value {
        Value::Object(members) => match members.keys().find(|name| !PARTS.contains(&name.as_str())) {
            Some(other) => refused(format!("source definition may not contain [{other}]")),
            None => SourceFilter::parse(value),
        },
        Value::Bool(_) | Value::String(_) | Value::Array(_) => SourceFilter::parse(value),
        other => refused(format!("illegal type for _source: [{}]", token(other))),
    }
}

fn parse_doc(request: &Request, doc: &Value, default_filter: &Option<SourceFilter>) -> Result<Item> {
    let Some(object) = doc.as_object() else {
        return Err(RequestError::illegal_argument("docs array element should include an object"));
    };
    let mut item = Item {
        index: request.param("index").unwrap_or("").to_owned(),
        id: String::new(),
        routing: request.param("routing").map(str::to_owned),
        version: None,
        version_type: VersionType::Internal,
        filter: default_filter.clone(),
        stored_fields: default_stored_fields(request),
    };
    for (name, value) in object {
        let text = || {
            scalar_text(value).ok_or_else(|| {
                RequestError::illegal_argument(format!(
                    "[{name}] must be a string or a number in a doc of [_mget]"
                ))
            })
        };
        match name.as_str() {
            "_index" => item.index = text()?,
            "_id" => item.id = text()?,
            "routing" => item.routing = Some(text()?),
            "version" => item.version = version(value)?,
            "version_type" => item.version_type = VersionType::parse(&text()?)?,
            "_source" => item.filter = Some(source(value)?),
            "fields" if value.is_object() => {}
            "fields" => {
                let reason = "Unsupported field [fields] used, expected [stored_fields] instead";
                return Err(RequestError::parsing(reason));
            }
            "stored_fields" => {
                item.stored_fields = Some(match value {
                    Value::Array(items) => items.iter().filter_map(scalar_text).collect(),
                    _ => vec![text()?],
                });
            }
            other => {
                return Err(RequestError::bad_request(
                    "parse_exception",
                    format!("failed to parse multi get request. {}", ObjectParser::unknown_words(other)),
                ));
            }
        }
    }
    Ok(item)
}
