//! `wait-for-snapshot-create`, `wait-for-current-snapshots-create` (`runner.py`, `WaitForSnapshotCreate`,
//! `WaitForCurrentSnapshotsCreate`).

use std::time::Duration;

use serde_json::{Value, json};

use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Failure, Operation, Outcome, Plan, Steady};
use crate::drive::operation::flow::retry::retried;
use crate::error::Error;
use crate::http::{Method, Request, RequestBuilder};
use crate::protocol::version_of;

/// Seconds between two checks, unless the track says otherwise.
const WAIT_DEFAULT_S: f64 = 1.0;
const WAIT: &str = "completion-recheck-wait-period";

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let (repository, snapshot) = (plan.mandatory_text("repository")?, plan.mandatory_text("snapshot")?);
    let status = plan.request(Method::Get, &format!("/_snapshot/{repository}/{snapshot}/_status"))?;
    let wait = WaitForSnapshot {
        snapshot: snapshot.to_owned(),
        current: current(plan, repository)?.build(),
        status: status.query("ignore_unavailable", "true").build(),
        wait: plan.wait(WAIT, WAIT_DEFAULT_S)?,
        timeout: plan.timeout()?,
    };
    retried(plan, wait)
}

/// Builds the request for the snapshots in progress.
fn current(plan: &Plan<'_>, repository: &str) -> Result<RequestBuilder, Error> {
    let builder = plan.request(Method::Get, &format!("/_snapshot/{repository}/_current"))?;
    Ok(builder.query("verbose", "false"))
}

struct WaitForSnapshot {
    snapshot: String,
    current: Request,
    status: Request,
    wait: Duration,
    timeout: Option<Duration>,
}

impl Steady for WaitForSnapshot {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            loop {
                if let Some(stats) = self.stats(exchange).await? {
                    return outcome(&stats);
                }
                tokio::time::sleep(self.wait).await;
            }
        })
    }
}

impl WaitForSnapshot {
    /// Returns the snapshot's statistics once it has succeeded.
    async fn stats(&self, exchange: &mut Exchange) -> Result<Option<Value>, Failure> {
        let current = exchange.send(&self.current, self.timeout).await?.json()?;
        let is_running = |snapshots: &Vec<Value>| {
            snapshots.iter().any(|one| one["snapshot"].as_str() == Some(self.snapshot.as_str()))
        };
        if current["snapshots"].as_array().is_some_and(is_running) {
            return Ok(None);
        }
        let mut status = exchange.send(&self.status, self.timeout).await?.json()?;
        let Some(snapshot) = status.get_mut("snapshots").and_then(|snapshots| snapshots.get_mut(0)) else {
            return Ok(None);
        };
        match snapshot["state"].as_str() {
            Some("FAILED") => {
                let reason = format!("Snapshot [{}] failed: {snapshot}", self.snapshot);
                Err(Failure::from(Error::Failed(reason)))
            }
            Some("SUCCESS") => Ok(Some(snapshot["stats"].take())),
            _ => Ok(None),
        }
    }
}

/// Returns the outcome, whose weight is the bytes and whose throughput comes from the server's own times.
fn outcome(stats: &Value) -> Result<Outcome, Failure> {
    let number = |value: &Value, name: &str| {
        value.as_u64().ok_or_else(|| Failure::Transport {
            description: format!("the snapshot's statistics have no [{name}]"),
        })
    };
    let bytes = number(&stats["total"]["size_in_bytes"], "total.size_in_bytes")?;
    let files = number(&stats["total"]["file_count"], "total.file_count")?;
    let start_ms = number(&stats["start_time_in_millis"], "start_time_in_millis")?;
    let duration_ms = number(&stats["time_in_millis"], "time_in_millis")?;
    let mut outcome = Outcome { unit: "byte", ..Outcome::ops(bytes) }.with_meta(json!({
        "start_time_millis": start_ms,
        "stop_time_millis": start_ms + duration_ms,
        "duration": duration_ms,
        "file_count": files,
    }));
    outcome.details.get_or_insert_default().throughput =
        (duration_ms > 0).then(|| bytes as f64 / (duration_ms as f64 / 1000.0));
    Ok(outcome)
}

pub(in crate::drive::operation) fn plan_current(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let repository = plan.mandatory_text("repository")?;
    let wait = WaitForCurrentSnapshots {
        info: plan.request(Method::Get, "/")?.build(),
        with_names: current(plan, repository)?.build(),
        without_names: current(plan, repository)?.query("index_names", "false").build(),
        wait: plan.wait(WAIT, WAIT_DEFAULT_S)?,
        timeout: plan.timeout()?,
    };
    retried(plan, wait)
}

struct WaitForCurrentSnapshots {
    info: Request,
    with_names: Request,
    /// The same request without index names, whose answers are smaller when there are many snapshots.
    without_names: Request,
    wait: Duration,
    timeout: Option<Duration>,
}

impl Steady for WaitForCurrentSnapshots {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let info = exchange.send(&self.info, self.timeout).await?.json()?;
            let request = match has_index_names(&info) {
                true => &self.without_names,
                false => &self.with_names,
            };
            loop {
                let current = exchange.send(request, self.timeout).await?.json()?;
                // Servers that do not report a total list all running snapshots.
                let listed = || current["snapshots"].as_array().map(|snapshots| snapshots.len() as u64);
                let running = current["total"].as_u64().or_else(listed).ok_or_else(|| {
                    Failure::Transport { description: "the list of current snapshots has no [total]".into() }
                })?;
                if running == 0 {
                    return Ok(Outcome::ops(1));
                }
                tokio::time::sleep(self.wait).await;
            }
        })
    }
}

/// Whether the server has `index_names`, which Elasticsearch added in 8.3 and OpenSearch does not have.
fn has_index_names(info: &Value) -> bool {
    let is_new = version_of(info).is_none_or(|version| version >= (8, 3));
    is_new && info["version"]["distribution"].as_str() != Some("opensearch")
}
