//! "What does a race say beyond Rally's results?": `measurements.json`, beside `race.json`.
//!
//! Latency free of coordinated omission, the server's `took`, how late requests were sent, what the load generator, the
//! server and the machine used, which settings were raced and in which order, and what makes the figures doubtful. Times are
//! milliseconds, shares are in [0, 1]; what was not measured is absent or `null`.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::narrow;
use super::number::Number;
use super::output::{Format, ReportOptions};
use super::results::TimeStats;
use super::shown;
use super::table::{self, Align, Cell, Row};
use crate::model::Params;

/// Name of the file in a race's folder.
pub const FILE: &str = "measurements.json";
/// Of the layout; grows when a reader of an older one would go wrong.
pub const VERSION: u32 = 1;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Measurements {
    pub version: u32,
    pub race_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<RunPlace>,
    pub hosts: Vec<String>,
    /// What the server was started with, where this tool started it.
    pub engine_settings: Params,
    pub machine: MachineMeasurements,
    pub server: ServerMeasurements,
    /// In the order of the schedule, tasks that reports leave out included.
    pub tasks: Vec<TaskMeasurements>,
    pub warnings: Vec<Warning>,
}

/// Where a race stands among the races of one run (`--repeat`, `--versus`, `limber tune`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunPlace {
    pub run_id: String,
    /// Name of the side that raced.
    pub side: String,
    /// From 1; every side races once a round.
    pub round: u32,
    /// From 1, over all races of the run in the order in which they were raced.
    pub position: u32,
}

/// Of the whole race, all processors together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineMeasurements {
    pub wall_s: f64,
    pub processors: usize,
    /// Processor seconds of everyone, of the load generator, and of everyone else but the server.
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

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerMeasurements {
    /// Processor seconds during the race, over all nodes.
    pub cpu_s: Option<f64>,
    /// At the end of the race; the peak counts from the server's start. Only of servers on this machine.
    pub resident_bytes: Option<u64>,
    pub peak_resident_bytes: Option<u64>,
    /// Whether the peak is of this race: its server was started for it, or rose above what it had needed before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_peak_of_race: Option<bool>,
}

impl ServerMeasurements {
    /// What the server used, in a sentence; `None` where nothing is known.
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

/// How a latency without coordinated omission came about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LatencyMethod {
    /// From the time when each request was due, whenever it was sent: Rally's `latency` of throttled tasks.
    IntendedSendTime,
    /// Closed loop: corrected for the requests that a long answer kept from being sent, at the client's median pace.
    #[default]
    ExpectedInterval,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HonestLatency {
    pub method: LatencyMethod,
    /// The pace that was assumed: ms from request to request of one client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_interval_ms: Option<f64>,
    pub times: TimeStats,
}

/// In ms.
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
    /// Share of one core that its busiest thread used.
    pub busiest_worker_share: f64,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskMeasurements {
    pub task: String,
    pub clients: u32,
    pub sample_count: u64,
    /// From the start of the first measured request to that of the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_s: Option<f64>,
    pub error_rate: f64,
    pub service_time: TimeStats,
    /// Rally's: service time itself where nothing throttles.
    pub latency: TimeStats,
    pub honest_latency: HonestLatency,
    /// The server's own time; empty where answers do not tell it.
    pub took: TimeStats,
    /// From due to sent; only of throttled tasks.
    pub send_delay: Option<DelayMeasurements>,
    /// From when a client could and should have sent to when it did.
    pub own_delay: Option<DelayMeasurements>,
    pub generator: GeneratorMeasurements,
    /// Of all processors' time during the step.
    pub steal_share: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    pub kind: WarningKind,
    /// `None` for the whole race.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// The load generator was the limit, or may have been.
    Generator,
    /// The server did not keep up with the schedule.
    Schedule,
    /// Something else used the machine.
    Machine,
    /// Failed requests are in the figures.
    Errors,
    /// Tasks ran too shortly for their figures to mean much.
    TooShort,
    /// The user ended the race.
    Interrupted,
}

impl Warning {
    /// The text with its task.
    pub fn line(&self) -> String {
        match &self.task {
            Some(task) => format!("Task [{task}]: {}", self.text),
            None => self.text.clone(),
        }
    }
}

pub const HEADERS: [&str; 9] = [
    "Task",
    "Percentile",
    "took",
    "Service time",
    "Latency (Rally)",
    "Latency, honest",
    "Method",
    "Send delay p99",
    "Generator busy",
];

/// Prints what Rally's summary does not have, for tasks with samples. Nothing in the CSV format: scripts read Rally's table.
///
/// # Errors
/// Those of `out`.
pub fn write(measurements: &Measurements, options: &ReportOptions, out: &mut dyn Write) -> io::Result<()> {
    let rows = rows(measurements);
    if options.format == Format::Csv {
        return Ok(());
    }
    if let Some(line) = measurements.server.line() {
        writeln!(out, "{line}\n")?;
    }
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "Beyond Rally (times in ms):\n")?;
    let table = table::markdown(&HEADERS, &rows, Align::Decimal);
    match options.width {
        Some(width) if !narrow::fits(&table, Some(width)) => {
            write!(out, "{}", narrow::records(&HEADERS, &rows, width))?;
        }
        _ => write!(out, "{table}")?,
    }
    writeln!(
        out,
        "\nLatency, honest: free of coordinated omission. Scheduled tasks: from the intended send time. Closed loops: corrected as if \
         each client had meant to send at its median pace."
    )
}

fn rows(measurements: &Measurements) -> Vec<Row> {
    let mut rows = Vec::new();
    for task in measurements.tasks.iter().filter(|task| task.sample_count > 1) {
        for (label, key) in [("50", "50_0"), ("99", "99_0"), ("100", "100_0")] {
            let time = |times: &TimeStats| times.get(key).map(|value| Number::Float(rounded(value.as_f64())));
            if task.service_time.get(key).is_none() {
                continue;
            }
            let is_first = label == "50";
            let once = |text: String| if is_first { text } else { String::new() };
            rows.push(vec![
                Cell::from(task.task.as_str()),
                Cell::from(label),
                Cell::from(time(&task.took)),
                Cell::from(time(&task.service_time)),
                Cell::from(time(&task.latency)),
                Cell::from(time(&task.honest_latency.times)),
                Cell::from(once(method(&task.honest_latency))),
                Cell::from(once(
                    task.send_delay.map_or_else(|| "-".to_owned(), |delay| format!("{:.3} ms", delay.p99)),
                )),
                Cell::from(once(format!("{:.0} %", task.generator.busiest_worker_share * 100.0))),
            ]);
        }
    }
    rows
}

fn method(latency: &HonestLatency) -> String {
    match (latency.method, latency.expected_interval_ms) {
        (LatencyMethod::ExpectedInterval, Some(ms)) => format!("every {:.3} ms", ms),
        (LatencyMethod::ExpectedInterval, None) => "closed loop".to_owned(),
        (LatencyMethod::IntendedSendTime, _) => "scheduled".to_owned(),
    }
}

/// To a microsecond.
fn rounded(ms: f64) -> f64 {
    (ms * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_and_read_back_and_printed() {
        let times = |scale: f64| TimeStats::new(&[(50.0, 2.0 * scale), (100.0, 8.0 * scale)], 3.0 * scale);
        let measurements = Measurements {
            version: VERSION,
            race_id: "r".into(),
            place: Some(RunPlace { run_id: "x".into(), side: "A".into(), round: 2, position: 3 }),
            tasks: vec![TaskMeasurements {
                task: "search".into(),
                sample_count: 12,
                service_time: times(1.0),
                latency: times(2.0),
                honest_latency: HonestLatency {
                    method: LatencyMethod::IntendedSendTime,
                    expected_interval_ms: None,
                    times: times(2.0),
                },
                took: times(0.5),
                send_delay: Some(DelayMeasurements { mean: 1.0, p50: 1.0, p99: 4.0, max: 5.0 }),
                ..TaskMeasurements::default()
            }],
            warnings: vec![Warning {
                kind: WarningKind::Errors,
                task: Some("search".into()),
                text: "half of the requests failed".into(),
            }],
            ..Measurements::default()
        };
        let text = serde_json::to_string(&measurements).unwrap();
        assert_eq!(serde_json::from_str::<Measurements>(&text).unwrap(), measurements);
        assert!(
            text.contains(r#""method":"intended_send_time""#) && text.contains(r#""kind":"errors""#),
            "{text}"
        );
        assert_eq!(measurements.warnings[0].line(), "Task [search]: half of the requests failed");

        let mut printed = Vec::new();
        write(&measurements, &ReportOptions::default(), &mut printed).unwrap();
        let printed = String::from_utf8(printed).unwrap();
        let row = printed.lines().find(|line| line.contains("scheduled")).unwrap();
        assert!(row.contains("search") && row.contains("4.000 ms"), "{row}");
        let csv = ReportOptions { format: Format::Csv, ..ReportOptions::default() };
        let mut printed = Vec::new();
        write(&measurements, &csv, &mut printed).unwrap();
        assert!(printed.is_empty());
    }
}
