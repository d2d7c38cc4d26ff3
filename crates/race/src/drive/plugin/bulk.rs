//! `bulk` with a body from a plugin's parameter source (`runner.py`, `BulkIndex`): sends the request as the
//! source wrote it.

use std::time::Duration;

use crate::drive::exchange::Exchange;
use crate::drive::operation::documents::bulk_result::BulkResult;
use crate::drive::operation::documents::bulk_retry::{Sent, completed};
use crate::drive::operation::{Answer, Operation, Plan, Runner};
use crate::error::Error;
use crate::http::{Method, Request};
use crate::track::plugin::unit;

/// Parameters: `body` (lines), `bulk-size`, `unit`, `action-metadata-present`; `index` and `type` without
/// action lines; `pipeline`, `refresh`, `timeout`, `detailed-results`, `retries_on_429`, `request-params`.
pub(super) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let has_actions =
        plan.flag("action-metadata-present")?.ok_or_else(|| Error::missing("action-metadata-present"))?;
    let path = match (has_actions, plan.text("index")?, plan.text("type")?.filter(|kind| !kind.is_empty())) {
        (false, Some(index), Some(kind)) => format!("/{index}/{kind}/_bulk"),
        (false, Some(index), None) => format!("/{index}/_bulk"),
        _ => "/_bulk".to_owned(),
    };
    let body = plan
        .mandatory("body")?
        .as_str()
        .ok_or_else(|| Error::parameter("the parameter source's body is no text"))?;
    let mut builder = plan.request(Method::Put, &path)?.header("content-type", &plan.protocol.content_ndjson);
    for name in ["timeout", "pipeline", "refresh"] {
        if let Some(value) = plan.text(name)?.filter(|value| !value.is_empty()) {
            builder = builder.query(name, value);
        }
    }
    let documents = plan.number("bulk-size")?.ok_or_else(|| Error::missing("bulk-size"))?;
    let unit = unit(plan.text("unit")?.ok_or_else(|| Error::missing("unit"))?)?;
    Ok(Box::new(BodyBulk {
        request: plan.with_request_params(builder)?.body(body.to_owned()).build(),
        timeout: plan.timeout()?,
        is_detailed: plan.flag("detailed-results")?.unwrap_or(false),
        keeps_meta: plan.keeps_meta,
        has_actions,
        retries_on_429: plan.number("retries_on_429")?.unwrap_or(0.0) as u64,
        index: plan.text("index")?.map(str::to_owned),
        documents: documents as u64,
        unit,
    }))
}

#[derive(Clone)]
struct BodyBulk {
    request: Request,
    timeout: Option<Duration>,
    is_detailed: bool,
    keeps_meta: bool,
    has_actions: bool,
    retries_on_429: u64,
    index: Option<String>,
    documents: u64,
    unit: &'static str,
}

impl Operation for BodyBulk {
    fn runners(&self, clients: &[u32], _clients_total: u32) -> Result<Vec<Box<dyn Runner>>, Error> {
        Ok(clients.iter().map(|_| Box::new(self.clone()) as Box<dyn Runner>).collect())
    }
}

impl Runner for BodyBulk {
    fn run<'a>(&'a mut self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let response = exchange.send(&self.request, self.timeout).await?;
            let first = BulkResult::read(&response, self.is_detailed)?;
            let sent = Sent {
                request: &self.request,
                body: &self.request.body,
                has_actions: self.has_actions,
                timeout: self.timeout,
                is_detailed: self.is_detailed,
                retries_max: self.retries_on_429,
                documents: self.documents,
                unit: self.unit,
                index: self.index.as_deref(),
                keeps_meta: self.keeps_meta,
            };
            completed(exchange, &sent, first).await
        })
    }
}
