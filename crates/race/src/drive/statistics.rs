//! The statistics of a task so far.
//!
//! One [`TaskStatistics`] per task receives the samples of all its clients as they arrive, in bounded memory:
//! distributions of the three times over the measured samples, the current throughput over all samples, and
//! the first few different errors.

use std::collections::BTreeMap;
use std::time::Duration;

use super::conditions::send_delay::Delays;
use super::distribution::Distribution;
use crate::drive::throughput::{ThroughputCalculator, ThroughputSummary};
use crate::record::sample::{ErrorNote, Note, Sample};

/// Number of different errors kept for each task; further ones are only counted.
const ERRORS_KEPT_MAX: usize = 10;

#[derive(Debug, Default)]
pub(crate) struct TaskStatistics {
    pub service_time: Distribution,
    pub latency: Distribution,
    pub processing_time: Distribution,
    /// The server's own time; empty for operations whose answers do not have it.
    pub took: Distribution,
    /// Service time of the warm-up. Reports do not show it, but it distinguishes a cold server from a slow
    /// one.
    pub warmup_service_time: Distribution,
    /// How late throttled requests were sent, and how much of the delay of every request the load generator
    /// caused.
    pub send_delay: Delays,
    pub own_delay: Delays,
    throughput: ThroughputCalculator,
    failures: u64,
    warmup_failures: u64,
    /// Operations done by successful and failed samples of both types, in `unit`.
    pub weight_total: u64,
    unit: &'static str,
    last_request: Duration,
    /// When the first measured request was sent, relative to the step's start.
    first_measured: Option<Duration>,
    errors: BTreeMap<(&'static str, Option<u16>, String), u64>,
    errors_beyond: u64,
}

impl TaskStatistics {
    pub(crate) fn record(&mut self, sample: Sample) {
        match sample.details.as_ref().and_then(|details| details.throughput) {
            Some(own) => self.throughput.record_own(sample.processing_start, own, sample.is_warmup),
            None => self.throughput.record(
                sample.processing_start,
                sample.time_period,
                sample.weight,
                sample.is_warmup,
            ),
        }
        self.last_request = self.last_request.max(sample.request_start);
        self.weight_total += sample.weight;
        // Failed requests report the unit "ops", whatever the operation measures.
        if self.unit.is_empty() || sample.is_success {
            self.unit = sample.unit;
        }
        if sample.is_warmup {
            self.warmup_service_time.record(sample.service_time);
            self.warmup_failures += u64::from(!sample.is_success);
        } else {
            let first = self.first_measured.unwrap_or(sample.request_start);
            self.first_measured = Some(first.min(sample.request_start));
            self.service_time.record(sample.service_time);
            self.latency.record(sample.latency);
            self.processing_time.record(sample.processing_time);
            self.own_delay.record(sample.own_delay);
            if let Some(delay) = sample.send_delay {
                self.send_delay.record(delay);
            }
            if let Some(took) = sample.took {
                self.took.record(took);
            }
            self.failures += u64::from(!sample.is_success);
        }
        if let Some(error) = sample.error {
            self.note_error(*error);
        }
    }

    fn note_error(&mut self, error: ErrorNote) {
        let key = (error.kind, error.status, error.description);
        let is_known = self.errors.contains_key(&key);
        if is_known || self.errors.len() < ERRORS_KEPT_MAX {
            *self.errors.entry(key).or_default() += 1;
        } else {
            self.errors_beyond += 1;
        }
    }

    /// Ends a round of the throughput calculation.
    pub(crate) fn end_round(&mut self) {
        self.throughput.end_round();
    }

    pub(crate) fn throughput(&mut self) -> Option<ThroughputSummary> {
        self.throughput.finish()
    }

    /// Returns the values of the throughput until now. They are complete after
    /// [`TaskStatistics::throughput`].
    pub(crate) fn throughput_notes(&self) -> &[Note] {
        self.throughput.notes()
    }

    /// Returns the unit of the throughput, such as `docs/s`.
    pub(crate) fn throughput_unit(&self) -> String {
        format!("{}/s", if self.unit.is_empty() { "ops" } else { self.unit })
    }

    /// Returns the share of measured samples that failed.
    pub(crate) fn error_rate(&self) -> f64 {
        match self.service_time.count() {
            0 => 0.0,
            samples => self.failures as f64 / samples as f64,
        }
    }

    pub(crate) fn failures(&self) -> u64 {
        self.failures + self.warmup_failures
    }

    /// Whether any request was sent, in the warm-up or after it.
    pub(crate) fn has_samples(&self) -> bool {
        self.service_time.count() + self.warmup_service_time.count() > 0
    }

    /// Returns the time from the first measured request's start to the last one's; `None` if nothing was
    /// measured.
    pub(crate) fn measured(&self) -> Option<Duration> {
        Some(self.last_request.saturating_sub(self.first_measured?))
    }

    /// Returns the time from the step's start to the last request's start.
    pub(crate) fn duration(&self) -> Duration {
        self.last_request
    }

    /// Returns the errors seen, the most frequent first, one line each.
    pub(crate) fn error_lines(&self) -> Vec<String> {
        let mut errors: Vec<_> = self.errors.iter().collect();
        errors.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let shown = |((kind, status, description), count): &(&(&'static str, Option<u16>, String), &u64)| {
            let status = status.map_or_else(String::new, |status| format!(", HTTP status {status}"));
            format!("{count} x {kind}{status}: {description}")
        };
        let mut lines: Vec<String> = errors.iter().map(shown).collect();
        if self.errors_beyond > 0 {
            lines.push(format!("{} further errors with other descriptions", self.errors_beyond));
        }
        lines
    }
}
