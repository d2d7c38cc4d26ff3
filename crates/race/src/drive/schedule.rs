//! When a client's loop ends, and which of its requests are measured.
//!
//! This is Rally's loop control (`driver.py`, `requires_time_period_schedule`, `TimePeriodBased`,
//! `IterationBased`). The end of the warm-up and of the loop are decided when a request has finished, by the
//! clock that started with the client's task (including the wait to ramp up).

use std::time::{Duration, Instant};

use crate::model::Task;

/// The rule that ends a client's loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum LoopRule {
    /// The warm-up lasts for the first period, and then requests are measured for the second. Without a
    /// second period, the loop lasts until the parameters run out.
    Time { warmup: Duration, measured: Option<Duration> },
    /// Counts are per client and not shared. Without a second count, the loop lasts until the parameters run
    /// out.
    Iterations { warmup: u64, measured: Option<u64> },
}

impl LoopRule {
    /// `is_finite` says whether the operation's parameters run out by themselves (a bulk that is not looped).
    pub(crate) fn for_task(task: &Task, is_finite: bool) -> LoopRule {
        let is_timed = task.warmup_time_period_s.is_some()
            || task.time_period_s.is_some()
            || (task.warmup_iterations.is_none() && task.iterations.is_none() && is_finite);
        if is_timed {
            return LoopRule::Time {
                warmup: period(task.warmup_time_period_s.unwrap_or(0.0)),
                measured: task.time_period_s.map(period),
            };
        }
        let measured = match task.iterations {
            // Rally treats 0 as "not given".
            Some(count) if count > 0 => Some(count),
            _ if is_finite => None,
            _ => Some(1),
        };
        LoopRule::Iterations { warmup: task.warmup_iterations.unwrap_or(0), measured }
    }
}

/// Converts seconds to a duration. A negative number or NaN becomes zero, and a too large one a century.
fn period(seconds: f64) -> Duration {
    const CENTURY_S: f64 = 3.2e9;
    Duration::from_secs_f64(if seconds.is_nan() { 0.0 } else { seconds.clamp(0.0, CENTURY_S) })
}

/// The position of one client in its loop.
#[derive(Debug)]
pub(crate) struct LoopControl {
    rule: LoopRule,
    started: Instant,
    now: Instant,
    iteration: u64,
}

impl LoopControl {
    pub(crate) fn start(rule: LoopRule, now: Instant) -> LoopControl {
        LoopControl { rule, started: now, now, iteration: 0 }
    }

    /// Notes that a request has finished.
    pub(crate) fn advance(&mut self, now: Instant) {
        self.now = now;
        self.iteration += 1;
    }

    pub(crate) fn is_warmup(&self) -> bool {
        match self.rule {
            LoopRule::Time { warmup, .. } => self.now - self.started < warmup,
            LoopRule::Iterations { warmup, .. } => self.iteration < warmup,
        }
    }

    pub(crate) fn is_completed(&self) -> bool {
        match self.rule {
            LoopRule::Time { warmup, measured: Some(measured) } => {
                self.now - self.started >= warmup.saturating_add(measured)
            }
            LoopRule::Iterations { warmup, measured: Some(measured) } => {
                self.iteration >= warmup.saturating_add(measured)
            }
            _ => false,
        }
    }

    /// Returns the share done in [0, 1] as of the request that is about to be sent; `None` when only the
    /// parameters determine the end.
    pub(crate) fn progress(&self) -> Option<f64> {
        match self.rule {
            LoopRule::Time { warmup, measured: Some(measured) } => {
                let total = warmup.saturating_add(measured).as_secs_f64();
                Some(if total > 0.0 {
                    ((self.now - self.started).as_secs_f64() / total).min(1.0)
                } else {
                    1.0
                })
            }
            LoopRule::Iterations { warmup, measured: Some(measured) } => {
                Some((self.iteration + 1) as f64 / warmup.saturating_add(measured).max(1) as f64)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::{Operation, Params};

    /// Returns a task with one client, without any control over its length.
    pub(crate) fn plain_task(kind: &str, params: serde_json::Value) -> Task {
        let params = params.as_object().cloned().unwrap_or_default();
        Task {
            name: kind.to_owned(),
            operation: Operation {
                name: kind.to_owned(),
                kind: kind.to_owned(),
                params,
                param_source: None,
                meta: Params::new(),
                include_in_reporting: true,
            },
            tags: Vec::new(),
            meta: Params::new(),
            clients: 1,
            warmup_iterations: None,
            iterations: None,
            warmup_time_period_s: None,
            time_period_s: None,
            ramp_up_time_period_s: None,
            target_throughput: None,
            schedule: None,
            ignore_response_error_level: None,
            params: Params::new(),
        }
    }

    #[test]
    fn rules() {
        let seconds = Duration::from_secs_f64;
        #[track_caller]
        fn check(change: impl FnOnce(&mut Task), is_finite: bool, expected: LoopRule) {
            let mut task = plain_task("search", serde_json::json!({}));
            change(&mut task);
            assert_eq!(LoopRule::for_task(&task, is_finite), expected);
        }
        check(|_| {}, false, LoopRule::Iterations { warmup: 0, measured: Some(1) });
        check(|_| {}, true, LoopRule::Time { warmup: Duration::ZERO, measured: None });
        check(
            |task| task.warmup_time_period_s = Some(2.0),
            true,
            LoopRule::Time { warmup: seconds(2.0), measured: None },
        );
        check(
            |task| (task.warmup_iterations, task.iterations) = (Some(10), Some(100)),
            true,
            LoopRule::Iterations { warmup: 10, measured: Some(100) },
        );
        check(
            |task| task.warmup_iterations = Some(3),
            false,
            LoopRule::Iterations { warmup: 3, measured: Some(1) },
        );
        check(
            |task| task.warmup_iterations = Some(3),
            true,
            LoopRule::Iterations { warmup: 3, measured: None },
        );
    }

    #[test]
    fn iterations_count_from_the_warmup() {
        let now = Instant::now();
        let mut control = LoopControl::start(LoopRule::Iterations { warmup: 2, measured: Some(3) }, now);
        let mut seen = Vec::new();
        while !control.is_completed() {
            seen.push((control.is_warmup(), control.progress()));
            control.advance(now);
        }
        let expected = [
            (true, Some(0.2)),
            (true, Some(0.4)),
            (false, Some(0.6)),
            (false, Some(0.8)),
            (false, Some(1.0)),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn time_is_read_after_a_request() {
        let started = Instant::now();
        let second = Duration::from_secs(1);
        let mut control =
            LoopControl::start(LoopRule::Time { warmup: second, measured: Some(second) }, started);
        assert!(control.is_warmup() && !control.is_completed());
        control.advance(started + second);
        assert!(!control.is_warmup() && !control.is_completed());
        control.advance(started + second * 2);
        assert!(control.is_completed());
    }
}
