//! What is known about one request once it is over?

use std::time::Duration;

use super::operation::{Details, ErrorNote};

/// One finished request, as Rally's sampler records it (`driver.py`, `Sample`). All times count from the step's start.
#[derive(Debug)]
pub struct Sample {
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
    /// How long after the client could and should have sent it the request left: the load generator's own time.
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
