//! `_scripts/painless/_execute`: "what does this script return?"
//!
//! Source: Elasticsearch's `PainlessExecuteAction`. A script of a context with documents runs over the
//! document in the request, as the only document of an index. It runs as part of a search, so it sees exactly
//! what it would see in one.

use limber_engine::Result;
use limber_mapping::{ObjectParser, RequestError};
use limber_script::{DetachedScript, Script, ScriptContext};
use limber_search::{SearchRequest, SearchResponse, UrlParameters};
use limber_text::likeness;
use serde_json::{Map, Value, json};

use crate::http::pools::PoolName;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::searches::search::refused;
use crate::rest::{App, Route};

/// The endpoints of this file (`_scripts`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[Route {
    methods: &[Method::Get, Method::Post],
    path: "/_scripts/painless/_execute",
    parameters: &[],
    pool: PoolName::Search,
    handler: execute,
}];

/// Contexts of runtime fields: the context's name and the type of the field.
const OF_FIELDS: &[(&str, &str)] = &[
    ("boolean_field", "boolean"),
    ("date_field", "date"),
    ("double_field", "double"),
    ("geo_point_field", "geo_point"),
    ("ip_field", "ip"),
    ("keyword_field", "keyword"),
    ("long_field", "long"),
];
const REQUEST: ObjectParser<'_> = ObjectParser::new("painless_execute_request");
const SETUP: ObjectParser<'_> = ObjectParser::new("execute_script_context");
const MEMBERS: &[&str] = &["script", "context", "context_setup"];
const SETUP_MEMBERS: &[&str] = &["index", "document", "query", "xcontent_type"];
/// The name of the runtime field that runs the script.
const FIELD: &str = "painless_execute";

/// The document on which a script is tried.
struct Setup<'r> {
    index: &'r str,
    document: &'r Value,
    query: Option<&'r Value>,
}

fn execute(app: &App, request: &Request) -> Result<Response> {
    let body = request.json_required()?;
    let members = REQUEST.members(&body)?;
    check_members(members, MEMBERS, REQUEST)?;
    let script = members.get("script").ok_or_else(|| ObjectParser::required("script"))?;
    if !script.is_object() {
        return Err(REQUEST.unsupported("script", script));
    }
    let parsed = Script::parse(script)?;
    if let limber_script::Code::Inline { language, .. } = &parsed.code
        && language != "painless"
    {
        return Err(RequestError::illegal_argument(format!("script_lang not supported [{language}]")));
    }
    let context = match members.get("context") {
        None => "painless_test",
        Some(Value::String(name)) => name,
        Some(_) => {
            return Err(REQUEST.refused("context doesn't support values of that type"));
        }
    };
    let setup = members.get("context_setup").map(setup_of).transpose()?;
    if context == "painless_test" {
        return test(parsed);
    }
    let field_type = OF_FIELDS.iter().find(|(name, _)| *name == context).map(|(_, kind)| *kind);
    let is_known = field_type.is_some() || matches!(context, "filter" | "score" | "composite_field");
    if context == "geometry_field" {
        return Err(RequestError::unsupported("the script context [geometry_field]"));
    }
    if !is_known {
        let cause = RequestError::bad_request(
            "unsupported_operation_exception",
            format!("unsupported script context name [{context}]"),
        );
        return Err(REQUEST.failed_to_build(cause));
    }
    let setup = setup.ok_or_else(|| {
        RequestError::illegal_argument(format!(
            "[context_setup] is required for the script context [{context}]"
        ))
    })?;
    let result = match (context, field_type) {
        (_, Some(kind)) => of_field(app, request, &setup, kind, script)?,
        ("composite_field", _) => composite(app, request, &setup, &parsed)?,
        ("filter", _) => {
            let found =
                search(app, request, &setup, &json!({"query": {"script": {"script": script}}, "size": 0}))?;
            json!(found.total.is_some_and(|total| total.value > 0))
        }
        _ => score(app, request, &setup, script)?,
    };
    Ok(Response::ok(json!({ "result": result })))
}

/// Runs a script that only sees its parameters, and returns its value as Java prints it.
fn test(script: Script) -> Result<Response> {
    let script = DetachedScript::compile(script, ScriptContext::Test)?;
    // Lists and maps live until the run is dropped.
    let mut run = script.start();
    let text = run.run(&[])?.text();
    Ok(Response::ok(json!({ "result": text })))
}

fn search(app: &App, request: &Request, setup: &Setup<'_>, body: &Value) -> Result<SearchResponse> {
    let parsed = SearchRequest::parse(body, &UrlParameters(Vec::new()))?;
    let found = app.node.search_document(setup.index, setup.document, &parsed, request.cancelled.clone());
    let found = found.map_err(|error| script_error(&error))?;
    match found.shards.failures.first() {
        Some(failure) => Err(failure.reason.clone()),
        None => Ok(found),
    }
}

/// Extracts the error of the script itself from the error of the search around it.
fn script_error(error: &limber_search::Error) -> RequestError {
    let whole = refused(error);
    let mut inner = Some(&whole);
    while let Some(one) = inner {
        if one.kind == "script_exception" {
            return one.clone();
        }
        inner = one.caused_by.as_deref();
    }
    limber_search::root_cause(&whole).clone()
}

fn score(app: &App, request: &Request, setup: &Setup<'_>, script: &Value) -> Result<Value> {
    let query = setup.query.cloned().unwrap_or_else(|| json!({"match_all": {}}));
    let body = json!({"query": {"script_score": {"query": query, "script": script}}, "size": 1});
    let found = search(app, request, setup, &body)?;
    let score = found.hits.first().and_then(|hit| hit.score).unwrap_or(0.0);
    // The shortest decimal of the `f32`, not of the `f64` that it widens to.
    Ok(json!(score.to_string().parse::<f64>().unwrap_or(f64::from(score))))
}

fn of_field(app: &App, request: &Request, setup: &Setup<'_>, kind: &str, script: &Value) -> Result<Value> {
    let body = json!({
        "runtime_mappings": {FIELD: {"type": kind, "script": script}},
        "fields": [FIELD], "_source": false, "size": 1,
    });
    let found = search(app, request, setup, &body)?;
    let fields = found.hits.first().and_then(|hit| hit.fields.as_ref());
    Ok(fields.map_or_else(
        || json!([]),
        |fields| match &fields[FIELD] {
            Value::Null => json!([]),
            values => values.clone(),
        },
    ))
}

fn composite(app: &App, request: &Request, setup: &Setup<'_>, script: &Script) -> Result<Value> {
    let emitted =
        app.node.emitted_for_document(setup.index, setup.document, script, request.cancelled.clone());
    let emitted = emitted.map_err(|error| script_error(&error))?;
    let named = emitted.as_object().into_iter().flatten();
    Ok(Value::Object(
        named.map(|(name, values)| (format!("composite_field.{name}"), values.clone())).collect(),
    ))
}

fn setup_of(value: &Value) -> Result<Setup<'_>> {
    let members = SETUP.members(value)?;
    check_members(members, SETUP_MEMBERS, SETUP)?;
    let required = |name: &str| members.get(name).ok_or_else(|| ObjectParser::required(name));
    let index = required("index")?
        .as_str()
        .ok_or_else(|| SETUP.refused("index doesn't support values of that type"))?;
    let document = required("document")?;
    SETUP.members(document)?;
    Ok(Setup { index, document, query: members.get("query") })
}

fn check_members(members: &Map<String, Value>, known: &[&str], parser: ObjectParser<'_>) -> Result<()> {
    match members.keys().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => Err(parser.unknown_but(name, &likeness::similar(name, known.iter().copied()))),
    }
}
