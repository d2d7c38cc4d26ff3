//! `_validate/query`: can this query be parsed and bound, and what does it look like then?
//!
//! Source: `TransportValidateQueryAction`. A query that cannot be parsed is a normal response here, not an
//! error.

use limber_engine::{IndicesOptions, Result};
use limber_mapping::RequestError;
use limber_search::{CountRequest, UrlParameters};
use serde_json::{Map, Value, json};

use super::count::{failed_to_parse, has_query_body, refuse_url_query};
use crate::http::pools::PoolName;
use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::options::{indices_options, with_indices_options};
use crate::rest::{App, Route};

const PARAMETERS: &[&str] = with_indices_options![
    "all_shards",
    "analyze_wildcard",
    "analyzer",
    "default_operator",
    "df",
    "explain",
    "lenient",
    "q",
    "rewrite",
];
const BOTH: &[Method] = &[Method::Get, Method::Post];

/// The endpoints of this file (`_validate`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    Route {
        methods: BOTH,
        path: "/_validate/query",
        parameters: PARAMETERS,
        pool: PoolName::Search,
        handler: validate,
    },
    Route {
        methods: BOTH,
        path: "/{index}/_validate/query",
        parameters: PARAMETERS,
        pool: PoolName::Search,
        handler: validate,
    },
];

fn validate(app: &App, request: &Request) -> Result<Response> {
    let explain = request.flag_or("explain", false)? || request.flag_or("rewrite", false)?;
    let all_shards = request.flag_or("all_shards", false)?;
    let explain = explain || all_shards;
    if has_query_body(request) || request.param("q").is_none() {
        refuse_url_query(request)?;
    }
    // Malformed JSON makes a query invalid like everything else in it.
    let body = request.json().map_err(failed_to_parse);
    let parse = |body: Option<Value>| {
        CountRequest::parse(&body.unwrap_or(Value::Null), &UrlParameters(request.query.clone()))
    };
    let parsed = match body.and_then(parse) {
        Ok(parsed) => parsed,
        Err(error) if error.class != limber_mapping::ErrorClass::BadRequest => return Err(error),
        Err(error) if error.reason.contains("is not supported by Limber") => return Err(error),
        Err(error) => {
            let mut answer = json!({"valid": false});
            if explain {
                answer["error"] = java_chain(&error).into();
            }
            return Ok(Response::ok(answer));
        }
    };
    if parsed.query.is_none() && has_query_body(request) {
        return Err(RequestError::validation(["query cannot be null"]));
    }
    let options = indices_options(request, IndicesOptions::SEARCH)?;
    let index = request.param("index").unwrap_or("_all");
    let described = app.node.describe_query(index, options, parsed.query.as_ref(), all_shards)?;
    let is_valid = described.iter().all(|one| one.outcome.is_ok());
    let mut answer = Map::new();
    let count = described.len();
    answer.insert("_shards".into(), json!({"total": count, "successful": count, "failed": 0}));
    answer.insert("valid".into(), is_valid.into());
    if explain {
        let mut explanations = Vec::with_capacity(count);
        for one in described {
            limber_work::check_beyond_deadline()?;
            let mut shown = json!({"index": one.index});
            if all_shards {
                shown["shard"] = one.shard.into();
            }
            shown["valid"] = one.outcome.is_ok().into();
            match one.outcome {
                Ok(text) => shown["explanation"] = text.into(),
                Err(error) => {
                    shown["error"] = format!("[{}/{}] {}", one.index, one.uuid, java_chain(&error)).into();
                }
            }
            explanations.push(shown);
        }
        answer.insert("explanations".into(), explanations.into());
    }
    Ok(Response::ok(Value::Object(answer)))
}

/// Formats the error and its causes as Java prints a chain of exceptions.
fn java_chain(error: &RequestError) -> String {
    let mut text = String::new();
    let mut link = Some(error);
    while let Some(error) = link {
        if !text.is_empty() {
            text.push_str("; ");
        }
        text.push_str(&java_class(error.kind));
        text.push_str(": ");
        text.push_str(&error.reason);
        link = error.caused_by.as_deref();
    }
    text
}

/// Converts `query_shard_exception` to `org.elasticsearch.index.query.QueryShardException`.
fn java_class(kind: &str) -> String {
    let package = match kind {
        "illegal_argument_exception" | "number_format_exception" | "illegal_state_exception" => "java.lang",
        "query_shard_exception" => "org.elasticsearch.index.query",
        "named_object_not_found_exception" | "x_content_parse_exception" | "x_content_e_o_f_exception" => {
            "org.elasticsearch.xcontent"
        }
        "parsing_exception" => "org.elasticsearch.common",
        _ => "org.elasticsearch",
    };
    let mut name = String::new();
    for word in kind.split('_') {
        let mut characters = word.chars();
        name.extend(characters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(characters.as_str());
    }
    format!("{package}.{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_read_as_java_prints_them() {
        let error = RequestError::parsing("unknown query [x]").caused_by(RequestError::illegal_argument("y"));
        assert_eq!(
            java_chain(&error),
            "org.elasticsearch.common.ParsingException: unknown query [x]; java.lang.IllegalArgumentException: y"
        );
    }
}
