//! Operations that consist of a few fixed requests.

use std::time::Duration;

use super::contract::{Answer, Outcome, Plan, Steady};
use crate::drive::exchange::Exchange;
use crate::error::Error;
use crate::http::{Request, RequestBuilder};

/// Sends requests one after the other and succeeds if all do.
pub(super) struct Requests {
    requests: Vec<Request>,
    timeout: Option<Duration>,
    weight: u64,
}

impl Requests {
    /// Returns an operation with one request, of weight 1.
    pub(super) fn one(plan: &Plan<'_>, request: RequestBuilder) -> Result<Requests, Error> {
        Requests::weighing(plan, 1, vec![request.build()])
    }

    /// Returns an operation whose weight is the number of its requests.
    pub(super) fn each(plan: &Plan<'_>, requests: Vec<Request>) -> Result<Requests, Error> {
        Requests::weighing(plan, requests.len() as u64, requests)
    }

    pub(super) fn weighing(plan: &Plan<'_>, weight: u64, requests: Vec<Request>) -> Result<Requests, Error> {
        Ok(Requests { weight, requests, timeout: plan.timeout()? })
    }
}

impl Steady for Requests {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            for request in &self.requests {
                exchange.send(request, self.timeout).await?;
            }
            Ok(Outcome::ops(self.weight))
        })
    }
}
