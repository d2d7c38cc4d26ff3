//! What is known about a finished request.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::model::Params;

/// One finished request, as Rally's sampler records it (`driver.py`, `Sample`). All times are relative to the
/// step's start.
#[derive(Debug)]
pub(crate) struct Sample {
    /// Index of the task within the step.
    pub task_index: u32,
    pub client: u32,
    pub is_warmup: bool,
    pub is_success: bool,
    /// When the client began to process the request, after the throttle's wait.
    pub processing_start: Duration,
    /// When its first byte was about to be sent.
    pub request_start: Duration,
    pub service_time: Duration,
    pub latency: Duration,
    pub processing_time: Duration,
    /// How long after its due time the request was sent; `None` for unthrottled requests.
    pub send_delay: Option<Duration>,
    /// How long after the client could and should have sent the request it was sent. The load generator
    /// causes this delay.
    pub own_delay: Duration,
    /// The server's own time (`took`), if the answer has it.
    pub took: Option<Duration>,
    /// Time from the client's task start to the end of the request.
    pub time_period: Duration,
    pub weight: u64,
    pub unit: &'static str,
    /// Share of the client's loop that is done, in [0, 1]; `None` when unknown.
    pub progress: Option<f32>,
    /// Why the request failed.
    pub error: Option<Box<ErrorNote>>,
    /// Meta data, own throughput and inner requests, if the operation reports them.
    pub details: Option<Box<Details>>,
}

/// What only few operations report besides their weight.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Details {
    /// Rally's request meta data without `success` and the error. Operations with many requests return it
    /// only on demand (`Plan::keeps_meta`, `detailed-results`).
    pub meta: Params,
    /// The operation's own throughput in units per second. It replaces the throughput computed from weights
    /// and times.
    pub throughput: Option<f64>,
    /// The timed requests inside of a `composite`, in the order in which Rally lists them.
    pub dependent: Vec<DependentTiming>,
    /// Share of the operation's work that is done, in [0, 1]. At 1 its task ends.
    pub completion: Option<f64>,
}

/// One request inside a `composite`. Rally records its service time under its own name.
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

/// A value of the running average.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Note {
    /// Seconds since the step's start.
    pub at_s: f64,
    /// In units per second.
    pub value: f64,
    pub is_warmup: bool,
}

#[cfg(test)]
impl Sample {
    /// Returns a successful measured request of one unthrottled client.
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
