//! `_script_context` and `_script_language`: "in which contexts may scripts be used, and in which languages?"
//!
//! Names and signatures are those of Elasticsearch 9.4. Contexts in which Limber runs no scripts are left
//! out.

use limber_engine::Result;
use limber_mapping::RequestError;
use serde_json::{Value, json};

use crate::http::request::{Method, Request};
use crate::http::response::Response;
use crate::rest::router::management as route;
use crate::rest::{App, Route};

/// The endpoints of this file (`_script_context`, `_script_language`), for [`crate::rest::ROUTES`].
pub const ROUTES: &[Route] = &[
    route(&[Method::Get], "/_script_context", &[], contexts),
    route(&[Method::Get], "/_script_language", &[], languages),
    route(&[Method::Get], "/_scripts/painless/_context", &["context"], painless_contexts),
];

/// A context in which scripts are used.
struct Context {
    name: &'static str,
    /// The type that a script returns.
    gives: &'static str,
    /// Types and names of the parameters of `execute`.
    takes: &'static [(&'static str, &'static str)],
    /// Names and types of the getters, besides `params`.
    asks: &'static [(&'static str, &'static str)],
    /// Whether the language `expression` may be used too.
    takes_expressions: bool,
}

const DOC: (&str, &str) = ("getDoc", "java.util.Map");
const CTX: (&str, &str) = ("getCtx", "java.util.Map");
const STATE: (&str, &str) = ("getState", "java.util.Map");
const SCORE: (&str, &str) = ("get_score", "double");

const fn context(
    name: &'static str,
    gives: &'static str,
    asks: &'static [(&'static str, &'static str)],
) -> Context {
    Context { name, gives, takes: &[], asks, takes_expressions: false }
}

const fn also_of_expressions(context: Context) -> Context {
    Context { takes_expressions: true, ..context }
}

/// Returns the names of the contexts.
fn painless_contexts(_: &App, request: &Request) -> Result<Response> {
    if request.param("context").is_some() {
        return Err(RequestError::unsupported("the list of the classes of a script context"));
    }
    let names: Vec<&str> = CONTEXTS.iter().map(|context| context.name).collect();
    Ok(Response::ok(json!({"contexts": names})))
}

/// Sorted by name.
const CONTEXTS: &[Context] = &[
    also_of_expressions(context("aggregation_selector", "boolean", &[])),
    also_of_expressions(context(
        "aggs",
        "java.lang.Object",
        &[DOC, ("get_score", "java.lang.Number"), ("get_value", "java.lang.Object")],
    )),
    context("aggs_combine", "java.lang.Object", &[STATE]),
    context("aggs_init", "void", &[("getState", "java.lang.Object")]),
    context("aggs_map", "void", &[DOC, STATE, SCORE]),
    context("aggs_reduce", "java.lang.Object", &[("getStates", "java.util.List")]),
    context("boolean_field", "void", &[DOC]),
    also_of_expressions(context("bucket_aggregation", "java.lang.Number", &[])),
    context("composite_field", "void", &[DOC, ("getFieldValues", "java.util.Map")]),
    context("date_field", "void", &[DOC]),
    context("double_field", "void", &[DOC]),
    also_of_expressions(context("field", "java.lang.Object", &[DOC])),
    also_of_expressions(context("filter", "boolean", &[DOC])),
    context("geo_point_field", "void", &[DOC]),
    context("ingest", "void", &[CTX]),
    context("ip_field", "void", &[DOC]),
    context("keyword_field", "void", &[DOC, ("getValues", "java.util.List")]),
    context("long_field", "void", &[DOC]),
    Context {
        takes: &[("java.util.Map", "params"), ("double[]", "values")],
        ..context("moving-function", "double", &[])
    },
    also_of_expressions(context("number_sort", "double", &[DOC, SCORE])),
    context("processor_conditional", "boolean", &[CTX]),
    context("reindex", "void", &[CTX]),
    also_of_expressions(Context {
        takes: &[("org.elasticsearch.script.ScoreScript$ExplanationHolder", "explanation")],
        ..context("score", "double", &[DOC, SCORE])
    }),
    context("string_sort", "java.lang.String", &[DOC, SCORE]),
    also_of_expressions(context("terms_set", "java.lang.Number", &[DOC])),
    context("update", "void", &[CTX]),
    context("update_by_query", "void", &[CTX]),
];

impl Context {
    fn to_json(&self) -> Value {
        let takes: Vec<Value> =
            self.takes.iter().map(|(kind, name)| json!({ "type": kind, "name": name })).collect();
        // A script that takes `params` as an argument needs no getter for it.
        let has_params = !self.takes.iter().any(|(_, name)| *name == "params");
        let params = has_params.then_some(("getParams", "java.util.Map"));
        let mut asks: Vec<(&str, &str)> = self.asks.iter().copied().chain(params).collect();
        asks.sort_unstable();
        let mut methods = vec![json!({ "name": "execute", "return_type": self.gives, "params": takes })];
        let ask = |(name, kind)| json!({ "name": name, "return_type": kind, "params": [] });
        methods.extend(asks.into_iter().map(ask));
        json!({ "name": self.name, "methods": methods })
    }
}

fn contexts(_: &App, _: &Request) -> Result<Response> {
    let contexts: Vec<Value> = CONTEXTS.iter().map(Context::to_json).collect();
    Ok(Response::ok(json!({ "contexts": contexts })))
}

fn languages(_: &App, _: &Request) -> Result<Response> {
    let names = |context: &'static Context| context.name;
    let expressions: Vec<&str> =
        CONTEXTS.iter().filter(|context| context.takes_expressions).map(names).collect();
    let painless: Vec<&str> = CONTEXTS.iter().map(names).collect();
    Ok(Response::ok(json!({
        "types_allowed": ["inline", "stored"],
        "language_contexts": [
            { "language": "expression", "contexts": expressions },
            { "language": "mustache", "contexts": ["ingest_template", "template"] },
            { "language": "painless", "contexts": painless },
        ],
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_come_by_name_and_methods_execute_first() {
        assert!(CONTEXTS.windows(2).all(|pair| pair[0].name < pair[1].name));
        let shown = |name: &str| {
            CONTEXTS.iter().find(|context| context.name == name).map(Context::to_json).expect("there")
        };
        assert_eq!(
            shown("number_sort"),
            json!({ "name": "number_sort", "methods": [
                { "name": "execute", "return_type": "double", "params": [] },
                { "name": "getDoc", "return_type": "java.util.Map", "params": [] },
                { "name": "getParams", "return_type": "java.util.Map", "params": [] },
                { "name": "get_score", "return_type": "double", "params": [] },
            ] })
        );
        assert_eq!(
            shown("moving-function")["methods"],
            json!([{ "name": "execute", "return_type": "double", "params": [
                { "type": "java.util.Map", "name": "params" }, { "type": "double[]", "name": "values" },
            ] }])
        );
    }
}
