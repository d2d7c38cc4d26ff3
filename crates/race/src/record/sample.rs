//! What is known about one request once it is over?

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::model::Params;

/// One finished request, as Rally's sampler records it (`driver.py`, `Sample`). All times count from the
/// step's start.
#[derive(Debug)]
pub(crate) struct Sample {
    /// Index of the task within the step.
    pub task_index: u32,
    pub client: u32,
    pub is_warmup: bool,
    pub is_success: bool,
    /// When the client began to process the request, before the throttle's wait is over.
    pub processing_start: Duration,
    /// When its first byte was about to leave.
    pub request_start: Duration,
    pub service_time: Duration,
    pub latency: Duration,
    pub processing_time: Duration,
    /// How long after it was due the request left; `None` for unthrottled ones.
    pub send_delay: Option<Duration>,
    /// How long after the client could and should have sent it the request left: the load generator's own
    /// time.
    pub own_delay: Duration,
    /// The server's own time (`took`), where the answer tells it.
    pub took: Option<Duration>,
    /// From the client's task start to the end of the request.
    pub time_period: Duration,
    pub weight: u64,
    pub unit: &'static str,
    /// Share of its loop the client has done, in [0, 1]; `None` when unknown.
    pub progress: Option<f32>,
    /// Why the request failed.
    pub error: Option<Box<ErrorNote>>,
    /// Meta data, own throughput and inner requests, where the operation tells them.
    pub details: Option<Box<Details>>,
}

/// What few operations tell beside their weight.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Details {
    /// Rally's request meta data without `success` and what an error says. Operations whose requests are many
    /// give it only when asked to (`Plan::keeps_meta`, `detailed-results`).
    pub meta: Params,
    /// The operation's own throughput in units a second, for which nothing is computed from weights and times
    /// then.
    pub throughput: Option<f64>,
    /// The timed requests inside of a `composite`, in the order in which Rally lists them.
    pub dependent: Vec<DependentTiming>,
    /// Share of the operation's work that is done, in [0, 1]; at 1 its task is over.
    pub completion: Option<f64>,
}

/// One request inside of a `composite`: Rally records its service time under its own name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DependentTiming {
    pub operation: Arc<str>,
    pub operation_type: Arc<str>,
    pub request_start: Instant,
    pub service_time: Duration,
    pub meta: Params,
}

/// Why a sample counts as failed; Rally's request meta data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ErrorNote {
    /// `transport`, `api`, `bulk`, `esql`, or `unmet` for a condition that does not hold.
    pub kind: &'static str,
    pub status: Option<u16>,
    pub description: String,
}

/// A reading of the running average.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Note {
    /// Since the step's start.
    pub at_s: f64,
    /// In units a second.
    pub value: f64,
    pub is_warmup: bool,
}

#[cfg(test)]
impl Sample {
    /// A measured request of one unthrottled client that went well.
    pub fn of_test(end: Duration, service_time: Duration) -> Sample {
        let start = end - service_time;
        Sample {
            task_index: 0,
            client: 0,
            is_warmup: false,
            is_success: true,
            processing_start: start,
            request_start: start,
            service_time,
            latency: service_time,
            processing_time: service_time,
            send_delay: None,
            own_delay: Duration::ZERO,
            took: None,
            time_period: end,
            weight: 1,
            unit: "ops",
            progress: None,
            error: None,
            details: None,
        }
    }
}
