//! Machine learning jobs and datafeeds (`runner.py`, `CreateMlDatafeed` to `CloseMlJob`).
//!
//! If a server answers 400 to `/_ml/...`, the request is sent again to `/_xpack/ml/...`, the path before
//! Elasticsearch 7.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Failure, Operation, Outcome, Plan, Steady, plain};
use crate::drive::operation::flow::retry::retried;
use crate::error::Error;
use crate::http::{Method, Request};

const DATAFEEDS: &str = "datafeeds";
const JOBS: &str = "anomaly_detectors";

pub(in crate::drive::operation) fn plan_create_datafeed(
    plan: &Plan<'_>,
) -> Result<Box<dyn Operation>, Error> {
    let body = Some(plan.mandatory("body")?.clone());
    Target::datafeed(plan, "")?.plan(plan, Method::Put, body.clone(), body, false)
}

pub(in crate::drive::operation) fn plan_delete_datafeed(
    plan: &Plan<'_>,
) -> Result<Box<dyn Operation>, Error> {
    Target::datafeed(plan, "")?.plan(plan, Method::Delete, None, None, true)
}

pub(in crate::drive::operation) fn plan_start_datafeed(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let own = plan.param("body").filter(|body| !body.is_null()).cloned();
    let body = own.clone().or_else(|| members(plan, &["start", "end", "timeout"]));
    Target::datafeed(plan, "/_start")?.plan(plan, Method::Post, body, own, false)
}

pub(in crate::drive::operation) fn plan_stop_datafeed(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    Target::datafeed(plan, "/_stop")?.plan(plan, Method::Post, force_and_timeout(plan), None, true)
}

pub(in crate::drive::operation) fn plan_create_job(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let body = Some(plan.mandatory("body")?.clone());
    Target::job(plan, "")?.plan(plan, Method::Put, body.clone(), body, false)
}

pub(in crate::drive::operation) fn plan_delete_job(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    Target::job(plan, "")?.plan(plan, Method::Delete, None, None, true)
}

pub(in crate::drive::operation) fn plan_open_job(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    Target::job(plan, "/_open")?.plan(plan, Method::Post, None, None, false)
}

pub(in crate::drive::operation) fn plan_close_job(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    Target::job(plan, "/_close")?.plan(plan, Method::Post, force_and_timeout(plan), None, true)
}

fn force_and_timeout(plan: &Plan<'_>) -> Option<Value> {
    let mut body = members(plan, &["force", "timeout"]).unwrap_or_else(|| json!({}));
    if body.get("force").is_none() {
        body["force"] = json!(false);
    }
    Some(body)
}

/// Returns the operation's parameters of these names as an object; `None` when it has none of them.
fn members(plan: &Plan<'_>, names: &[&str]) -> Option<Value> {
    let mut members = Map::new();
    for name in names {
        if let Some(value) = plan.param(name).filter(|value| !value.is_null()) {
            members.insert((*name).to_owned(), value.clone());
        }
    }
    (!members.is_empty()).then_some(Value::Object(members))
}

/// A job or datafeed, and the action on it.
struct Target {
    kind: &'static str,
    id: String,
    /// The end of the path, such as `/_start`.
    action: &'static str,
}

impl Target {
    fn datafeed(plan: &Plan<'_>, action: &'static str) -> Result<Target, Error> {
        Ok(Target { kind: DATAFEEDS, id: plan.mandatory_text("datafeed-id")?.to_owned(), action })
    }

    fn job(plan: &Plan<'_>, action: &'static str) -> Result<Target, Error> {
        Ok(Target { kind: JOBS, id: plan.mandatory_text("job-id")?.to_owned(), action })
    }

    /// Plans the operation. With `forces`, `force` and `timeout` go into the query string of a request
    /// without a body. Deleting something that does not exist is no error.
    fn plan(
        &self,
        plan: &Plan<'_>,
        method: Method,
        body: Option<Value>,
        fallback_body: Option<Value>,
        forces: bool,
    ) -> Result<Box<dyn Operation>, Error> {
        let request = |root: &str, body: Option<&Value>| -> Result<Request, Error> {
            let path = format!("/{root}/{}/{}{}", self.kind, self.id, self.action);
            let mut builder = plan.request_with_body(method, &path, body)?;
            if forces && body.is_none() {
                let force = plan.param("force").map_or_else(|| "false".to_owned(), plain);
                builder = builder.query("force", &force.to_lowercase());
                if let (true, Some(timeout)) = (method == Method::Post, plan.text("timeout")?) {
                    builder = builder.query("timeout", timeout);
                }
            }
            if method == Method::Delete {
                builder = builder.ignore_statuses(&[404]);
            }
            Ok(plan.with_request_params(builder)?.build())
        };
        let operation = WithFallback {
            request: request("_ml", body.as_ref())?,
            fallback: request("_xpack/ml", fallback_body.as_ref())?,
            timeout: plan.timeout()?,
        };
        retried(plan, operation)
    }
}

struct WithFallback {
    request: Request,
    fallback: Request,
    timeout: Option<Duration>,
}

impl Steady for WithFallback {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            match exchange.send(&self.request, self.timeout).await {
                Err(Failure::Api { status: 400, .. }) => {}
                Err(failure) => return Err(failure),
                Ok(_) => return Ok(Outcome::ops(1)),
            }
            exchange.send(&self.fallback, self.timeout).await?;
            Ok(Outcome::ops(1))
        })
    }
}
