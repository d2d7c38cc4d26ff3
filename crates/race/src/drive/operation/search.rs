//! `search`: one query, or a scroll if `pages` is given (`runner.py`, `Query`; `track/params.py`, `SearchParamSource`).
//!
//! The request is built once. The answer is waited for in full and, unless `detailed-results` asks for more, not looked into.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::assertions::Assertions;
use super::contract::{Answer, Failure, Operation, Outcome, Plan, Steady, plain, steady};
use super::scroll_search;
use crate::drive::exchange::Exchange;
use crate::drive::http::{Method, Request, RequestBuilder, Response};
use crate::drive::probe::{Found, probe};

pub fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, String> {
    if plan.param("pages").is_some_and(|pages| !pages.is_null()) {
        return scroll_search::plan(plan);
    }
    let assertions = Assertions::plan(plan)?;
    let is_detailed = plan.flag("detailed-results")?.unwrap_or(false);
    if plan.param("assertions").is_some() && !is_detailed {
        return Err("The property [detailed-results] must be [true] if assertions are defined".into());
    }
    let body = body_with_size(plan)?;
    let mut builder = search_request(plan, body.as_ref())?;
    if !is_detailed {
        builder = builder.enough_when(|_| true);
    }
    Ok(steady(Search { request: builder.build(), timeout: plan.timeout()?, is_detailed, assertions }))
}

/// `GET /<index>/_search` with the operation's query parameters and headers.
pub fn search_request(plan: &Plan<'_>, body: Option<&Value>) -> Result<RequestBuilder, String> {
    if plan.param("with-point-in-time-from").is_some_and(|name| !name.is_null()) {
        return Err("'with-point-in-time-from' is not supported yet".into());
    }
    let target = plan.target()?.ok_or("'index' or 'data-stream' is mandatory and is missing")?;
    let path = match plan.text("type")?.filter(|kind| !kind.is_empty()) {
        Some(kind) => format!("/{target}/{kind}/_search"),
        None => format!("/{target}/_search"),
    };
    let mut builder = plan.with_request_params(plan.request_with_body(Method::Get, &path, body)?)?;
    if let Some(cache) = plan.param("cache").filter(|cache| !cache.is_null()) {
        builder = builder.query("request_cache", &plain(cache).to_lowercase());
    }
    if plan.flag("response-compression-enabled")? == Some(false) {
        builder = builder.header("accept-encoding", "identity");
    }
    Ok(builder)
}

/// The query body, with `results-per-page` as its `size`.
pub fn body_with_size(plan: &Plan<'_>) -> Result<Option<Value>, String> {
    let body = plan.param("body").filter(|body| !body.is_null()).cloned();
    let size = plan.number("results-per-page")?.filter(|size| *size > 0.0);
    match (body, size) {
        (body, None) => Ok(body),
        (None, Some(size)) => Ok(Some(json!({ "size": size as u64 }))),
        (Some(Value::Object(mut body)), Some(size)) => {
            body.insert("size".into(), json!(size as u64));
            Ok(Some(Value::Object(body)))
        }
        (Some(_), Some(_)) => Err("'results-per-page' needs a 'body' that is an object".into()),
    }
}

struct Search {
    request: Request,
    timeout: Option<Duration>,
    is_detailed: bool,
    assertions: Option<Assertions>,
}

impl Steady for Search {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let response = exchange.send(&self.request, self.timeout).await?;
            if self.is_detailed {
                let properties = details(&response)?;
                if let Some(assertions) = &self.assertions {
                    assertions.check(&properties)?;
                }
            }
            Ok(Outcome::ops(1))
        })
    }
}

/// The details Rally keeps of a search: hits, their relation, took, timed_out and shards.
fn details(response: &Response<'_>) -> Result<Map<String, Value>, Failure> {
    let text = response.text()?;
    let [total, value, relation, timed_out, took, shards, successful, skipped, failed] = probe(
        &text,
        [
            "hits.total",
            "hits.total.value",
            "hits.total.relation",
            "timed_out",
            "took",
            "_shards.total",
            "_shards.successful",
            "_shards.skipped",
            "_shards.failed",
        ],
    );
    let count = |found: Option<Found<'_>>| found.and_then(Found::as_u64);
    let properties = json!({
        "success": true,
        "hits": count(value).or(count(total)).unwrap_or(0),
        "hits_relation": relation.and_then(Found::as_string).unwrap_or_else(|| "eq".into()),
        "timed_out": timed_out.and_then(Found::as_bool).unwrap_or(false),
        "took": count(took).unwrap_or(0),
        "shards": {
            "total": count(shards).unwrap_or(0),
            "successful": count(successful).unwrap_or(0),
            "skipped": count(skipped).unwrap_or(0),
            "failed": count(failed).unwrap_or(0),
        },
    });
    Ok(match properties {
        Value::Object(properties) => properties,
        _ => unreachable!("built as an object above"),
    })
}
