//! Prints the measurements beyond Rally's results below the summary: latency free of coordinated omission,
//! the server's `took`, how late requests were sent.

use std::io::{self, Write};

use super::narrow;
use super::output::{Format, ReportOptions};
use super::table::{self, Align, Cell, Row};
use crate::notation::number::Number;
use crate::record::measurements::{HonestLatency, LatencyMethod, Measurements};
use crate::record::results::TimeStats;

pub(crate) const HEADERS: [&str; 9] = [
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

/// Prints what Rally's summary does not have, for tasks with samples. Prints nothing in the CSV format, since
/// scripts read Rally's table.
///
/// # Errors
/// Those of `out`.
pub(crate) fn write(
    measurements: &Measurements,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
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

/// Rounds to a microsecond.
fn rounded(ms: f64) -> f64 {
    (ms * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::measurements::{
        DelayMeasurements, RunPosition, TaskMeasurements, VERSION, Warning, WarningKind,
    };

    #[test]
    fn kept_and_read_back_and_printed() {
        let times = |scale: f64| TimeStats::new(&[(50.0, 2.0 * scale), (100.0, 8.0 * scale)], 3.0 * scale);
        let measurements = Measurements {
            version: VERSION,
            race_id: "r".into(),
            place: Some(RunPosition { run_id: "x".into(), side: "A".into(), round: 2, position: 3 }),
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
