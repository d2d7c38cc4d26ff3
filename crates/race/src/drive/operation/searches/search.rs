//! `search`: one query, or a scroll if `pages` is given (`runner.py`, `Query`; `track/params.py`,
//! `SearchParamSource`).
//!
//! The request is built once. The answer is received in full, but not parsed unless `detailed-results` asks
//! for more.
//!
//! With the parameter source `limber-searches` (which Rally does not have; the built-in track
//! `segment_memory` implements it in Python for Rally), the operation has a list `searches` of
//! `{"index": ..., "body": ...}`. Every client goes through the list in turn, from its own starting position.

use crate::error::Error;
use crate::track::plugin::known_sources;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::{scroll_search, terms_search};
use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Failure, Operation, Outcome, Plan, Runner, plain};
use crate::drive::probe::{Found, probe};
use crate::http::{Method, Request, RequestBuilder, Response};

/// `took` is searched for in this many bytes; only the id of a scroll or a point in time can precede it.
const TOOK_WITHIN_BYTES: usize = 4096;

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    if plan.param("pages").is_some_and(|pages| !pages.is_null()) {
        return scroll_search::plan(plan);
    }
    if let Some(source) =
        plan.task.operation.param_source.as_deref().filter(|name| known_sources::is_source(name))
    {
        return terms_search::plan(plan, source);
    }
    let is_detailed = plan.flag("detailed-results")?.unwrap_or(false);
    if plan.param("assertions").is_some() && !is_detailed && !plan.is_in_composite {
        return Err(Error::parameter(
            "The property [detailed-results] must be [true] if assertions are defined",
        ));
    }
    let prepared = |builder: RequestBuilder| match is_detailed {
        true => builder.build(),
        false => builder.enough_when(|_| true).build(),
    };
    let requests = match plan.task.operation.param_source {
        Some(_) => searches(plan)?
            .into_iter()
            .map(|(index, body)| Ok(prepared(request_to(plan, index, Some(body))?)))
            .collect::<Result<_, Error>>()?,
        None => vec![prepared(search_request(plan, body_with_size(plan)?.as_ref())?)],
    };
    Ok(Box::new(Searches(Arc::new(Search { requests, timeout: plan.timeout()?, is_detailed }))))
}

/// Returns the list `searches` as (index, body).
fn searches<'a>(plan: &'a Plan<'_>) -> Result<Vec<(&'a str, &'a Value)>, Error> {
    let wrong =
        || Error::parameter("'searches' must be a list of objects with 'index' and 'body', and not empty");
    let searches =
        plan.mandatory("searches")?.as_array().filter(|list| !list.is_empty()).ok_or_else(wrong)?;
    let pair = |search: &'a Value| Some((search.get("index")?.as_str()?, search.get("body")?));
    searches.iter().map(|search| pair(search).ok_or_else(wrong)).collect()
}

/// Builds `GET /<index>/_search` with the operation's query parameters and headers.
pub(in crate::drive::operation) fn search_request(
    plan: &Plan<'_>,
    body: Option<&Value>,
) -> Result<RequestBuilder, Error> {
    let target = plan.target()?.ok_or_else(|| {
        let operation = &plan.task.operation.name;
        Error::Parameter(format!(
            "'index' or 'data-stream' is mandatory and is missing for operation '{operation}'"
        ))
    })?;
    if plan.param("data-stream").is_some() && plan.text("type")?.is_some_and(|kind| !kind.is_empty()) {
        let operation = &plan.task.operation.name;
        return Err(Error::Parameter(format!(
            "'type' not supported with 'data-stream' for operation '{operation}'"
        )));
    }
    request_to(plan, &target, body)
}

/// Builds a request like [`search_request`] for another target. An empty target searches everything, or the
/// indices of a point in time.
pub(in crate::drive::operation) fn request_to(
    plan: &Plan<'_>,
    target: &str,
    body: Option<&Value>,
) -> Result<RequestBuilder, Error> {
    let path = match plan.text("type")?.filter(|kind| !kind.is_empty()) {
        _ if target.is_empty() => "/_search".to_owned(),
        Some(kind) => format!("/{target}/{kind}/_search"),
        None => format!("/{target}/_search"),
    };
    let mut builder = plan.with_request_params(plan.request_with_body(Method::Get, &path, body)?)?;
    builder = with_cache(plan, builder);
    if plan.flag("response-compression-enabled")? == Some(false) {
        builder = builder.header("accept-encoding", "identity");
    }
    Ok(builder)
}

/// Adds the operation's `cache`, which says whether the server may use its request cache.
pub(in crate::drive::operation) fn with_cache(plan: &Plan<'_>, builder: RequestBuilder) -> RequestBuilder {
    match plan.param("cache").filter(|cache| !cache.is_null()) {
        Some(cache) => builder.query("request_cache", &plain(cache).to_lowercase()),
        None => builder,
    }
}

/// Returns the query body, with `results-per-page` as its `size`.
pub(in crate::drive::operation) fn body_with_size(plan: &Plan<'_>) -> Result<Option<Value>, Error> {
    let body = plan.param("body").filter(|body| !body.is_null()).cloned();
    let size = plan.number("results-per-page")?.filter(|size| *size > 0.0);
    match (body, size) {
        (body, None) => Ok(body),
        (None, Some(size)) => Ok(Some(json!({ "size": size as u64 }))),
        (Some(Value::Object(mut body)), Some(size)) => {
            body.insert("size".into(), json!(size as u64));
            Ok(Some(Value::Object(body)))
        }
        (Some(_), Some(_)) => Err(Error::parameter("'results-per-page' needs a 'body' that is an object")),
    }
}

struct Search {
    /// The requests that clients send in turn; usually one.
    requests: Vec<Request>,
    timeout: Option<Duration>,
    is_detailed: bool,
}

struct Searches(Arc<Search>);

impl Operation for Searches {
    fn runners(&self, clients: &[u32], clients_total: u32) -> Result<Vec<Box<dyn Runner>>, Error> {
        let count = self.0.requests.len();
        let runner = |client: &u32| -> Box<dyn Runner> {
            let next = *client as usize * count / clients_total.max(1) as usize % count;
            Box::new(SearchRunner { search: Arc::clone(&self.0), next })
        };
        Ok(clients.iter().map(runner).collect())
    }
}

struct SearchRunner {
    search: Arc<Search>,
    /// Index of the next request.
    next: usize,
}

impl Runner for SearchRunner {
    fn run<'a>(&'a mut self, exchange: &'a mut Exchange) -> Answer<'a> {
        let search = &*self.search;
        let request = &search.requests[self.next];
        self.next = (self.next + 1) % search.requests.len();
        Box::pin(async move {
            let response = exchange.send(request, search.timeout).await?;
            let outcome = Outcome { took: took(&response), ..Outcome::ops(1) };
            Ok(match search.is_detailed {
                true => outcome.with_meta(details(&response)?),
                false => outcome,
            })
        })
    }
}

/// Returns `took`, which is at the start of an answer.
pub(in crate::drive::operation) fn took(response: &Response<'_>) -> Option<Duration> {
    let start = response.text_start(TOOK_WITHIN_BYTES);
    let [took] = probe(&start, ["took"]);
    took.and_then(Found::as_u64).map(Duration::from_millis)
}

/// Returns the details of a search that Rally keeps: hits, their relation, took, timed_out and shards.
fn details(response: &Response<'_>) -> Result<Value, Failure> {
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
    Ok(json!({
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
    }))
}
