//! `cluster-health`: waits for the status that the track asks for (`runner.py`, `ClusterHealth`).

use std::time::Duration;

use serde_json::json;

use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Operation, Outcome, Plan, Steady, plain};
use crate::drive::operation::flow::retry::retried;
use crate::drive::probe::{Found, probe};
use crate::error::Error;
use crate::http::{Method, Request, in_path};

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let path = match plan.names("index")? {
        Some(names) => format!("/_cluster/health/{}", in_path(&names.join(","))),
        None => "/_cluster/health".to_owned(),
    };
    let builder = plan.with_request_params(plan.request(Method::Get, &path)?)?;
    let mut health = ClusterHealth {
        request: builder.build(),
        timeout: plan.timeout()?,
        status_expected: None,
        relocating_shards_max: u64::MAX,
    };
    for (name, value) in plan.request_params()? {
        match name {
            "wait_for_status" => health.status_expected = Some(plain(value)),
            "wait_for_no_relocating_shards" => health.relocating_shards_max = 0,
            _ => {}
        }
    }
    retried(plan, health)
}

struct ClusterHealth {
    request: Request,
    timeout: Option<Duration>,
    status_expected: Option<String>,
    relocating_shards_max: u64,
}

impl Steady for ClusterHealth {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let response = exchange.send(&self.request, self.timeout).await?;
            let text = response.text()?;
            let [status, relocating] = probe(&text, ["status", "relocating_shards"]);
            let status = status.and_then(Found::as_string).unwrap_or_default();
            let relocating = relocating.and_then(Found::as_u64).unwrap_or(0);
            let expected = self.status_expected.as_deref().unwrap_or_default();
            let outcome = match rank(&status) >= rank(expected) && relocating <= self.relocating_shards_max {
                true => Outcome::ops(1),
                false => Outcome::unmet(format!(
                    "cluster status is [{status}] (expected [{expected}]) with [{relocating}] relocating shards"
                )),
            };
            Ok(outcome.with_meta(json!({ "cluster-status": status, "relocating-shards": relocating })))
        })
    }
}

/// Returns a larger number for a healthier status; an unknown one is lowest.
fn rank(status: &str) -> u8 {
    match status.to_ascii_lowercase().as_str() {
        "green" => 3,
        "yellow" => 2,
        "red" => 1,
        _ => 0,
    }
}
