//! `open-point-in-time` and `close-point-in-time`, inside a `composite` (`runner.py`, `OpenPointInTime`,
//! `ClosePointInTime`).

use std::time::Duration;

use serde_json::json;

use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Failure, Operation, Outcome, Plan, Steady, steady};
use crate::drive::probe::{Found, probe};
use crate::error::Error;
use crate::http::{Method, Request};

pub(in crate::drive::operation) fn plan_open(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    plan.only_in_composite()?;
    let target = plan.target()?.ok_or_else(|| Error::missing("index"))?;
    let keep_alive = plan.text("keep-alive")?.unwrap_or("1m");
    let builder = plan.request(Method::Post, &format!("/{target}/_pit"))?.query("keep_alive", keep_alive);
    Ok(steady(LeaveId {
        name: plan.task.operation.name.clone(),
        request: plan.with_request_params(builder)?.build(),
        timeout: plan.timeout()?,
    }))
}

/// A request whose answer has an `id` that later requests of the same `composite` need.
pub(in crate::drive::operation) struct LeaveId {
    pub name: String,
    pub request: Request,
    pub timeout: Option<Duration>,
}

impl Steady for LeaveId {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let response = exchange.send(&self.request, self.timeout).await?;
            let text = response.text()?;
            let [id] = probe(&text, ["id"]);
            let id = id.and_then(Found::as_string).ok_or_else(|| Failure::Transport {
                description: format!("the answer to [{}] has no [id]", self.name),
            })?;
            exchange.remember(&self.name, id);
            Ok(Outcome::ops(1))
        })
    }
}

pub(in crate::drive::operation) fn plan_close(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    plan.only_in_composite()?;
    let builder = plan.with_request_params(plan.request(Method::Delete, "/_pit")?)?;
    Ok(steady(ClosePointInTime {
        from: plan.mandatory_text("with-point-in-time-from")?.to_owned(),
        request: builder.header("content-type", &plan.protocol.content_json).build(),
        timeout: plan.timeout()?,
    }))
}

struct ClosePointInTime {
    /// Name of the operation that opened the point in time.
    from: String,
    request: Request,
    timeout: Option<Duration>,
}

impl Steady for ClosePointInTime {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let body = json!({ "id": exchange.recall(&self.from)? }).to_string();
            exchange.send_body(&self.request, body.as_bytes(), self.timeout).await?;
            exchange.forget(&self.from)?;
            Ok(Outcome::ops(1))
        })
    }
}
