//! What changed between the races: for every task and metric, by how much, and whether that is better.

use super::escape::{Text, put};
use super::race_data::RaceData;
use super::summary;
use crate::notation::shown::distinct;
use crate::notation::{Number, shown};
use crate::record::results::TaskResults;

/// A smaller change counts as none: runs of the same server differ by as much.
const SAME_PERCENT: f64 = 1.0;
/// Half of the bar's width: changes up to a factor of eight, with the same width for each doubling.
const DOUBLINGS_MAX: f64 = 3.0;

/// A row of the table. Says whether more is better, and how a value is shown.
struct Metric {
    name: &'static str,
    is_more_better: bool,
    /// One value per race; `None` if it was not measured.
    values: Vec<Option<f64>>,
    show: fn(f64) -> String,
}

/// `races[0]` is the baseline.
pub(crate) fn put(races: &[RaceData], labels: &[String], out: &mut String) {
    out.push_str("<section aria-labelledby=\"changes\"><h2 id=\"changes\">What changed</h2>");
    put!(
        out,
        "<p class=\"soft\">Against <b>{}</b>. <span class=\"better\">▲ better</span>, <span class=\"worse\">▼ worse</span>; below {SAME_PERCENT} % it is called the same. \
         One run a side cannot tell a small change from chance: <code>limber compare</code> takes several races a side and says what is shown.</p>",
        Text(&labels[0])
    );
    out.push_str("<p class=\"chooser\" hidden><label for=\"least\">Show changes of at least</label> <select id=\"least\">\
         <option value=\"0\">any size</option><option value=\"2\">2 %</option><option value=\"5\">5 %</option><option value=\"10\">10 %</option><option value=\"25\">25 %</option></select></p>");
    out.push_str("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"What changed\"><table class=\"changes\" aria-label=\"What changed\"><thead><tr><th scope=\"col\">Metric</th>");
    for (race, label) in labels.iter().enumerate() {
        put!(out, "<th scope=\"col\"><i class=\"key c{race}\"></i>{}</th>", Text(label));
        if race > 0 {
            out.push_str("<th scope=\"col\">Change</th>");
        }
    }
    out.push_str("<th scope=\"col\" class=\"ends\"><span style=\"left:16.7%\">÷ 4</span><span style=\"left:33.3%\">÷ 2</span><span style=\"left:50%\">same</span><span style=\"left:66.7%\">× 2</span><span style=\"left:83.3%\">× 4</span></th></tr></thead>");
    for name in distinct(races.iter().flat_map(RaceData::task_names)) {
        let tasks: Vec<TaskOfRace<'_>> =
            races.iter().map(|data| data.task(name).map(|task| (data, task))).collect();
        let known = races.iter().find(|data| data.course(name).is_some()).unwrap_or(&races[0]);
        put_group(&summary::link(known, name), &task_metrics(&tasks), labels, out);
    }
    put_group("Whole race", &race_metrics(races), labels, out);
    out.push_str("</table></div></section>\n");
}

/// A task in one race; `None` if the race does not have it.
type TaskOfRace<'a> = Option<(&'a RaceData, &'a TaskResults)>;

fn task_metrics(tasks: &[TaskOfRace<'_>]) -> Vec<Metric> {
    let of = |value: &dyn Fn(&RaceData, &TaskResults) -> Option<f64>| {
        tasks.iter().map(|task| task.and_then(|(data, task)| value(data, task))).collect()
    };
    let percentile = |name, key: &'static str, of_service: bool| Metric {
        name,
        is_more_better: false,
        values: of(&move |data, task| {
            let times = if of_service { &task.service_time } else { data.latency(task) };
            times.get(key).map(|ms| ms.as_f64())
        }),
        show: shown::milliseconds,
    };
    let mut metrics = vec![
        Metric {
            name: "Throughput, median",
            is_more_better: true,
            values: of(&|_, task| task.throughput.median.map(|value| value.as_f64())),
            show: shown::grouped,
        },
        percentile("Latency p50", "50_0", false),
        percentile("Latency p99", "99_0", false),
        percentile("Latency p99.9", "99_9", false),
        percentile("Service time p50", "50_0", true),
        percentile("Service time p99", "99_0", true),
        percentile("Service time p99.9", "99_9", true),
        Metric {
            name: "Error rate",
            is_more_better: false,
            values: of(&|_, task| Some(task.error_rate * 100.0)),
            show: |rate| format!("{} %", shown::three_digits(rate)),
        },
    ];
    // If nothing is throttled, latency equals service time, and one of the two is enough.
    for (latency, service_time) in [
        ("Latency p50", "Service time p50"),
        ("Latency p99", "Service time p99"),
        ("Latency p99.9", "Service time p99.9"),
    ] {
        let values = |name: &str| {
            metrics.iter().find(|metric| metric.name == name).map(|metric| metric.values.clone())
        };
        if values(latency) == values(service_time) {
            metrics.retain(|metric| metric.name != latency);
        }
    }
    metrics.retain(|metric| metric.values.iter().flatten().any(|value| *value != 0.0));
    metrics
}

/// A figure of the whole race: its name, how it is read, and how it is shown.
type RaceFigure = (&'static str, fn(&RaceData) -> Option<f64>, fn(f64) -> String);

/// In the order of the page. For all of them, less is better.
const RACE_FIGURES: [RaceFigure; 11] = [
    (
        "Server's processor time",
        |race| Some(race.measurements.as_ref()?.server.cpu_s? * 1000.0),
        shown::milliseconds,
    ),
    (
        "Server's peak resident memory",
        |race| Some(race.measurements.as_ref()?.server.peak_resident_bytes? as f64),
        shown::bytes,
    ),
    ("Indexing time of primary shards", |race| number(race.results.total_time), shown::milliseconds),
    ("Merge time of primary shards", |race| number(race.results.merge_time), shown::milliseconds),
    ("Refresh time of primary shards", |race| number(race.results.refresh_time), shown::milliseconds),
    ("Flush time of primary shards", |race| number(race.results.flush_time), shown::milliseconds),
    ("Young generation collections", |race| number(race.results.young_gc_time), shown::milliseconds),
    ("Old generation collections", |race| number(race.results.old_gc_time), shown::milliseconds),
    ("Size on disk", |race| number(race.results.store_size), shown::bytes),
    ("Translog", |race| number(race.results.translog_size), shown::bytes),
    ("Segments", |race| number(race.results.segment_count), shown::grouped),
];

fn number(value: Option<Number>) -> Option<f64> {
    value.map(Number::as_f64)
}

fn race_metrics(races: &[RaceData]) -> Vec<Metric> {
    let metric = |(name, read, show): RaceFigure| Metric {
        name,
        is_more_better: false,
        values: races.iter().map(read).collect(),
        show,
    };
    let metrics = RACE_FIGURES.into_iter().map(metric);
    metrics.filter(|metric| metric.values.iter().flatten().any(|value| *value != 0.0)).collect()
}

fn put_group(title: &str, metrics: &[Metric], labels: &[String], out: &mut String) {
    if metrics.is_empty() {
        return;
    }
    put!(
        out,
        "<tbody><tr class=\"group\"><th scope=\"rowgroup\" colspan=\"{}\">{title}</th></tr>",
        labels.len() * 2 + 1
    );
    for metric in metrics {
        let changes: Vec<Option<f64>> =
            metric.values[1..].iter().map(|value| percent(metric.values[0], *value)).collect();
        let largest = changes.iter().flatten().fold(0.0f64, |most, change| most.max(change.abs()));
        put!(out, "<tr data-change=\"{largest:.2}\"><th scope=\"row\">{}</th>", metric.name);
        for (race, value) in metric.values.iter().enumerate() {
            put!(out, "<td>{}</td>", value.map_or_else(|| "–".to_owned(), metric.show));
            if race > 0 {
                put!(out, "<td>{}</td>", worded(changes[race - 1], metric.is_more_better));
            }
        }
        put!(out, "<td class=\"bars\">{}</td></tr>", bars(metric));
    }
    out.push_str("</tbody>");
}

/// Returns the change in percent; `None` when either value is unknown or only the baseline is zero.
fn percent(baseline: Option<f64>, contender: Option<f64>) -> Option<f64> {
    match (baseline?, contender?) {
        (0.0, 0.0) => Some(0.0),
        (0.0, _) => None,
        (baseline, contender) => Some((contender - baseline) / baseline * 100.0),
    }
}

fn worded(change: Option<f64>, is_more_better: bool) -> String {
    let Some(change) = change else { return "–".to_owned() };
    let sign = if change > 0.0 { "+" } else { "" };
    let size = format!("{sign}{} %", shown::three_digits(change));
    if change.abs() < SAME_PERCENT {
        return format!("<span class=\"same\">{size} same</span>");
    }
    let (class, word) = if (change > 0.0) == is_more_better { ("better", "▲") } else { ("worse", "▼") };
    format!("<span class=\"{class}\">{size} <span aria-hidden=\"true\">{word}</span> {class}</span>")
}

/// Draws a bar for each contender, from the baseline's value to its own.
fn bars(metric: &Metric) -> String {
    let contenders = metric.values.len() - 1;
    let mut out = String::new();
    put!(
        &mut out,
        "<svg viewBox=\"0 0 240 {}\" preserveAspectRatio=\"none\" style=\"height:{:.1}rem\" aria-hidden=\"true\"><path class=\"grid\" d=\"M40 0V99M80 0V99M160 0V99M200 0V99\"/><path class=\"zero\" d=\"M120 0V99\"/>",
        contenders * 12,
        contenders as f64 * 0.75
    );
    for (place, value) in metric.values[1..].iter().enumerate() {
        let (Some(baseline), Some(value)) = (metric.values[0], *value) else { continue };
        if baseline <= 0.0 || value <= 0.0 {
            continue;
        }
        let ratio = value / baseline;
        let class = match (ratio - 1.0) * 100.0 {
            change if change.abs() < SAME_PERCENT => "same",
            change if (change > 0.0) == metric.is_more_better => "better",
            _ => "worse",
        };
        let end = 120.0 + ratio.log2().clamp(-DOUBLINGS_MAX, DOUBLINGS_MAX) * 40.0;
        let (from, width) = (end.min(120.0), (end - 120.0).abs().max(1.0));
        put!(
            &mut out,
            "<rect class=\"{class}\" x=\"{from:.1}\" y=\"{}\" width=\"{width:.1}\" height=\"8\"/>",
            place * 12 + 2
        );
    }
    out.push_str("</svg>");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_a_direction() {
        assert_eq!(percent(Some(10.0), Some(12.0)), Some(20.0));
        assert_eq!(
            (percent(Some(0.0), Some(0.0)), percent(Some(0.0), Some(1.0)), percent(None, Some(1.0))),
            (Some(0.0), None, None)
        );
        assert!(worded(Some(20.0), true).contains("class=\"better\">+20.0 %"));
        assert!(worded(Some(20.0), false).contains("class=\"worse\""));
        assert!(worded(Some(-0.4), false).contains("class=\"same\">-0.40 %"));
        assert_eq!(worded(None, true), "–");
    }
}
