//! The times at which a plugin's scheduler wants requests to be sent.
//!
//! Rally has two kinds of schedulers (`driver/scheduler.py`). A *simple* one is created for a throughput, so
//! its due times can be requested in batches; a new throughput needs a new scheduler. A *regular* one is told
//! about every request, and decides after each one.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use crate::drive::operation::{Outcome, Pending};
use crate::error::Error;
use crate::track::plugin::PluginError;
use crate::track::plugin::process::Process;

/// Number of due times requested at once.
const BATCH: u64 = 64;

pub(crate) struct PluginSchedule {
    process: Arc<Process>,
    id: u64,
    is_simple: bool,
    due_s: VecDeque<f64>,
    /// The last due time that was taken.
    current_s: f64,
    /// Requests per second for which a simple scheduler was created.
    rate: Option<f64>,
    finished: Option<Finished>,
}

impl std::fmt::Debug for PluginSchedule {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("PluginSchedule").field("current_s", &self.current_s).finish_non_exhaustive()
    }
}

struct Finished {
    started: Instant,
    ended: Instant,
    weight: u64,
    unit: &'static str,
    meta: Value,
}

impl PluginSchedule {
    pub(crate) fn new(process: Arc<Process>, id: u64, is_simple: bool) -> PluginSchedule {
        PluginSchedule {
            process,
            id,
            is_simple,
            due_s: VecDeque::new(),
            current_s: 0.0,
            rate: None,
            finished: None,
        }
    }

    /// Returns what has to be awaited before [`PluginSchedule::next_due_s`]. `rate` is the number of requests
    /// per second of this client, once it is known.
    pub(crate) fn pending(&mut self, rate: Option<f64>) -> Option<Pending<'_>> {
        if self.is_simple {
            let rate = rate?;
            if self.rate == Some(rate) && !self.due_s.is_empty() {
                return None;
            }
            let changed = (self.rate != Some(rate)).then_some(rate);
            self.rate = Some(rate);
            self.due_s.clear();
            return Some(Box::pin(self.ask(json!({"throughput": changed, "count": BATCH}))));
        }
        if !self.due_s.is_empty() {
            return None;
        }
        let after = self.finished.take().map(|finished| {
            json!({
                "started_ago_s": finished.started.elapsed().as_secs_f64(),
                "ended_ago_s": finished.ended.elapsed().as_secs_f64(),
                "weight": finished.weight,
                "unit": finished.unit,
                "meta": finished.meta,
            })
        });
        Some(Box::pin(self.ask(json!({"after": after, "count": 1}))))
    }

    async fn ask(&mut self, mut request: Value) -> Result<(), Error> {
        request["request"] = json!("due");
        request["id"] = json!(self.id);
        request["current"] = json!(self.current_s);
        let answer = self.answer(request).await?;
        self.due_s.extend(answer["due"].as_array().into_iter().flatten().filter_map(Value::as_f64));
        match self.due_s.is_empty() {
            true => Err(Error::parameter("the plugin's scheduler gave no due time")),
            false => Ok(()),
        }
    }

    async fn answer(&self, request: Value) -> Result<Value, PluginError> {
        Ok(self.process.converse(request, b"")?.next().await?.header)
    }

    /// Returns the next due time in seconds after the task's start; 0 while nothing throttles.
    pub(crate) fn next_due_s(&mut self) -> f64 {
        self.current_s = self.due_s.pop_front().unwrap_or(0.0);
        self.current_s
    }

    /// Tells the scheduler about a finished request.
    pub(crate) fn after_request(&mut self, started: Instant, ended: Instant, outcome: &Outcome) {
        if self.is_simple {
            return;
        }
        let mut meta = json!({"success": outcome.is_success});
        if let Some(error) = &outcome.error {
            meta["error-type"] = json!(error.kind);
            meta["error-description"] = json!(error.description);
            if let Some(status) = error.status {
                meta["http-status"] = json!(status);
            }
        }
        self.finished = Some(Finished { started, ended, weight: outcome.weight, unit: outcome.unit, meta });
    }
}
