//! `submit-async-search`, `get-async-search`, `delete-async-search`, inside a `composite` (`runner.py`,
//! `SubmitAsyncSearch`, `GetAsyncSearch`, `DeleteAsyncSearch`).

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::point_in_time::LeaveId;
use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Operation, Outcome, Plan, Steady, steady};
use crate::drive::operation::flow::retry::retried_until_success;
use crate::error::Error;
use crate::http::{Method, Request};

pub(in crate::drive::operation) fn plan_submit(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    plan.only_in_composite()?;
    let path = match plan.names("index")? {
        Some(names) => format!("/{}/_async_search", names.join(",")),
        None => "/_async_search".to_owned(),
    };
    let body = plan.mandatory("body")?;
    let mut builder = plan.with_request_params(plan.request_with_body(Method::Post, &path, Some(body))?)?;
    if plan.request_params()?.all(|(name, _)| name != "wait_for_completion_timeout") {
        // Otherwise the server would answer a fast search at once, without an id.
        builder = builder.query("wait_for_completion_timeout", "0");
    }
    Ok(steady(LeaveId {
        name: plan.task.operation.name.clone(),
        request: builder.build(),
        timeout: plan.timeout()?,
    }))
}

pub(in crate::drive::operation) fn plan_get(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let searches = Searches::plan(plan, "retrieve-results-for", Method::Get)?;
    retried_until_success(plan, GetAsyncSearch(searches))
}

pub(in crate::drive::operation) fn plan_delete(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    Ok(steady(DeleteAsyncSearch(Searches::plan(plan, "delete-results-for", Method::Delete)?)))
}

/// Searches that earlier requests have submitted.
struct Searches {
    names: Vec<String>,
    /// `/_async_search/`; the id is appended to the path later.
    request: Request,
    /// The query string with its `?`, or empty.
    query: String,
    timeout: Option<Duration>,
}

impl Searches {
    fn plan(plan: &Plan<'_>, names: &str, method: Method) -> Result<Searches, Error> {
        plan.only_in_composite()?;
        plan.mandatory(names)?;
        let request = plan.with_request_params(plan.request(method, "/_async_search/")?)?.build();
        let query =
            request.target().split_once('?').map_or_else(String::new, |(_, query)| format!("?{query}"));
        Ok(Searches {
            names: plan.names(names)?.unwrap_or_default(),
            request,
            query,
            timeout: plan.timeout()?,
        })
    }

    fn request(&self, exchange: &Exchange, name: &str) -> Result<Request, crate::drive::operation::Failure> {
        let target = format!("/_async_search/{}{}", exchange.recall(name)?, self.query);
        Ok(self.request.retargeted(self.request.method, &target))
    }
}

struct GetAsyncSearch(Searches);

impl Steady for GetAsyncSearch {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let mut running = Vec::new();
            let mut stats = Map::new();
            for name in &self.0.names {
                let request = self.0.request(exchange, name)?;
                let answer = exchange.send(&request, self.0.timeout).await?.json()?;
                if answer["is_running"].as_bool() != Some(false) {
                    running.push(name.as_str());
                    continue;
                }
                let response = &answer["response"];
                let mut one = json!({ "timed_out": response["timed_out"], "took": response["took"] });
                if let Some(total) = response["hits"].get("total") {
                    one["hits"] = total["value"].clone();
                    one["hits_relation"] = total["relation"].clone();
                }
                stats.insert(name.clone(), one);
            }
            // Only completed searches count.
            let done = Outcome::ops(stats.len() as u64);
            let outcome = match running.is_empty() {
                true => done,
                false => done.failed("unmet", format!("[{}] still running", running.join(", "))),
            };
            Ok(outcome.with_meta(json!({ "stats": Value::Object(stats) })))
        })
    }
}

struct DeleteAsyncSearch(Searches);

impl Steady for DeleteAsyncSearch {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            for name in &self.0.names {
                let request = self.0.request(exchange, name)?;
                exchange.send(&request, self.0.timeout).await?;
                exchange.forget(name)?;
            }
            Ok(Outcome::ops(1))
        })
    }
}
