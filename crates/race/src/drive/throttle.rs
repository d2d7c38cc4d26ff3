//! When the next request is due.
//!
//! These are Rally's schedulers (`driver/scheduler.py`). A throttled task starts unthrottled. Its first
//! answer with a weight determines how many requests per second each client has to send, and every change of
//! weight determines it anew. Due times are offsets from the start of the client's task and never move: a
//! client that is late sends the overdue requests back to back, so that latency contains the wait.

use std::time::Instant;

use super::operation::{Outcome, Pending};
use super::plugin::schedule::PluginSchedule;
use crate::error::Error;
use crate::model::{Task, Throughput};
use crate::random::Random;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Arrivals {
    Deterministic,
    Poisson,
}

/// Computes the due times of one client of a task.
#[derive(Debug)]
pub(crate) struct Throttle {
    target: Option<Throughput>,
    arrivals: Arrivals,
    clients: u32,
    weight: Option<u64>,
    /// Requests per second of this client; `None` while unthrottled.
    rate: Option<f64>,
    due_s: f64,
    random: Random,
    /// The plugin's scheduler, which then determines the due times.
    plugin: Option<PluginSchedule>,
}

impl Throttle {
    /// `seed` is for the Poisson arrivals of this client. `plugin` is the task's scheduler, if the track's
    /// plugin has one.
    ///
    /// Errors: a schedule that is not built in, with its name.
    pub(crate) fn for_task(
        task: &Task,
        seed: u64,
        plugin: Option<PluginSchedule>,
    ) -> Result<Throttle, Error> {
        let arrivals = match task.schedule.as_deref() {
            _ if plugin.is_some() => Arrivals::Deterministic,
            None | Some("deterministic") => Arrivals::Deterministic,
            Some("poisson") => Arrivals::Poisson,
            Some(other) => {
                return Err(Error::Parameter(format!(
                    "schedule [{other}] is not known; use [deterministic] or [poisson]"
                )));
            }
        };
        Ok(Throttle {
            target: task.target_throughput.clone().filter(|target| target.value > 0.0),
            arrivals,
            clients: task.clients.max(1),
            weight: None,
            rate: None,
            due_s: 0.0,
            random: Random::new(seed),
            plugin,
        })
    }

    /// Returns what has to be awaited before [`Throttle::next_due_s`]. Only a plugin's scheduler has to be
    /// awaited.
    pub(crate) fn pending(&mut self) -> Option<Pending<'_>> {
        self.plugin.as_mut()?.pending(self.rate)
    }

    /// Tells a plugin's scheduler about a finished request.
    pub(crate) fn tell_plugin(&mut self, started: Instant, ended: Instant, outcome: &Outcome) {
        if let Some(plugin) = &mut self.plugin {
            plugin.after_request(started, ended, outcome);
        }
    }

    /// Returns the due time of the next request in seconds after the task's start; 0 while nothing throttles.
    pub(crate) fn next_due_s(&mut self) -> f64 {
        if let Some(plugin) = &mut self.plugin {
            self.due_s = plugin.next_due_s();
            return self.due_s;
        }
        self.due_s = match (self.rate, self.arrivals) {
            (None, _) => 0.0,
            (Some(rate), Arrivals::Deterministic) => self.due_s + 1.0 / rate,
            (Some(rate), Arrivals::Poisson) => self.due_s + self.random.exponential(rate),
        };
        self.due_s
    }

    /// Learns the weight of a finished request.
    ///
    /// Errors: the target's unit is neither the request's nor `ops/s`.
    pub(crate) fn after_request(&mut self, weight: u64, unit: &str) -> Result<(), Error> {
        let Some(target) = &self.target else { return Ok(()) };
        if weight == 0 || self.weight == Some(weight) {
            return Ok(());
        }
        let is_same_unit = target.unit.strip_suffix("/s") == Some(unit);
        let counted = match is_same_unit {
            true => weight,
            false if target.unit == "ops/s" => 1,
            false => {
                return Err(Error::Parameter(format!(
                    "target throughput is specified in [{}] but the task throughput is measured in [{unit}/s]",
                    target.unit
                )));
            }
        };
        if self.weight == Some(counted) {
            return Ok(());
        }
        self.weight = Some(counted);
        self.rate = Some(target.value / f64::from(self.clients) / counted as f64);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::schedule::tests::plain_task;

    fn throttle(value: f64, unit: &str, clients: u32, schedule: Option<&str>) -> Throttle {
        let mut task = plain_task("bulk", serde_json::json!({}));
        task.clients = clients;
        task.target_throughput = Some(Throughput { value, unit: unit.to_owned() });
        task.schedule = schedule.map(str::to_owned);
        Throttle::for_task(&task, 7, None).unwrap()
    }

    #[test]
    fn first_request_is_immediate_then_evenly_spaced() {
        let mut throttle = throttle(50.0, "ops/s", 5, None);
        assert_eq!(throttle.next_due_s(), 0.0);
        throttle.after_request(1, "ops").unwrap();
        let due: Vec<f64> = (0..3).map(|_| throttle.next_due_s()).collect();
        for (seen, expected) in due.iter().zip([0.1, 0.2, 0.3]) {
            assert!((seen - expected).abs() < 1e-12, "{due:?}");
        }
    }

    #[test]
    fn rate_follows_the_weight_and_the_unit() {
        // 1000 docs/s over 4 clients with bulks of 500: each client sends a bulk every 2 s.
        let mut documents = throttle(1000.0, "docs/s", 4, None);
        documents.after_request(0, "docs").unwrap();
        assert_eq!(documents.next_due_s(), 0.0);
        documents.after_request(500, "docs").unwrap();
        assert_eq!(documents.next_due_s(), 2.0);
        documents.after_request(250, "docs").unwrap();
        assert_eq!(documents.next_due_s(), 3.0);
        // With ops/s, a task that reports documents counts requests.
        let mut requests = throttle(2.0, "ops/s", 1, None);
        requests.after_request(500, "docs").unwrap();
        assert_eq!(requests.next_due_s(), 0.5);
        assert!(throttle(1.0, "pages/s", 1, None).after_request(1, "ops").is_err());
    }

    #[test]
    fn poisson_arrivals_have_the_right_mean() {
        let mut throttle = throttle(100.0, "ops/s", 1, Some("poisson"));
        throttle.after_request(1, "ops").unwrap();
        let due_last = (0..20_000).map(|_| throttle.next_due_s()).last().unwrap();
        assert!((due_last - 200.0).abs() < 6.0, "{due_last}");
        let mut task = plain_task("search", serde_json::json!({}));
        task.schedule = Some("nightly".into());
        assert!(Throttle::for_task(&task, 0, None).is_err());
    }
}
