//! `wait-for-recovery`: waits until all shards of an index are recovered (`runner.py`, `IndicesRecovery`).
//!
//! The weight is the number of recovered bytes; the throughput comes from the shards' own start and stop
//! times.

use std::time::Duration;

use serde_json::{Value, json};

use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Failure, Operation, Outcome, Plan, Steady};
use crate::drive::operation::flow::retry::retried;
use crate::error::Error;
use crate::http::{Method, Request, in_path};

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    plan.mandatory("index")?;
    let index = plan.names("index")?.ok_or_else(|| Error::missing("index"))?.join(",");
    let builder = plan.request(Method::Get, &format!("/{}/_recovery", in_path(&index)))?;
    let wait = WaitForRecovery {
        request: plan.with_request_params(builder)?.build(),
        wait: plan.wait("completion-recheck-wait-period", 1.0)?,
        timeout: plan.timeout()?,
    };
    retried(plan, wait)
}

struct WaitForRecovery {
    request: Request,
    wait: Duration,
    timeout: Option<Duration>,
}

impl Steady for WaitForRecovery {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            loop {
                let answer = exchange.send(&self.request, self.timeout).await?.json()?;
                if let Some(recovery) = recovered(&answer)? {
                    return Ok(recovery.outcome());
                }
                tokio::time::sleep(self.wait).await;
            }
        })
    }
}

struct Recovery {
    bytes: u64,
    start_ms: u64,
    stop_ms: u64,
}

/// Returns the recovery of all shards, or `None` while a shard is not done or none has begun.
fn recovered(answer: &Value) -> Result<Option<Recovery>, Failure> {
    let incomplete = || Failure::Transport { description: format!("recovery cannot be read: {answer}") };
    let indices = answer.as_object().ok_or_else(incomplete)?;
    let shards = indices.values().filter_map(Value::as_object).flat_map(|index| index.values());
    let mut all = Recovery { bytes: 0, start_ms: u64::MAX, stop_ms: 0 };
    for shard in shards.filter_map(Value::as_array).flatten() {
        if shard["stage"].as_str() != Some("DONE") {
            return Ok(None);
        }
        let number = |value: &Value| value.as_u64().ok_or_else(incomplete);
        all.bytes += number(&shard["index"]["size"]["recovered_in_bytes"])?;
        all.start_ms = all.start_ms.min(number(&shard["start_time_in_millis"])?);
        all.stop_ms = all.stop_ms.max(number(&shard["stop_time_in_millis"])?);
    }
    Ok((all.start_ms != u64::MAX).then_some(all))
}

impl Recovery {
    fn outcome(self) -> Outcome {
        let duration_s = self.stop_ms.saturating_sub(self.start_ms) as f64 / 1000.0;
        let mut outcome = Outcome { unit: "byte", ..Outcome::ops(self.bytes) }
            .with_meta(json!({ "start_time_millis": self.start_ms, "stop_time_millis": self.stop_ms }));
        outcome.details.get_or_insert_default().throughput =
            (duration_s > 0.0).then(|| self.bytes as f64 / duration_s);
        outcome
    }
}
