//! `wait-for-transform`: stops a transform at its next checkpoint and waits until it has stopped
//! (`runner.py`, `WaitForTransform`).
//!
//! Every run ends with a sample of what was processed since the previous one. Its throughput comes from the
//! transform's own times. The task ends when the transform has stopped. Every task stops its transform again,
//! whereas Rally stops only the first transform that one of its processes waits for. A run that fails ends
//! the task, whereas Rally keeps asking forever.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Answer, Failure, Operation, Outcome, Plan, Runner, Steady, plain};
use crate::drive::operation::flow::retry::retried;
use crate::drive::operation::indices::transform::flagged;
use crate::error::Error;
use crate::http::{Method, Request};

/// Seconds that a transform may take by default.
const TIMEOUT_DEFAULT_S: f64 = 3600.0;
/// A sample before the end needs more documents and more milliseconds than these.
const SAMPLE_DOCUMENTS_MIN: u64 = 5000;
const SAMPLE_MS_MIN: u64 = 500;

pub(in crate::drive::operation) fn plan(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let id = plan.mandatory_text("transform-id")?;
    let mut stop = plan.request(Method::Post, &format!("/_transform/{id}/_stop"))?;
    stop = flagged(plan, stop, "force", "force");
    if let Some(timeout) = plan.text("timeout")? {
        stop = stop.query("timeout", timeout);
    }
    let checkpoint = plan.param("wait-for-checkpoint").map_or_else(|| "true".to_owned(), plain);
    stop =
        stop.query("wait_for_completion", "false").query("wait_for_checkpoint", &checkpoint.to_lowercase());
    let wait = WaitForTransform {
        id: id.to_owned(),
        stop: plan.with_request_params(stop)?.build(),
        stats: plan.request(Method::Get, &format!("/_transform/{id}/_stats"))?.build(),
        waits_for_completion: plan.flag("wait-for-completion")?.unwrap_or(true),
        transform_timeout: plan.wait("transform-timeout", TIMEOUT_DEFAULT_S)?,
        poll: plan.wait("poll-interval", 0.5)?,
        timeout: plan.timeout()?,
        progress: Mutex::default(),
    };
    Ok(Box::new(Completing(retried(plan, wait)?)))
}

/// An operation that ends its task by itself.
struct Completing(Box<dyn Operation>);

impl Operation for Completing {
    fn is_finite(&self) -> bool {
        true
    }

    fn runners(&self, clients: &[u32], clients_total: u32) -> Result<Vec<Box<dyn Runner>>, Error> {
        let around = |runner| -> Box<dyn Runner> { Box::new(CompletingRunner { runner, has_failed: false }) };
        Ok(self.0.runners(clients, clients_total)?.into_iter().map(around).collect())
    }
}

struct CompletingRunner {
    runner: Box<dyn Runner>,
    has_failed: bool,
}

impl Runner for CompletingRunner {
    fn prepare(&mut self) -> Result<bool, Error> {
        Ok(!self.has_failed && self.runner.prepare()?)
    }

    fn run<'a>(&'a mut self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let result = self.runner.run(exchange).await;
            self.has_failed = result.is_err();
            result
        })
    }
}

struct WaitForTransform {
    id: String,
    stop: Request,
    stats: Request,
    waits_for_completion: bool,
    /// Longest time that the transform may run.
    transform_timeout: Duration,
    poll: Duration,
    timeout: Option<Duration>,
    /// Shared by all clients of the task, as in Rally.
    progress: Mutex<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    started: Option<Instant>,
    documents: u64,
    processing_ms: u64,
}

impl Steady for WaitForTransform {
    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> Answer<'a> {
        Box::pin(async move {
            let (started, is_first) = self.begin();
            if is_first {
                exchange.send(&self.stop, self.timeout).await?;
            }
            loop {
                let answer = exchange.send(&self.stats, self.timeout).await?.json()?;
                let transform = answer["transforms"].get(0).ok_or_else(|| Failure::Transport {
                    description: format!("there is no transform [{}]", self.id),
                })?;
                if started.elapsed() > self.transform_timeout {
                    return Err(Failure::from(Error::Failed(format!(
                        "Transform [{}] timed out after [{}] seconds. Please consider increasing the timeout in the track.",
                        self.id,
                        self.transform_timeout.as_secs_f64()
                    ))));
                }
                if transform["state"].as_str() == Some("failed") {
                    let why = transform["reason"].as_str().unwrap_or("unknown");
                    return Err(Failure::from(Error::Failed(format!(
                        "Transform [{}] failed with [{why}].",
                        self.id
                    ))));
                }
                if let Some(outcome) = self.outcome(transform) {
                    return Ok(outcome);
                }
                tokio::time::sleep(self.poll).await;
            }
        })
    }
}

impl WaitForTransform {
    /// Returns when waiting began, and whether this call began it.
    fn begin(&self) -> (Instant, bool) {
        let mut progress = self.progress();
        match progress.started {
            Some(started) => (started, false),
            None => (*progress.started.insert(Instant::now()), true),
        }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a sample if enough has been processed or the transform is done.
    fn outcome(&self, transform: &Value) -> Option<Outcome> {
        let is_done = transform["state"].as_str() == Some("stopped") || !self.waits_for_completion;
        let stats = &transform["stats"];
        let number = |name: &str| stats[name].as_u64().unwrap_or(0);
        let documents = number("documents_processed");
        let processing_ms =
            number("search_time_in_ms") + number("processing_time_in_ms") + number("index_time_in_ms");
        let mut progress = self.progress();
        let new_documents = documents.saturating_sub(progress.documents);
        let new_ms = processing_ms.saturating_sub(progress.processing_ms);
        if !is_done && (new_documents <= SAMPLE_DOCUMENTS_MIN || new_ms <= SAMPLE_MS_MIN) {
            return None;
        }
        // At the end, the throughput is that of the whole run.
        let (of_documents, of_ms) =
            if is_done { (documents, processing_ms) } else { (new_documents, new_ms) };
        (progress.documents, progress.processing_ms) = (documents, processing_ms);
        let throughput = if of_ms > 0 { of_documents as f64 / of_ms as f64 * 1000.0 } else { 0.0 };
        let percent = transform["checkpointing"]["next"]["checkpoint_progress"]["percent_complete"].as_f64();
        let mut outcome =
            Outcome { unit: "docs", ..Outcome::ops(documents) }.with_meta(json!({ "transform-id": self.id }));
        let details = outcome.details.get_or_insert_default();
        details.throughput = Some(throughput);
        // The transform has not necessarily ended when its checkpoint is read to the end.
        const PERCENT_BEFORE_END: f64 = 99.9;
        details.completion = Some(match is_done {
            true => 1.0,
            false => percent.unwrap_or(0.0).min(PERCENT_BEFORE_END) / 100.0,
        });
        Some(outcome)
    }
}
