//! `create-transform`, `start-transform`, `delete-transform`, `transform-stats` (`runner.py`,
//! `CreateTransform` and others).

use std::time::Duration;

use serde_json::Value;

use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Operation, Outcome, Plan, Steady, plain};
use crate::drive::operation::flow::condition::Condition;
use crate::drive::operation::flow::retry::retried;
use crate::drive::operation::requests::Requests;
use crate::error::Error;
use crate::http::{Method, Request, RequestBuilder};

pub(in crate::drive::operation) fn plan_create(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let body = plan.mandatory("body")?;
    let builder = plan.request_with_body(Method::Put, &path(plan, "")?, Some(body))?;
    request(plan, flagged(plan, builder, "defer-validation", "defer_validation"))
}

pub(in crate::drive::operation) fn plan_start(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let mut builder = plan.request(Method::Post, &path(plan, "/_start")?)?;
    if let Some(timeout) = plan.text("timeout")? {
        builder = builder.query("timeout", timeout);
    }
    request(plan, builder)
}

/// Deleting a transform that does not exist is no error.
pub(in crate::drive::operation) fn plan_delete(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let builder = plan.request(Method::Delete, &path(plan, "")?)?.ignore_statuses(&[404]);
    request(plan, flagged(plan, builder, "force", "force"))
}

fn path(plan: &Plan<'_>, end: &str) -> Result<String, Error> {
    Ok(format!("/_transform/{}{end}", plan.mandatory_text("transform-id")?))
}

/// Adds the parameter `param`, which is false by default, as `name` to the query string.
pub(in crate::drive::operation) fn flagged(
    plan: &Plan<'_>,
    builder: RequestBuilder,
    param: &str,
    name: &str,
) -> RequestBuilder {
    let value = plan.param(param).map_or_else(|| "false".to_owned(), plain);
    builder.query(name, &value.to_lowercase())
}

fn request(plan: &Plan<'_>, builder: RequestBuilder) -> Result<Box<dyn Operation>, Error> {
    retried(plan, Requests::one(plan, plan.with_request_params(builder)?)?)
}

pub(in crate::drive::operation) fn plan_stats(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let builder = plan.with_request_params(plan.request(Method::Get, &path(plan, "/_stats")?)?)?;
    let condition = Condition::plan(plan)?;
    retried(plan, TransformStats { request: builder.build(), timeout: plan.timeout()?, condition })
}

struct TransformStats {
    request: Request,
    timeout: Option<Duration>,
    condition: Option<Condition>,
}

impl Steady for TransformStats {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let response = exchange.send(&self.request, self.timeout).await?;
            Ok(match &self.condition {
                Some(condition) => {
                    let stats = response.json()?;
                    // The condition applies to the first transform, or to null if there is none.
                    condition.outcome(stats["transforms"].get(0).unwrap_or(&Value::Null))
                }
                None => Outcome::ops(1),
            })
        })
    }
}
