//! The whole race on one time axis: which task ran when, its throughput and times, and the server's
//! telemetry.

use super::chart::{Axis, Chart, Marks, Series};
use super::escape::{Text, put};
use super::race_data::RaceData;
use super::scale::{Scale, Unit};
use super::table::PlotTable;
use super::tasks::{joined, task_id, throughputs};
use super::telemetry::{Course, PANELS, Panel, Reading};
use crate::record::timeline::reader::{TaskCourse, Timeline};

const GROUP: &str = "whole";

pub(crate) fn put(races: &[RaceData], labels: &[String], out: &mut String) {
    let end_s = races.iter().map(RaceData::duration_s).fold(0.0, f64::max);
    if end_s <= 0.0 {
        return;
    }
    let axis = Axis::Time { end_s };
    out.push_str("<section aria-labelledby=\"whole\"><h2 id=\"whole\">The whole race</h2>");
    super::page::put_zoom(GROUP, "the whole race", out);
    let units = units(races);
    let lines: Vec<Vec<Vec<(String, Course)>>> =
        PANELS.iter().map(|panel| races.iter().map(|data| data.telemetry.lines(panel)).collect()).collect();
    // All races have the same axes: a scale covers the values of all of them.
    let throughput_scales: Vec<Scale> =
        units.iter().map(|unit| Scale::linear(all_throughputs(races, unit), Unit::Plain)).collect();
    let times = races.iter().flat_map(|data| all_times(data, 0.99).chain(all_times(data, 0.5)));
    let times_scale = Scale::log(times.filter_map(|point| point.1), Unit::Milliseconds);
    let panel_scales: Vec<Scale> =
        PANELS.iter().zip(&lines).map(|(panel, lines)| panel_scale(panel, lines)).collect();

    out.push_str("<div class=\"beside\">");
    for (race, (data, label)) in races.iter().zip(labels).enumerate() {
        put!(
            out,
            "<div><h3 class=\"race\">{}</h3>",
            if races.len() > 1 { Text(label).to_string() } else { String::new() }
        );
        let mut tables = Vec::new();
        if let Some(timeline) = &data.timeline {
            put_lanes(data, timeline, end_s, out);
            for (unit, scale) in units.iter().zip(&throughput_scales) {
                throughput_chart(race, timeline, unit, *scale, axis, &mut tables).put(out);
            }
            times_chart(race, data, times_scale, axis, &mut tables).put(out);
        }
        for (place, panel) in PANELS.iter().enumerate() {
            if lines[place].iter().any(|lines| !lines.is_empty()) {
                panel_chart(race, place, panel, &lines[place][race], panel_scales[place], axis, &mut tables)
                    .put(out);
            }
        }
        if data.telemetry.is_empty() {
            out.push_str("<p class=\"soft\">No telemetry was recorded over time.</p>");
        }
        out.push_str(
            "<details aria-label=\"Numbers of these plots\"><summary>Numbers of these plots</summary>",
        );
        tables.iter().for_each(|table| table.put(out));
        out.push_str("</details></div>");
    }
    out.push_str("</div></section>\n");
}

/// Draws one bar per task. Tasks that ran at the same time are in different lanes.
fn put_lanes(data: &RaceData, timeline: &Timeline, end_s: f64, out: &mut String) {
    out.push_str("<div class=\"lanes\" role=\"group\" aria-label=\"Tasks in the order they ran\">");
    let mut lane_ends: Vec<f64> = Vec::new();
    for course in timeline.tasks.iter().filter(|course| !course.bins.is_empty()) {
        let (from, to) = (course.task.start_s, course.end_s);
        let lane = lane_ends.iter().position(|end| *end <= from + 1e-6).unwrap_or_else(|| {
            lane_ends.push(0.0);
            lane_ends.len() - 1
        });
        lane_ends[lane] = to;
        let (left, width) = (from / end_s * 100.0, (to - from) / end_s * 100.0);
        let name = Text(&course.task.name);
        let title = format!("{name}: from {from:.1} s to {to:.1} s");
        let style = format!(
            "style=\"left:{left:.3}%;width:{width:.3}%;top:{:.2}rem\" data-from=\"{from:.3}\" data-to=\"{to:.3}\"",
            lane as f64 * 1.6
        );
        if data.task(&course.task.name).is_some() {
            put!(
                out,
                "<a class=\"lane\" href=\"#{}\" {style} title=\"{title}\" aria-label=\"{title}\">{name}</a>",
                task_id(&course.task.name)
            );
        } else {
            put!(out, "<span class=\"lane\" {style} title=\"{title}\">{name}</span>");
        }
    }
    put!(out, "<span class=\"room\" style=\"height:{:.2}rem\"></span></div>", lane_ends.len() as f64 * 1.6);
}

fn units(races: &[RaceData]) -> Vec<String> {
    let mut units: Vec<String> = Vec::new();
    for course in races.iter().filter_map(|data| data.timeline.as_ref()).flat_map(|timeline| &timeline.tasks)
    {
        if course.task.is_reported && !course.bins.is_empty() && !units.contains(&course.unit) {
            units.push(course.unit.clone());
        }
    }
    units
}

fn reported(timeline: &Timeline) -> impl Iterator<Item = &TaskCourse> {
    timeline.tasks.iter().filter(|course| course.task.is_reported && !course.bins.is_empty())
}

fn all_throughputs(races: &[RaceData], unit: &str) -> impl Iterator<Item = f64> {
    let courses = races.iter().filter_map(|data| data.timeline.as_ref()).flat_map(reported);
    courses.filter(move |course| course.unit == unit).flat_map(throughputs).filter_map(|point| point.1)
}

/// Draws the throughput of all tasks with the same unit, with a gap after each. Overlapping tasks are not
/// added up.
fn throughput_chart(
    race: usize,
    timeline: &Timeline,
    unit: &str,
    scale: Scale,
    axis: Axis,
    tables: &mut Vec<PlotTable>,
) -> Chart {
    let (mut points, mut rows) = (Vec::new(), Vec::new());
    for course in reported(timeline).filter(|course| course.unit == unit) {
        for (at, value) in throughputs(course) {
            points.push((course.task.start_s + at, value));
            let cells = vec![
                format!("{:.1}", course.task.start_s + at),
                course.task.name.clone(),
                value.map_or_else(String::new, |value| format!("{} {unit}/s", Unit::Plain.shown(value))),
            ];
            rows.push((axis.place(course.task.start_s + at), cells));
        }
        points.push((course.end_s, None));
    }
    let title = format!("Throughput, {unit}/s");
    let table = table(
        format!("whole-r{race}-throughput-{}", tables.len()),
        &title,
        &["Time, s", "Task", "Throughput"],
        rows,
    );
    let chart = Chart {
        id: format!("{}-chart", table.id),
        summary: format!("{title}, of all tasks one after the other."),
        title,
        group: GROUP.into(),
        axis,
        scale,
        marks: Marks::Lines(vec![Series {
            label: "throughput".into(),
            colour: race,
            is_dashed: false,
            points,
        }]),
        bands: Vec::new(),
        tables: vec![format!("{}:1,2", table.id)],
    };
    tables.push(table);
    chart
}

fn all_times(data: &RaceData, quantile: f64) -> impl Iterator<Item = (f64, Option<f64>)> {
    data.timeline.iter().flat_map(reported).flat_map(move |course| {
        let point = move |bin: &crate::record::timeline::reader::Bin| {
            (course.task.start_s + bin.start_s + bin.covered_s / 2.0, bin.latency.quantile_ms(quantile))
        };
        joined(course.bins.iter().map(point)).into_iter().chain([(course.end_s, None)])
    })
}

fn times_chart(race: usize, data: &RaceData, scale: Scale, axis: Axis, tables: &mut Vec<PlotTable>) -> Chart {
    let line = |label: &str, is_dashed, quantile| Series {
        label: label.to_owned(),
        colour: race,
        is_dashed,
        points: all_times(data, quantile).collect(),
    };
    let series = vec![line("p50", false, 0.5), line("p99", true, 0.99)];
    let rows = series[0].points.iter().zip(&series[1].points).filter_map(|(median, slow)| {
        let cells = vec![
            format!("{:.1}", median.0),
            Unit::Milliseconds.shown(median.1?),
            Unit::Milliseconds.shown(slow.1?),
        ];
        Some((axis.place(median.0), cells))
    });
    let table =
        table(format!("whole-r{race}-latency"), "Latency", &["Time, s", "p50", "p99"], rows.collect());
    let chart = Chart {
        id: format!("{}-chart", table.id),
        title: "Latency".into(),
        summary: "Median and 99th percentile of the latency of all tasks, on a logarithmic scale.".into(),
        group: GROUP.into(),
        axis,
        scale,
        marks: Marks::Lines(series),
        bands: Vec::new(),
        tables: vec![format!("{}:1,2", table.id)],
    };
    tables.push(table);
    chart
}

fn panel_scale(panel: &Panel, lines: &[Vec<(String, Course)>]) -> Scale {
    if panel.unit == Unit::Percent && panel.reading == Reading::HitRate {
        return Scale { low: 0.0, high: 100.0, is_log: false, unit: Unit::Percent };
    }
    let values: Vec<f64> = match panel.reading {
        Reading::Stacked => {
            lines.iter().flat_map(|lines| stacked(lines)).map(|point| point.1.iter().sum()).collect()
        }
        _ => lines.iter().flatten().flat_map(|line| &line.1).map(|point| point.1).collect(),
    };
    Scale::linear(values.into_iter(), panel.unit)
}

/// Resamples the lines at the times of the first one. Each line has its last known value there.
fn stacked(lines: &[(String, Course)]) -> Vec<(f64, Vec<f64>)> {
    let Some((_, first)) = lines.first() else { return Vec::new() };
    let at = |course: &Course, time: f64| {
        let known = course.partition_point(|point| point.0 <= time + 1e-6);
        course.get(known.max(1) - 1).map_or(0.0, |point| point.1)
    };
    first
        .iter()
        .map(|(time, _)| (*time, lines.iter().map(|(_, course)| at(course, *time)).collect()))
        .collect()
}

fn panel_chart(
    race: usize,
    place: usize,
    panel: &Panel,
    lines: &[(String, Course)],
    scale: Scale,
    axis: Axis,
    tables: &mut Vec<PlotTable>,
) -> Chart {
    let moments = stacked(lines);
    let series: Vec<Series> = lines
        .iter()
        .enumerate()
        .map(|(number, (label, course))| Series {
            label: label.clone(),
            colour: number,
            is_dashed: number >= 8,
            points: match panel.reading {
                Reading::Stacked => {
                    moments.iter().map(|(time, values)| (*time, Some(values[number]))).collect()
                }
                _ => course.iter().map(|(time, value)| (*time, Some(*value))).collect(),
            },
        })
        .collect();
    let rows = moments.iter().map(|(time, values)| {
        let cells =
            std::iter::once(format!("{time:.1}")).chain(values.iter().map(|value| panel.unit.shown(*value)));
        (axis.place(*time), cells.collect())
    });
    let columns: Vec<&str> =
        std::iter::once("Time, s").chain(lines.iter().map(|(label, _)| label.as_str())).collect();
    let table = table(format!("whole-r{race}-panel{place}"), panel.title, &columns, rows.collect());
    let numbers: Vec<String> = (1..columns.len()).map(|column| column.to_string()).collect();
    let names = lines.iter().map(|(label, _)| label.as_str()).collect::<Vec<_>>().join(", ");
    let chart = Chart {
        id: format!("{}-chart", table.id),
        title: panel.title.into(),
        summary: if lines.is_empty() {
            format!("{}: not known.", panel.title)
        } else {
            format!("{} over the race: {names}.", panel.title)
        },
        group: GROUP.into(),
        axis,
        scale,
        marks: if panel.reading == Reading::Stacked { Marks::Stack(series) } else { Marks::Lines(series) },
        bands: Vec::new(),
        tables: vec![format!("{}:{}", table.id, numbers.join(","))],
    };
    tables.push(table);
    chart
}

fn table(id: String, caption: &str, columns: &[&str], rows: Vec<(f64, Vec<String>)>) -> PlotTable {
    PlotTable {
        id,
        caption: caption.to_owned(),
        name: String::new(),
        columns: columns.iter().map(|column| (*column).to_owned()).collect(),
        rows,
    }
}
