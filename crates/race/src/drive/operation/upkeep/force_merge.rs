//! `force-merge`: merges segments, and waits for the request or polls (`runner.py`, `ForceMerge`).

use std::time::Duration;

use serde_json::Value;

use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Failure, Operation, Outcome, Plan, Steady, steady};
use crate::error::Error;
use crate::http::{Method, Request, in_path};
use crate::protocol::version_of;

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let own = plan.names("index")?.or(plan.names("data-stream")?);
    let all: Vec<String> = plan
        .track
        .indices
        .iter()
        .map(|index| index.name.clone())
        .chain(plan.track.data_streams.clone())
        .collect();
    let target = match own {
        Some(names) => names.join(","),
        None if all.is_empty() => "_all".to_owned(),
        None => all.join(","),
    };
    let merge = || -> Result<_, Error> {
        let path = format!("/{}/_forcemerge", in_path(&target));
        let mut builder = plan.with_request_params(plan.request(Method::Post, &path)?)?;
        if let Some(count) = plan.number("max-num-segments")?.filter(|count| *count >= 1.0) {
            builder = builder.query("max_num_segments", &(count as u64).to_string());
        }
        Ok(builder)
    };
    let is_polling = match plan.text("mode")?.unwrap_or("blocking") {
        "polling" => true,
        "blocking" => false,
        other => {
            return Err(Error::Parameter(format!(
                "force-merge mode [{other}] is neither [blocking] nor [polling]"
            )));
        }
    };
    let poll_s = plan.number("poll-period")?.unwrap_or(10.0);
    Ok(steady(ForceMerge {
        blocking: merge()?.build(),
        detached: merge()?.query("wait_for_completion", "false").build(),
        info: plan.request(Method::Get, "/")?.build(),
        tasks: plan.request(Method::Get, "/_tasks")?.query("actions", "indices:admin/forcemerge").build(),
        task: plan.request(Method::Get, "/_tasks/")?.build(),
        timeout: plan.timeout()?,
        is_polling,
        poll: Duration::try_from_secs_f64(poll_s)
            .map_err(|_| Error::Parameter(format!("'poll-period' must not be negative but was {poll_s}")))?,
    }))
}

struct ForceMerge {
    blocking: Request,
    detached: Request,
    info: Request,
    tasks: Request,
    /// `GET /_tasks/`; the task's id is appended to the path later.
    task: Request,
    timeout: Option<Duration>,
    is_polling: bool,
    poll: Duration,
}

impl Steady for ForceMerge {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            if self.is_polling {
                self.poll(exchange).await?;
            } else {
                exchange.send(&self.blocking, self.timeout).await?;
            }
            Ok(Outcome::ops(1))
        })
    }
}

impl ForceMerge {
    async fn poll(&self, exchange: &mut Exchange) -> Result<(), Failure> {
        let info = exchange.send(&self.info, self.timeout).await?.json()?;
        if has_detached_merge(&info) {
            let started = exchange.send(&self.detached, self.timeout).await?.json()?;
            let Some(id) = started["task"].as_str() else {
                return Err(Failure::Transport { description: "force merge answered without a task".into() });
            };
            return self.poll_task(exchange, id).await;
        }
        match exchange.send(&self.blocking, self.timeout).await {
            Ok(_) => return Ok(()),
            Err(Failure::Timeout) => {}
            Err(failure) => return Err(failure),
        }
        loop {
            tokio::time::sleep(self.poll).await;
            let tasks = exchange.send(&self.tasks, self.timeout).await?.json()?;
            if tasks["nodes"].as_object().is_none_or(|nodes| nodes.is_empty()) {
                return Ok(());
            }
        }
    }

    async fn poll_task(&self, exchange: &mut Exchange, id: &str) -> Result<(), Failure> {
        let request = self.task.clone().with_path_end(id);
        loop {
            tokio::time::sleep(self.poll).await;
            let task = exchange.send(&request, self.timeout).await?.json()?;
            if task["completed"].as_bool() == Some(true) {
                return Ok(());
            }
        }
    }
}

/// Whether the server has `wait_for_completion`, which Elasticsearch added in 8.1 and OpenSearch in 2.7.
fn has_detached_merge(info: &Value) -> bool {
    let since = match info["version"]["distribution"].as_str() {
        Some("opensearch") => (2, 7),
        _ => (8, 1),
    };
    version_of(info).is_some_and(|version| version >= since)
}
