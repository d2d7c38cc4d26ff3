//! The current figures of a running task.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::model::Task;
use crate::notation::shown::{clock, grouped, milliseconds};
use crate::record::timeline::format::{histogram, ms};
use crate::record::timeline::recorder::RunningTask;

/// Below this share, an estimate of the remaining time means nothing.
const SHARE_MIN: f64 = 0.005;

/// What is raced, for the heading of the terminal or page.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Heading {
    pub race_id: String,
    pub track: String,
    pub challenge: String,
    /// The server: its car, its version if it reports one, and its addresses.
    pub car: String,
    pub version: Option<String>,
    pub hosts: Vec<String>,
    /// Number of elements in the challenge's schedule.
    pub steps_count: usize,
}

/// A task of the running step. Throughput and times are those of about the last two seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct TaskNow {
    pub name: String,
    pub clients: u32,
    /// Whether requests are sent on a schedule, so that latency differs from service time.
    pub is_throttled: bool,
    pub is_warmup: bool,
    /// Share done, in [0, 1]; `None` while unknown.
    pub share: Option<f64>,
    /// Time since its first request, and estimated time until its end.
    pub elapsed_s: f64,
    pub left_s: Option<f64>,
    /// `unit` per second; `None` when no request ended recently.
    pub throughput: Option<f64>,
    pub unit: &'static str,
    pub service_time_p50_ms: Option<f64>,
    pub service_time_p99_ms: Option<f64>,
    pub latency_p99_ms: Option<f64>,
    /// Number of requests since its start, including the warm-up.
    pub requests: u64,
    pub errors: u64,
}

impl TaskNow {
    /// Returns the figures before the first sample.
    pub(crate) fn new(task: &Task) -> TaskNow {
        TaskNow {
            name: task.name.clone(),
            clients: task.clients,
            is_throttled: task.target_throughput.is_some(),
            ..TaskNow::default()
        }
    }

    /// Updates the figures. `elapsed` is the time since the step's start.
    pub(crate) fn update(&mut self, running: &RunningTask, elapsed: Duration) {
        (self.requests, self.errors, self.is_warmup) = (running.requests, running.errors, running.is_warmup);
        let Some(first) = running.first else { return };
        let since_first = elapsed.saturating_sub(first);
        self.elapsed_s = since_first.as_secs_f64();
        self.share = running.share_sum().map(|sum| (sum / f64::from(self.clients.max(1))).min(1.0));
        self.left_s = self
            .share
            .filter(|share| *share >= SHARE_MIN)
            .map(|share| self.elapsed_s * (1.0 - share) / share);
        self.update_figures(running, first, elapsed);
    }

    /// Sets the figures of the whole task without the warm-up. If nothing was measured, the last figures
    /// stay.
    pub(crate) fn finish(&mut self, running: &RunningTask) {
        let whole = running.measured();
        let Some(from) = running.measured_from.filter(|_| whole.requests > 0) else { return };
        let window_s = running.last_end.saturating_sub(from).as_secs_f64();
        self.unit = whole.unit;
        self.throughput = (window_s > 0.0).then(|| whole.operations as f64 / window_s);
        self.set_times(&whole.service_time, &whole.latency);
    }

    fn update_figures(&mut self, running: &RunningTask, first: Duration, elapsed: Duration) {
        let (mut service_time, mut latency) = (histogram(), histogram());
        let mut operations = 0;
        let (start, recent) = running.recent(elapsed);
        for slice in recent {
            // A resizing histogram can add any other.
            let _ = service_time.add(&slice.service_time);
            let _ = latency.add(&slice.latency);
            operations += slice.operations;
            self.unit = slice.unit;
        }
        let window_s = elapsed.saturating_sub(start.max(first)).as_secs_f64();
        self.throughput = (!service_time.is_empty() && window_s > 0.0).then(|| operations as f64 / window_s);
        self.set_times(&service_time, &latency);
    }

    fn set_times(&mut self, service_time: &Histogram<u32>, latency: &Histogram<u32>) {
        let quantile_ms = |histogram: &Histogram<u32>, quantile: f64| {
            (!histogram.is_empty()).then(|| ms(histogram.value_at_quantile(quantile)))
        };
        self.service_time_p50_ms = quantile_ms(service_time, 0.5);
        self.service_time_p99_ms = quantile_ms(service_time, 0.99);
        self.latency_p99_ms = quantile_ms(latency, 0.99).filter(|_| self.is_throttled);
    }

    /// Returns the text that a terminal shows beside the bar, such as
    /// `61,204 docs/s  p50 12.3 ms  p99 88.1 ms  3 errors  0:32 left`.
    pub(crate) fn line(&self) -> String {
        let mut parts = Vec::new();
        match self.throughput {
            Some(throughput) => parts.push(format!("{} {}/s", grouped(throughput), self.unit)),
            None => parts.push("waiting".to_owned()),
        }
        let mut time = |name: &str, ms: Option<f64>| {
            if let Some(ms) = ms {
                parts.push(format!("{name} {}", milliseconds(ms)));
            }
        };
        time("p50", self.service_time_p50_ms);
        time("p99", self.service_time_p99_ms);
        time("latency p99", self.latency_p99_ms);
        match self.errors {
            0 => {}
            1 => parts.push("1 error".to_owned()),
            errors => parts.push(format!("{} errors", grouped(errors as f64))),
        }
        match self.left_s {
            Some(left_s) => parts.push(format!("{} left", clock(left_s))),
            None => parts.push(format!("{} so far", clock(self.elapsed_s))),
        }
        if self.is_warmup {
            parts.push("(warm-up)".to_owned());
        }
        parts.join("  ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_is_known() {
        let mut now = TaskNow { name: "index".into(), is_warmup: true, elapsed_s: 3.0, ..TaskNow::default() };
        assert_eq!(now.line(), "waiting  0:03 so far  (warm-up)");
        now = TaskNow {
            throughput: Some(61_204.4),
            unit: "docs",
            service_time_p50_ms: Some(12.3),
            service_time_p99_ms: Some(88.1),
            latency_p99_ms: Some(1500.0),
            errors: 3,
            left_s: Some(32.0),
            ..TaskNow::default()
        };
        assert_eq!(
            now.line(),
            "61,204 docs/s  p50 12.3 ms  p99 88.1 ms  latency p99 1.50 s  3 errors  0:32 left"
        );
    }
}
