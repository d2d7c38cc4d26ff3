//! How much work a task did per second, by Rally's definition.
//!
//! Rally's throughput (`driver.py`, `ThroughputCalculator`) is a running average since the task's start,
//! including the warm-up, that is read once per second. The samples of all clients are counted in the order
//! in which their processing began, and whenever another whole second of the task has passed,
//! `count / elapsed` is noted. The notes made while the type is `normal` are the task's throughput. After the
//! first normal sample the type stays normal. A type without any note gets one from its last sample.
//!
//! Samples wait here for the end of a round ([`ROUND_SAMPLES_MAX`], or the caller's clock; Rally's rounds
//! take 30 s), so that memory is bounded by the rate and not by the length of a race.

use crate::record::sample::Note;
use std::time::Duration;

/// If more samples are waiting (24 bytes each), the round ends at once.
pub(crate) const ROUND_SAMPLES_MAX: usize = 500_000;

#[derive(Debug, Clone, Copy, PartialEq)]
struct Waiting {
    processing_start_s: f64,
    weight: u64,
    is_warmup: bool,
}

#[derive(Debug, Default)]
pub(crate) struct ThroughputCalculator {
    waiting: Vec<Waiting>,
    running: Option<Running>,
    /// Processing start and time period of the earliest sample so far, until the first round fixes the start.
    first: Option<(f64, f64)>,
    notes: Vec<Note>,
    /// Whether the operation reports its own throughput; then none is computed.
    has_own: bool,
}

#[derive(Debug)]
struct Running {
    start_s: f64,
    count: u64,
    interval_s: f64,
    /// The next note is made when the interval reaches this.
    bucket_s: f64,
    is_warmup: bool,
    has_note: bool,
}

/// `min`, `mean`, `median`, `max` in units per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ThroughputSummary {
    pub min: f64,
    pub mean: f64,
    pub median: f64,
    pub max: f64,
}

impl ThroughputCalculator {
    pub(crate) fn record(
        &mut self,
        processing_start: Duration,
        time_period: Duration,
        weight: u64,
        is_warmup: bool,
    ) {
        let processing_start_s = processing_start.as_secs_f64();
        if self.running.is_none() && self.first.is_none_or(|(earliest_s, _)| processing_start_s < earliest_s)
        {
            self.first = Some((processing_start_s, time_period.as_secs_f64()));
        }
        self.waiting.push(Waiting { processing_start_s, weight, is_warmup });
        if self.waiting.len() >= ROUND_SAMPLES_MAX {
            self.end_round();
        }
    }

    /// Records a value that the operation itself reports, in units per second.
    pub(crate) fn record_own(&mut self, processing_start: Duration, value: f64, is_warmup: bool) {
        self.has_own = true;
        self.notes.push(Note { at_s: processing_start.as_secs_f64(), value, is_warmup });
    }

    /// Counts the samples that are waiting.
    pub(crate) fn end_round(&mut self) {
        if self.has_own {
            self.waiting.clear();
        }
        self.waiting.sort_by(|a, b| a.processing_start_s.total_cmp(&b.processing_start_s));
        for index in 0..self.waiting.len() {
            let sample = self.waiting[index];
            let running = self.running.get_or_insert_with(|| {
                let (earliest_s, time_period_s) = self.first.unwrap_or_default();
                Running {
                    start_s: earliest_s - time_period_s,
                    count: 0,
                    interval_s: 0.0,
                    bucket_s: 1.0,
                    is_warmup: sample.is_warmup,
                    has_note: false,
                }
            });
            if running.is_warmup && !sample.is_warmup {
                running.is_warmup = false;
                running.has_note = false;
            }
            running.count += sample.weight;
            running.interval_s = running.interval_s.max(sample.processing_start_s - running.start_s);
            if running.interval_s > 0.0 && running.interval_s >= running.bucket_s {
                running.bucket_s = running.interval_s.floor() + 1.0;
                self.note();
            }
        }
        self.waiting.clear();
    }

    fn note(&mut self) {
        if let Some(running) = &mut self.running {
            running.has_note = true;
            let value = running.count as f64 / running.interval_s;
            let at_s = running.start_s + running.interval_s;
            self.notes.push(Note { at_s, value, is_warmup: running.is_warmup });
        }
    }

    /// Returns all notes until now, including those of the warm-up.
    pub(crate) fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Ends the last round. Returns `None` when no throughput was measured; Rally shows none then either.
    pub(crate) fn finish(&mut self) -> Option<ThroughputSummary> {
        self.end_round();
        if self.running.as_ref().is_some_and(|running| running.interval_s > 0.0 && !running.has_note) {
            self.note();
        }
        let mut values: Vec<f64> =
            self.notes.iter().filter(|note| !note.is_warmup).map(|note| note.value).collect();
        values.sort_by(f64::total_cmp);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let median = median_of_sorted(&values)?;
        // Rally treats a mean or median of 0 as "no value".
        (mean > 0.0 && median > 0.0).then(|| ThroughputSummary {
            min: values[0],
            mean,
            median,
            max: values[values.len() - 1],
        })
    }
}

/// Returns the middle value, or the mean of the two middle ones; `None` without values.
fn median_of_sorted(values: &[f64]) -> Option<f64> {
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the notes of samples given as (processing start s, time period s, weight, is warm-up).
    #[track_caller]
    fn check(samples: &[(f64, f64, u64, bool)], expected_normal: &[f64], expected_warmup: &[f64]) {
        for rounds in [1, samples.len()] {
            let mut calculator = ThroughputCalculator::default();
            for (index, &(start, period, weight, is_warmup)) in samples.iter().enumerate() {
                let seconds = Duration::from_secs_f64;
                calculator.record(seconds(start), seconds(period), weight, is_warmup);
                if (index + 1) % (samples.len() / rounds) == 0 {
                    calculator.end_round();
                }
            }
            calculator.finish();
            let values = |is_warmup: bool| -> Vec<f64> {
                let notes = calculator.notes().iter().filter(|note| note.is_warmup == is_warmup);
                notes.map(|note| note.value).collect()
            };
            assert_eq!(values(false), expected_normal);
            assert_eq!(values(true), expected_warmup);
        }
    }

    /// The expected values come from esrally 2.13's calculator on the same samples.
    #[test]
    fn notes_once_a_second() {
        // With 0.25 s per request, the start is one request before the processing of the first sample.
        let samples: Vec<_> =
            (0..12).map(|i| (0.25 * f64::from(i), 0.25 * f64::from(i + 1), 100, i < 4)).collect();
        check(&samples, &[400.0, 400.0], &[400.0]);
        check(&[(0.0, 0.5, 1, false)], &[2.0], &[]);
        check(&[(0.0, 0.5, 1, true), (0.6, 1.0, 1, false)], &[2.0 / 1.1], &[]);
        check(&[(0.0, 1.5, 10, true), (1.6, 2.0, 10, false)], &[20.0 / 3.1], &[10.0 / 1.5]);
    }

    #[test]
    fn own_values_stand_for_themselves() {
        let mut calculator = ThroughputCalculator::default();
        calculator.record(Duration::ZERO, Duration::from_secs(2), 0, false);
        calculator.record_own(Duration::ZERO, 5.0, true);
        calculator.record_own(Duration::ZERO, 10.0, false);
        calculator.record_own(Duration::ZERO, 30.0, false);
        let summary = calculator.finish().unwrap();
        assert_eq!((summary.min, summary.mean, summary.max), (10.0, 20.0, 30.0));
    }

    #[test]
    fn nothing_measured_is_no_throughput() {
        assert_eq!(ThroughputCalculator::default().finish(), None);
        let mut only_failures = ThroughputCalculator::default();
        only_failures.record(Duration::ZERO, Duration::from_secs(2), 0, false);
        assert_eq!(only_failures.finish(), None);
    }
}
