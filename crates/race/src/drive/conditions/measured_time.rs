//! Whether the tasks ran long enough for their figures to mean anything.

use crate::notation::shown;
use crate::record::measurements::{TaskMeasurements, Warning, WarningKind};

/// Seconds of measured requests below which the figures of a task mean little. The first seconds are
/// dominated by caches, connections, refreshes and a rising clock frequency; two races of half a second
/// differ by tens of percent.
const MEASURED_S_MIN: f64 = 5.0;
/// Largest number of tasks that a warning names.
const NAMED_MAX: usize = 5;

/// Returns a warning about the tasks that were measured for too short a time. Tasks with a single request per
/// client (such as a refresh) are no measurement and are skipped. `is_reported` says whether reports name a
/// task.
pub(crate) fn too_short(
    tasks: &[TaskMeasurements],
    is_reported: impl Fn(&TaskMeasurements) -> bool,
) -> Option<Warning> {
    let is_measurement = |task: &&TaskMeasurements| task.sample_count > u64::from(task.clients.max(1));
    let short: Vec<String> = tasks
        .iter()
        .filter(is_measurement)
        .filter(|task| is_reported(task))
        .filter_map(|task| {
            task.measured_s.filter(|seconds| *seconds < MEASURED_S_MIN).map(|seconds| (task, seconds))
        })
        .map(|(task, seconds)| format!("[{}] {}", task.task, shown::milliseconds(seconds * 1e3)))
        .collect();
    if short.is_empty() {
        return None;
    }
    let more = match short.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named = short[..short.len().min(NAMED_MAX)].join(", ");
    Some(Warning {
        kind: WarningKind::TooShort,
        task: None,
        text: format!(
            "Too short to trust: measured for less than {MEASURED_S_MIN} s: {named}{more}. Differences between such races are mostly chance; let \
             the tasks run longer (iterations or time-period of the track), or race several times (--repeat)."
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(name: &str, sample_count: u64, measured_s: f64) -> TaskMeasurements {
        let (task, measured_s) = (name.to_owned(), Some(measured_s));
        TaskMeasurements { task, clients: 4, sample_count, measured_s, ..TaskMeasurements::default() }
    }

    #[test]
    fn short_tasks_are_named() {
        let tasks = [task("bulk", 100, 0.41), task("refresh", 4, 0.01), task("query", 5000, 20.0)];
        let warning = too_short(&tasks, |_| true).unwrap();
        assert!(warning.text.contains("less than 5 s: [bulk] 410 ms."), "{}", warning.text);
        assert_eq!(too_short(&tasks, |task| task.task != "bulk"), None);
        let many: Vec<_> = (0..8).map(|i| task(&format!("t{i}"), 100, 1.0)).collect();
        assert!(too_short(&many, |_| true).unwrap().text.contains("[t4] 1.00 s and 3 more."));
    }
}
