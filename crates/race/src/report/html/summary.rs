//! One race at a glance: one line per task.

use super::chart::spark;
use super::escape::{Text, put};
use super::race_data::RaceData;
use super::tasks::task_id;
use crate::notation::number::Number;
use crate::notation::shown;
use crate::record::results::TimeStats;

pub(crate) fn put(data: &RaceData, out: &mut String) {
    out.push_str("<section aria-labelledby=\"results\"><h2 id=\"results\">Results</h2>");
    if data.results.op_metrics.is_empty() {
        out.push_str("<p>No task of this race is reported.</p></section>");
        return;
    }
    let is_measured = data.measurements.is_some();
    out.push_str("<p class=\"soft\">Throughput is the median; times are percentiles of the measured requests, warm-up left out. ");
    if is_measured {
        out.push_str("Latency is free of coordinated omission: from when a request was due or, where nothing is scheduled, corrected for the requests that a slow answer held back. <i>took</i> is the server's own time. ");
    }
    out.push_str("A task's name leads to its course.</p>");
    if let Some(line) = data.measurements.as_ref().and_then(|measurements| measurements.server.line()) {
        put!(out, "<p>{}</p>", Text(&line));
    }
    let took = |head: &'static str| if is_measured { head } else { "" };
    put!(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Results of all tasks\"><table class=\"figures cards\" aria-label=\"Results of all tasks\"><thead>\
         <tr><th scope=\"col\" rowspan=\"2\">Task</th><th scope=\"colgroup\" colspan=\"2\">Throughput</th><th scope=\"colgroup\" colspan=\"3\">Latency</th>\
         <th scope=\"colgroup\" colspan=\"3\">Service time</th>{}<th scope=\"col\" rowspan=\"2\">Errors</th></tr>\
         <tr><th scope=\"col\">median</th><th scope=\"col\">over time</th><th scope=\"col\">p50</th><th scope=\"col\">p99</th><th scope=\"col\">max</th>\
         <th scope=\"col\">p50</th><th scope=\"col\">p99</th><th scope=\"col\">max</th>{}</tr></thead><tbody>",
        took("<th scope=\"colgroup\" colspan=\"2\">took</th>"),
        took("<th scope=\"col\">p50</th><th scope=\"col\">p99</th>"),
    );
    for task in &data.results.op_metrics {
        put!(out, "<tr><th scope=\"row\">{}</th>", link(data, &task.task));
        put!(
            out,
            "<td data-title=\"Throughput\">{}</td><td data-title=\"Over time\">{}</td>",
            throughput(&task.throughput.median, &task.throughput.unit),
            sparkline(data, &task.task)
        );
        for (name, times) in [("Latency", data.latency(task)), ("Service time", &task.service_time)] {
            for (label, key) in [("p50", "50_0"), ("p99", "99_0"), ("max", "100_0")] {
                put!(out, "<td data-title=\"{name} {label}\">{}</td>", time(times, key));
            }
        }
        if is_measured {
            for (label, key) in [("p50", "50_0"), ("p99", "99_0")] {
                let took = data.measured(&task.task).and_then(|measured| measured.took.get(key));
                put!(
                    out,
                    "<td data-title=\"took {label}\">{}</td>",
                    took.map_or_else(
                        || "–".to_owned(),
                        |ms| Text(&whole_milliseconds(ms.as_f64())).to_string()
                    )
                );
            }
        }
        let class = if task.error_rate > 0.0 { " class=\"bad\"" } else { "" };
        put!(out, "<td{class} data-title=\"Errors\">{}</td></tr>", error_rate(task.error_rate));
    }
    out.push_str("</tbody></table></div></section>\n");
}

/// Returns the task's name as a link to its plots, if there are any.
pub(crate) fn link(data: &RaceData, name: &str) -> String {
    match data.course(name) {
        Some(_) => format!("<a href=\"#{}\">{}</a>", task_id(name), Text(name)),
        None => Text(name).to_string(),
    }
}

pub(crate) fn throughput(value: &Option<Number>, unit: &Option<String>) -> String {
    match value {
        Some(value) => {
            format!("{} {}", shown::grouped(value.as_f64()), Text(unit.as_deref().unwrap_or("ops/s")))
        }
        None => "–".to_owned(),
    }
}

pub(crate) fn time(times: &TimeStats, key: &str) -> String {
    times.get(key).map_or_else(|| "–".to_owned(), |ms| shown::milliseconds(ms.as_f64()))
}

/// Formats times that servers report in whole milliseconds.
fn whole_milliseconds(ms: f64) -> String {
    if ms < 1.0 { "< 1 ms".to_owned() } else { format!("{} ms", shown::grouped(ms.round())) }
}

pub(crate) fn error_rate(rate: f64) -> String {
    if rate > 0.0 { shown::percent(rate) } else { "0".to_owned() }
}

fn sparkline(data: &RaceData, name: &str) -> String {
    let Some(course) = data.course(name) else { return String::new() };
    let values: Vec<f64> =
        super::tasks::throughputs(course).into_iter().filter_map(|point| point.1).collect();
    spark(&values, &format!("Throughput of {name} over time")).unwrap_or_default()
}
