//! The measurements of a race beyond Rally's results: `measurements.json`, beside `race.json`.
//!
//! They are: latency free of coordinated omission, the server's `took`, how late requests were sent, what the
//! load generator, the server and the machine used, which settings were raced and in which order, and what
//! makes the figures doubtful. Times are in milliseconds, shares in [0, 1]. What was not measured is absent
//! or `null`.

use serde::{Deserialize, Serialize};

use super::results::TimeStats;
use crate::model::Params;
use crate::notation::shown;

/// Name of the file in a race's folder.
pub(crate) const FILE: &str = "measurements.json";
/// Version of the layout. It grows when older readers would misread the file.
pub(crate) const VERSION: u32 = 1;

/// What is measured of a race beyond Rally's results: the file `measurements.json` beside `race.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Measurements {
    pub version: u32,
    pub race_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<RunPosition>,
    pub hosts: Vec<String>,
    /// The settings with which this tool started the server, if it did.
    pub engine_settings: Params,
    pub machine: MachineMeasurements,
    pub server: ServerMeasurements,
    /// In the order of the schedule, including tasks that reports leave out.
    pub tasks: Vec<TaskMeasurements>,
    pub warnings: Vec<Warning>,
}

/// Position of a race among the races of one run (`--repeat`, `--versus`, `limber tune`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunPosition {
    pub run_id: String,
    /// Name of the side that raced.
    pub side: String,
    /// Counted from 1. Every side races once per round.
    pub round: u32,
    /// Counted from 1 over all races of the run, in the order in which they were raced.
    pub position: u32,
}

/// Figures of the whole race over all processors.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineMeasurements {
    pub wall_s: f64,
    pub processors: usize,
    /// Processor seconds of all processes, of the load generator, and of all other processes except the
    /// server.
    pub busy_s: Option<f64>,
    pub generator_cpu_s: Option<f64>,
    pub others_cpu_s: Option<f64>,
    pub steal_share: Option<f64>,
    pub cpu_stall_share: Option<f64>,
    pub memory_stall_share: Option<f64>,
    pub io_stall_share: Option<f64>,
    pub quota_throttled_share: Option<f64>,
    pub heat_throttle_count: Option<u64>,
    pub mhz_before: Option<f64>,
    pub mhz_after: Option<f64>,
}

/// What the server used during the race.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerMeasurements {
    /// Processor seconds during the race, summed over all nodes.
    pub cpu_s: Option<f64>,
    /// Value at the end of the race. The peak counts from the server's start. Only for servers on this
    /// machine.
    pub resident_bytes: Option<u64>,
    pub peak_resident_bytes: Option<u64>,
    /// Whether the peak belongs to this race: its server was started for it, or used more memory than it had
    /// before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_peak_of_race: Option<bool>,
}

impl ServerMeasurements {
    /// Describes in a sentence what the server used; `None` if nothing is known.
    pub fn line(&self) -> Option<String> {
        let cpu = self.cpu_s.map(|seconds| format!("{} s of processor time", shown::three_digits(seconds)));
        let peak = self.peak_resident_bytes.map(|bytes| {
            let since = match self.is_peak_of_race {
                Some(false) => " (reached before the race)",
                _ => "",
            };
            format!("{} of memory at its peak{since}", shown::bytes(bytes as f64))
        });
        let used: Vec<String> = [cpu, peak].into_iter().flatten().collect();
        (!used.is_empty()).then(|| format!("The server used {}.", used.join(" and ")))
    }
}

/// How a latency without coordinated omission was computed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LatencyMethod {
    /// From the time when each request was due, whenever it was sent. This is Rally's `latency` of throttled
    /// tasks.
    IntendedSendTime,
    /// For a closed loop: corrected for the requests that a long answer kept from being sent, at the client's
    /// median pace.
    #[default]
    ExpectedInterval,
}

/// A latency without coordinated omission: it counts the requests that a slow answer kept from being sent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HonestLatency {
    pub method: LatencyMethod,
    /// The assumed pace: milliseconds between two requests of one client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_interval_ms: Option<f64>,
    pub times: TimeStats,
}

/// Delays in ms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DelayMeasurements {
    pub mean: f64,
    pub p50: f64,
    pub p99: f64,
    pub max: f64,
}

/// The load generator during the task's step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GeneratorMeasurements {
    pub workers: usize,
    pub cpu_s: f64,
    pub wall_s: f64,
    /// Share of one core that the busiest thread used.
    pub busiest_worker_share: f64,
}

/// What is measured of one task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskMeasurements {
    pub task: String,
    pub clients: u32,
    pub sample_count: u64,
    /// Time from the start of the first measured request to the start of the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_s: Option<f64>,
    pub error_rate: f64,
    pub service_time: TimeStats,
    /// Rally's latency, which equals the service time of unthrottled tasks.
    pub latency: TimeStats,
    pub honest_latency: HonestLatency,
    /// The server's own time; empty if answers do not have it.
    pub took: TimeStats,
    /// Time from when a request was due to when it was sent; only for throttled tasks.
    pub send_delay: Option<DelayMeasurements>,
    /// Time from when a client could and should have sent a request to when it did.
    pub own_delay: Option<DelayMeasurements>,
    pub generator: GeneratorMeasurements,
    /// Share of all processors' time during the step.
    pub steal_share: Option<f64>,
}

/// A reason to doubt the figures of a task, or of the whole race.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    pub kind: WarningKind,
    /// `None` if it is about the whole race.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    pub text: String,
}

/// What a warning is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// The load generator was the limit, or could have been.
    Generator,
    /// The server did not keep up with the schedule.
    Schedule,
    /// Something else used the machine.
    Machine,
    /// The figures include failed requests.
    Errors,
    /// Tasks were too short for their figures to mean much.
    TooShort,
    /// The user interrupted the race.
    Interrupted,
}

impl Warning {
    /// Returns the text with its task.
    pub fn line(&self) -> String {
        match &self.task {
            Some(task) => format!("Task [{task}]: {}", self.text),
            None => self.text.clone(),
        }
    }
}
