//! Each task over time: throughput, latency together with service time, the heat map of latencies, and the
//! curve of percentiles.
//!
//! For several races, throughput and percentiles are in one plot, with one colour per race. Plots that cannot
//! be shared are side by side on the same axes. Time counts from the task's start, so that races of different
//! lengths can be compared.

use super::chart::{Axis, Band, Chart, Marks, Series, nines};
use super::escape::{Text, put};
use super::heat::{Cells, picture};
use super::race_data::RaceData;
use super::scale::{Scale, Unit};
use super::table::PlotTable;
use crate::notation::shown::{self, distinct};
use crate::record::timeline::reader::{Bin, Counts, TaskCourse};

/// Percentiles in the table beside the curve.
const PERCENTILES: [f64; 12] =
    [0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999, 0.99999, 0.999_999];
/// Largest number of nines that a curve shows.
const NINES_MAX: f64 = 6.0;
/// Number of points of a curve per nine.
const POINTS_PER_NINE: f64 = 16.0;
/// If the last bin covers less than this share of a bin, its rate means nothing.
const SHARE_MIN: f64 = 0.3;

/// Colours of service time and of latency where both are in one plot.
const SERVICE_TIME: usize = 0;
const LATENCY: usize = 1;
const GREY: usize = 7;

/// One task over time in one race.
struct Entry<'a> {
    race: usize,
    label: &'a str,
    course: &'a TaskCourse,
}

/// Returns an id for a task with any name. It is the same on every page.
pub(crate) fn task_id(name: &str) -> String {
    let mut id = "task-".to_owned();
    for byte in name.bytes() {
        match byte {
            byte if byte.is_ascii_alphanumeric() || byte == b'-' => id.push(char::from(byte)),
            byte => put!(&mut id, "_{byte:02x}"),
        }
    }
    id
}

/// `labels` are the names of the races.
pub(crate) fn put(races: &[RaceData], labels: &[String], out: &mut String) {
    let mut names = distinct(races.iter().flat_map(RaceData::task_names));
    names.retain(|name| races.iter().any(|data| data.course(name).is_some()));
    if names.is_empty() {
        return;
    }
    out.push_str("<section aria-labelledby=\"tasks\"><h2 id=\"tasks\">Tasks over time</h2>");
    out.push_str(
        "<p class=\"chooser\" hidden><label for=\"task-choice\">Task</label> <select id=\"task-choice\">",
    );
    for name in &names {
        put!(out, "<option value=\"{}\">{}</option>", task_id(name), Text(name));
    }
    out.push_str("<option value=\"\">All tasks</option></select></p>");
    out.push_str(
        "<p class=\"soft\">Axes of times are logarithmic: each step up is so many times more, not so much more, so that fast and slow requests are seen in one plot. \
         The grey part at the beginning is the warm-up: it is drawn, but left out of all figures.</p>",
    );
    for name in names {
        let entries: Vec<Entry<'_>> = races
            .iter()
            .enumerate()
            .filter_map(|(race, data)| {
                Some(Entry { race, label: labels[race].as_str(), course: data.course(name)? })
            })
            .collect();
        put_task(name, &entries, races.len() > 1, out);
    }
    out.push_str("</section>\n");
}

fn put_task(name: &str, entries: &[Entry<'_>], compares: bool, out: &mut String) {
    let id = task_id(name);
    put!(
        out,
        "<section class=\"task\" id=\"{id}\" aria-labelledby=\"{id}-title\"><h3 id=\"{id}-title\" tabindex=\"-1\">{}</h3>",
        Text(name)
    );
    for entry in entries {
        put!(out, "<p class=\"soft\">{}</p>", facts(entry, compares));
    }
    let end_s = entries.iter().map(|entry| entry.course.duration_s()).fold(0.1, f64::max);
    let axis = Axis::Time { end_s };
    super::page::put_zoom(&id, name, out);
    let latencies = || entries.iter().flat_map(|entry| bin_times(entry.course));
    let times = Scale::log(latencies(), Unit::Milliseconds);
    let tables: Vec<String> = entries.iter().map(|entry| format!("{id}-r{}", entry.race)).collect();

    out.push_str("<div class=\"wide\">");
    throughput_chart(&id, entries, &tables, axis).put(out);
    if entries.iter().any(|entry| entry.course.latency.total() > 0) {
        curve_chart(&id, entries, compares).put(out);
    } else {
        out.push_str(
            "<p class=\"soft\">No percentiles: the task ended in its warm-up, nothing was measured.</p>",
        );
    }
    out.push_str("</div>");
    let whole: Vec<(f64, f64)> = entries.iter().map(|entry| extent(entry.course)).collect();
    let heat_scale = Scale::log(whole.iter().flat_map(|(low, high)| [*low, *high]), Unit::Milliseconds);
    let cells: Vec<Cells> = entries.iter().map(|entry| Cells::of(entry.course, &heat_scale)).collect();
    let most = cells.iter().map(Cells::most).max().unwrap_or(1);
    out.push_str("<div class=\"beside\">");
    for ((entry, table), cells) in entries.iter().zip(&tables).zip(&cells) {
        out.push_str("<div>");
        times_chart(&id, entry, table, axis, times, compares).put(out);
        let title = titled("Latency heat map", entry, compares);
        let summary = format!(
            "Heat map: time from left to right, latency from bottom to top, darker where more requests ended. {} requests.",
            shown::grouped(entry.course.bins.iter().map(|bin| bin.requests).sum::<u64>() as f64)
        );
        let heat_id = format!("{id}-heat{}", entry.race);
        Chart {
            title,
            summary,
            group: id.clone(),
            axis,
            scale: heat_scale,
            marks: Marks::Picture(picture(&heat_id, cells, most, entry.course, &axis)),
            bands: Vec::new(),
            tables: vec![format!("{table}:1,6,7,8")],
            id: heat_id,
        }
        .put(out);
        out.push_str("</div>");
    }
    out.push_str(
        "</div><details aria-label=\"Numbers of these plots\"><summary>Numbers of these plots</summary>",
    );
    for (entry, table) in entries.iter().zip(&tables) {
        course_table(table, name, entry, &axis).put(out);
        percentile_table(&format!("{id}-p{}", entry.race), name, entry, &curve_axis(entries)).put(out);
    }
    out.push_str("</details></section>\n");
}

fn facts(entry: &Entry<'_>, compares: bool) -> String {
    let TaskCourse { task, bins, unit, .. } = entry.course;
    let mut text = String::new();
    if compares {
        put!(&mut text, "<b><i class=\"key c{}\"></i>{}</b>: ", entry.race, Text(entry.label));
    }
    put!(
        &mut text,
        "{} by {} {}",
        Text(&task.operation_type),
        task.clients,
        if task.clients == 1 { "client" } else { "clients" }
    );
    match &task.target_throughput {
        Some((value, target_unit)) => {
            put!(&mut text, ", target throughput {} {}", shown::grouped(*value), Text(target_unit))
        }
        None => text.push_str(", as fast as it goes"),
    }
    let requests: u64 = bins.iter().map(|bin| bin.requests).sum();
    let operations: u64 = bins.iter().map(|bin| bin.operations).sum();
    put!(&mut text, "; {} requests", shown::grouped(requests as f64));
    if unit != "ops" {
        put!(&mut text, ", {} {}", shown::grouped(operations as f64), Text(unit));
    }
    put!(&mut text, " in {} s", shown::three_digits(entry.course.duration_s()));
    let errors: u64 = bins.iter().map(|bin| bin.errors).sum();
    if errors > 0 {
        put!(&mut text, ", <span class=\"bad\">{} failed</span>", shown::grouped(errors as f64));
    }
    text
}

fn titled(title: &str, entry: &Entry<'_>, compares: bool) -> String {
    if compares { format!("{title} – {}", entry.label) } else { title.to_owned() }
}

/// Returns the points of a line over bins. A single bin without requests is bridged, so that the times of a
/// task with few requests form a line and not a row of gaps. If nothing ended for longer, there is one gap.
pub(crate) fn joined(points: impl Iterator<Item = (f64, Option<f64>)>) -> Vec<(f64, Option<f64>)> {
    let mut line: Vec<(f64, Option<f64>)> = Vec::new();
    let mut missing = 0;
    for point in points {
        missing = if point.1.is_none() { missing + 1 } else { 0 };
        match missing {
            0 => line.push(point),
            2 if !line.is_empty() => line.push(point),
            _ => {}
        }
    }
    line
}

/// Returns the operations per second in each bin.
pub(crate) fn throughputs(course: &TaskCourse) -> Vec<(f64, Option<f64>)> {
    let middle = |bin: &Bin| (bin.start_s + course.bin_s / 2.0, Some(bin.throughput()));
    let mut points: Vec<(f64, Option<f64>)> = course.bins.iter().map(middle).collect();
    let covered_last = course.duration_s() / course.bin_s - (points.len().max(1) - 1) as f64;
    if covered_last < SHARE_MIN && points.len() > 2 {
        points.pop();
    }
    points
}

fn throughput_chart(id: &str, entries: &[Entry<'_>], tables: &[String], axis: Axis) -> Chart {
    let unit = entries.first().map_or("ops", |entry| entry.course.unit.as_str());
    let series: Vec<Series> = entries
        .iter()
        .map(|entry| Series {
            label: entry.label.to_owned(),
            colour: entry.race,
            is_dashed: false,
            points: throughputs(entry.course),
        })
        .collect();
    let values = || series.iter().flat_map(|series| &series.points).filter_map(|point| point.1);
    let summary = format!(
        "Throughput over time: {}.",
        entries
            .iter()
            .zip(&series)
            .map(|(entry, series)| said(entry.label, &series.points, unit))
            .collect::<Vec<_>>()
            .join("; ")
    );
    Chart {
        id: format!("{id}-throughput"),
        title: format!("Throughput, {unit}/s"),
        summary,
        group: id.to_owned(),
        axis,
        scale: Scale::linear(values(), Unit::Plain),
        bands: if entries.len() == 1 { warmup(entries[0].course) } else { Vec::new() },
        tables: tables.iter().map(|table| format!("{table}:2")).collect(),
        marks: Marks::Lines(series),
    }
}

fn said(label: &str, points: &[(f64, Option<f64>)], unit: &str) -> String {
    let mut values: Vec<f64> = points.iter().filter_map(|point| point.1).collect();
    values.sort_by(f64::total_cmp);
    let at =
        |share: f64| values.get((share * (values.len().max(1) - 1) as f64) as usize).copied().unwrap_or(0.0);
    format!(
        "{label} from {} to {} {unit}/s, median {}",
        shown::grouped(at(0.0)),
        shown::grouped(at(1.0)),
        shown::grouped(at(0.5))
    )
}

fn times_chart(id: &str, entry: &Entry<'_>, table: &str, axis: Axis, scale: Scale, compares: bool) -> Chart {
    let course = entry.course;
    let line = |label: &str, colour, is_dashed, times: fn(&Bin) -> &Counts, quantile: f64| {
        let point = |bin: &Bin| (bin.start_s + bin.covered_s / 2.0, times(bin).quantile_ms(quantile));
        Series { label: label.to_owned(), colour, is_dashed, points: joined(course.bins.iter().map(point)) }
    };
    let has_own_latency = course.has_own_latency();
    // With several races, a plot has its race's colour, and what is drawn for comparison is grey.
    let (of_service, of_latency) = match (compares, has_own_latency) {
        (false, _) => (SERVICE_TIME, LATENCY),
        (true, false) => (entry.race, entry.race),
        (true, true) => (GREY, entry.race),
    };
    let mut series = vec![
        line("service time p50", of_service, false, |bin| &bin.service_time, 0.5),
        line("service time p99", of_service, true, |bin| &bin.service_time, 0.99),
    ];
    if has_own_latency {
        series.insert(0, line("latency p50", of_latency, false, |bin| &bin.latency, 0.5));
        series.insert(1, line("latency p99", of_latency, true, |bin| &bin.latency, 0.99));
    }
    let title = if has_own_latency {
        "Latency and service time"
    } else {
        "Service time (latency is the same: not throttled)"
    };
    let columns = if has_own_latency { "6,8,3,5" } else { "3,5" };
    let median =
        |times: &Counts| times.quantile_ms(0.5).map_or_else(|| "unknown".to_owned(), shown::milliseconds);
    Chart {
        id: format!("{id}-times{}", entry.race),
        title: titled(title, entry, compares),
        summary: format!(
            "Latency and service time over time, p50 and p99, on a logarithmic scale. Over the whole task the median service time is {}, the median latency {}.",
            median(&course.service_time),
            median(&course.latency)
        ),
        group: id.to_owned(),
        axis,
        scale,
        marks: Marks::Lines(series),
        bands: warmup(course),
        tables: vec![format!("{table}:{columns}")],
    }
}

fn warmup(course: &TaskCourse) -> Vec<Band> {
    let end = course
        .bins
        .iter()
        .filter(|bin| bin.is_warmup)
        .map(|bin| bin.start_s + course.bin_s)
        .fold(0.0, f64::max);
    if end > 0.0 {
        vec![Band { from: 0.0, to: end.min(course.duration_s()), label: "warm-up".into() }]
    } else {
        Vec::new()
    }
}

/// Returns all medians and 99th percentiles of a course's bins, in ms.
fn bin_times(course: &TaskCourse) -> impl Iterator<Item = f64> {
    let of = |times: &Counts| [times.quantile_ms(0.5), times.quantile_ms(0.99)];
    course.bins.iter().flat_map(move |bin| [of(&bin.service_time), of(&bin.latency)]).flatten().flatten()
}

/// Returns the shortest and the longest latency, in ms.
fn extent(course: &TaskCourse) -> (f64, f64) {
    let ends = course
        .bins
        .iter()
        .filter_map(|bin| Some((bin.latency.quantile_ms(0.0)?, bin.latency.quantile_ms(1.0)?)));
    ends.fold((f64::INFINITY, 0.0), |all, ends| (all.0.min(ends.0), all.1.max(ends.1)))
}

fn curve_axis(entries: &[Entry<'_>]) -> Axis {
    let most = entries.iter().map(|entry| entry.course.latency.total()).max().unwrap_or(1).max(10);
    Axis::Nines { end: (most as f64).log10().min(NINES_MAX) }
}

fn curve_chart(id: &str, entries: &[Entry<'_>], compares: bool) -> Chart {
    let axis = curve_axis(entries);
    let mut series = Vec::new();
    for entry in entries {
        let has_own_latency = entry.course.has_own_latency();
        let (of_service, of_latency) =
            if compares { (entry.race, entry.race) } else { (SERVICE_TIME, LATENCY) };
        let name = |name: &str| if compares { format!("{} {name}", entry.label) } else { name.to_owned() };
        if has_own_latency {
            series.push(curve(name("latency"), of_latency, false, &entry.course.latency));
        }
        series.push(curve(name("service time"), of_service, has_own_latency, &entry.course.service_time));
    }
    let values = || series.iter().flat_map(|series| &series.points).filter_map(|point| point.1);
    Chart {
        id: format!("{id}-curve"),
        title: "Percentiles".into(),
        summary: "Times by percentile, both axes logarithmic: each nine as wide as the one before. The numbers stand in the table of percentiles.".into(),
        group: format!("{id}-curve"),
        axis,
        scale: Scale::log(values(), Unit::Milliseconds),
        bands: Vec::new(),
        tables: entries.iter().map(|entry| format!("{id}-p{}:{}", entry.race, if entry.course.has_own_latency() { "1,2" } else { "2" })).collect(),
        marks: Marks::Lines(series),
    }
}

fn curve(label: String, colour: usize, is_dashed: bool, times: &Counts) -> Series {
    let end = (times.total().max(1) as f64).log10().min(NINES_MAX);
    let steps = (end * POINTS_PER_NINE).ceil().max(1.0);
    let point = |step: u32| {
        let place = f64::from(step) / steps * end;
        (place, times.quantile_ms(1.0 - 10f64.powf(-place)))
    };
    Series { label, colour, is_dashed, points: (0..=steps as u32).map(point).collect() }
}

fn shown_ms(ms: Option<f64>) -> String {
    ms.map_or_else(|| "–".to_owned(), shown::milliseconds)
}

fn course_table(id: &str, name: &str, entry: &Entry<'_>, axis: &Axis) -> PlotTable {
    let course = entry.course;
    let titles = [
        "Time, s",
        "Requests",
        "Throughput",
        "Service time p50",
        "Service time p90",
        "Service time p99",
        "Latency p50",
        "Latency p90",
        "Latency p99",
        "Failed",
    ];
    let row = |bin: &Bin| {
        let at = bin.start_s + bin.covered_s / 2.0;
        let mut cells = vec![
            format!("{:.1}{}", bin.start_s, if bin.is_warmup { " (warm-up)" } else { "" }),
            shown::grouped(bin.requests as f64),
            format!("{} {}/s", shown::grouped(bin.throughput()), course.unit),
        ];
        for times in [&bin.service_time, &bin.latency] {
            cells.extend([0.5, 0.9, 0.99].map(|quantile| shown_ms(times.quantile_ms(quantile))));
        }
        cells.push(shown::grouped(bin.errors as f64));
        (axis.place(at), cells)
    };
    PlotTable {
        id: id.to_owned(),
        caption: format!("{name}, {}: every {} s", entry.label, course.bin_s),
        name: entry.label.to_owned(),
        columns: titles.map(str::to_owned).into(),
        rows: course.bins.iter().map(row).collect(),
    }
}

fn percentile_table(id: &str, name: &str, entry: &Entry<'_>, axis: &Axis) -> PlotTable {
    let course = entry.course;
    let total = course.latency.total();
    let supported =
        PERCENTILES.into_iter().filter(|quantile| nines(*quantile) <= (total.max(1) as f64).log10() + 1e-9);
    let row = |quantile: f64| {
        let percentile = format!("{:.4}", quantile * 100.0);
        let percentile = percentile.trim_end_matches('0').trim_end_matches('.');
        let times = [&course.latency, &course.service_time, &course.processing_time];
        let mut cells = vec![if quantile == 0.0 { "least".to_owned() } else { format!("p{percentile}") }];
        cells.extend(times.map(|times| shown_ms(times.quantile_ms(quantile))));
        (axis.place(nines(quantile)), cells)
    };
    PlotTable {
        id: id.to_owned(),
        caption: format!(
            "{name}, {}: percentiles of {} measured requests",
            entry.label,
            shown::grouped(total as f64)
        ),
        name: entry.label.to_owned(),
        columns: ["Percentile", "Latency", "Service time", "Processing time"].map(str::to_owned).into(),
        rows: supported.map(row).collect(),
    }
}
