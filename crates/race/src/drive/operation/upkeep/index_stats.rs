//! `index-stats`: reads index statistics, optionally until a value is reached (`runner.py`, `IndicesStats`).

use std::time::Duration;

use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Operation, Outcome, Plan, Steady};
use crate::drive::operation::flow::condition::Condition;
use crate::drive::operation::flow::retry::retried;
use crate::error::Error;
use crate::http::{Method, Request, in_path};

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let target = plan.names("index")?.map_or_else(|| "_all".to_owned(), |names| names.join(","));
    let path = format!("/{}/_stats/_all", in_path(&target));
    let builder = plan.with_request_params(plan.request(Method::Get, &path)?)?;
    let condition = Condition::plan(plan)?;
    retried(plan, IndexStats { request: builder.build(), timeout: plan.timeout()?, condition })
}

struct IndexStats {
    request: Request,
    timeout: Option<Duration>,
    condition: Option<Condition>,
}

impl Steady for IndexStats {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let response = exchange.send(&self.request, self.timeout).await?;
            Ok(match &self.condition {
                Some(condition) => condition.outcome(&response.json()?),
                None => Outcome::ops(1),
            })
        })
    }
}
