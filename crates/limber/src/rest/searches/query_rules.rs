//! `_query_rules`: rulesets that pin or exclude documents, and their rules.

use limber_engine::Result;
use limber_mapping::ObjectParser;
use serde_json::{Value, json};

use crate::http::pools::PoolName;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::router::management as route;
use crate::rest::{App, Route};

/// The endpoints of this file (`_query_rules`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Get], "/_query_rules", &["from", "size"], list),
    route(&[Method::Get], "/_query_rules/{set}", &[], get),
    route(&[Method::Put], "/_query_rules/{set}", &[], put),
    route(&[Method::Delete], "/_query_rules/{set}", &[], delete),
    route(&[Method::Get], "/_query_rules/{set}/_rule/{rule}", &[], get_rule),
    route(&[Method::Put], "/_query_rules/{set}/_rule/{rule}", &[], put_rule),
    route(&[Method::Delete], "/_query_rules/{set}/_rule/{rule}", &[], delete_rule),
    // It compares as much as a search, so it waits with searches.
    Route {
        methods: &[Method::Post],
        path: "/_query_rules/{set}/_test",
        parameters: &[],
        pool: PoolName::Search,
        handler: test,
    },
];

/// Number of rulesets in a list, unless the request gives a size.
const SIZE: i64 = 100;

fn list(app: &App, request: &Request) -> Result<Response> {
    let number = crate::rest::indices::synonyms::number;
    let (from, size) = (number(request, "from", 0)?, number(request, "size", SIZE)?);
    Ok(Response::ok(app.node.list_query_rules(from, size)?))
}

fn get(app: &App, request: &Request) -> Result<Response> {
    Ok(Response::ok(app.node.get_query_rules(request.path("set"))?))
}

fn get_rule(app: &App, request: &Request) -> Result<Response> {
    Ok(Response::ok(app.node.get_query_rule(request.path("set"), request.path("rule"))?))
}

fn changed(is_new: bool) -> Response {
    match is_new {
        true => Response::json(201, json!({"result": "created"})),
        false => Response::ok(json!({"result": "updated"})),
    }
}

fn put(app: &App, request: &Request) -> Result<Response> {
    let body: Value = request.json_required()?;
    Ok(changed(app.node.put_query_rules(request.path("set"), &body)?))
}

fn put_rule(app: &App, request: &Request) -> Result<Response> {
    let body: Value = request.json_required()?;
    let (set, rule) = (request.path("set"), request.path("rule"));
    Ok(changed(app.node.put_query_rule(set, rule, &body)?))
}

fn delete(app: &App, request: &Request) -> Result<Response> {
    app.node.delete_query_rules(request.path("set"))?;
    Ok(Response::acknowledged())
}

fn delete_rule(app: &App, request: &Request) -> Result<Response> {
    app.node.delete_query_rule(request.path("set"), request.path("rule"))?;
    Ok(Response::acknowledged())
}

fn test(app: &App, request: &Request) -> Result<Response> {
    let body: Value = request.json_required()?;
    let unknown = body.as_object().into_iter().flatten().find(|(name, _)| *name != "match_criteria");
    if let Some((name, _)) = unknown {
        return Err(ObjectParser::new("query_ruleset_test").unknown(name));
    }
    match &body["match_criteria"] {
        Value::Object(said) if !said.is_empty() => {
            Ok(Response::ok(app.node.test_query_rules(request.path("set"), said)?))
        }
        _ => Err(ObjectParser::required("match_criteria")),
    }
}
