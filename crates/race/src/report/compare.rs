//! Compares two races as Rally does (`ComparisonReporter` in `esrally/reporter.py`).
//!
//! Rally's peculiarities are kept, since scripts read the table: "primary shard" in the singular, the
//! pipeline time in ms, a row only if both races have a value, and tasks in the baseline's order.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use super::output::{self, ReportOptions};
use super::summary::{self, disk_usage_by_field, disk_usage_parts};
use super::table::{Cell, Row};
use crate::model::bare_text;
use crate::notation::number::Number;
use crate::notation::units;
use crate::record::race::Race;
use crate::record::results::{PERCENTILES, PerShard, Results, TaskResults, TimeStats, TransformResult};
use crate::record::scope;

pub(crate) const HEADERS: [&str; 7] = ["Metric", "Task", "Baseline", "Contender", "Diff", "Unit", "Diff %"];

/// Prints first in what the races differ, if they did not race the same.
pub(super) fn write_unlike(differences: &[String], out: &mut dyn Write) -> io::Result<()> {
    if differences.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n[WARNING] These races are not of the same; their figures cannot be compared:")?;
    differences.iter().try_for_each(|line| writeln!(out, "  {line}"))
}

/// Prints the descriptions of both races and the table, and appends the table (without colors) to the report
/// file.
///
/// # Errors
/// Those of `out` and of the report file; `InvalidData` for a race whose results cannot be read.
pub(crate) fn write(
    baseline: &Race,
    contender: &Race,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let results =
        |race: &Race| race.results().map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error));
    let (before, after) = (results(baseline)?, results(contender)?);
    write_unlike(&scope::differences(baseline, contender), out)?;
    writeln!(out, "\nComparing baseline")?;
    write_race(baseline, out)?;
    writeln!(out, "\nwith contender")?;
    write_race(contender, out)?;
    output::write_heading(options, out)?;
    let plain = rows(&before, &after, options.processing_time, false);
    let shown = rows(&before, &after, options.processing_time, options.color);
    output::write_table(&HEADERS, &shown, &plain, options, out)
}

fn write_race(race: &Race, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "  Race ID: {}", race.race_id)?;
    writeln!(out, "  Race timestamp: {}", race.timestamp_readable())?;
    if let Some(challenge) = &race.challenge {
        writeln!(out, "  Challenge: {challenge}")?;
    }
    writeln!(out, "  Car: {}", race.car_name())?;
    for (name, params) in [("Track parameters", &race.track_params), ("Car parameters", &race.car_params)] {
        let params = params.iter().flatten().map(|(name, value)| format!("{name}={}", bare_text(value)));
        let params: Vec<String> = params.collect();
        if !params.is_empty() {
            writeln!(out, "  {name}: {}", params.join(", "))?;
        }
    }
    if !race.user_tags.is_empty() {
        writeln!(out, "  User tags: {}", race.user_tags_text())?;
    }
    Ok(())
}

/// Returns the table's rows. With `color`, a difference is green if the contender is better and red if it is
/// worse.
pub(crate) fn rows(baseline: &Results, contender: &Results, processing_time: bool, color: bool) -> Vec<Row> {
    let mut table = Rows { rows: Vec::new(), color };
    add_totals(baseline, contender, &mut table);
    add_ml_processing_times(baseline, contender, &mut table);
    add_garbage_collection(baseline, contender, &mut table);
    add_sizes(baseline, contender, &mut table);
    add_transforms(baseline, contender, &mut table);
    let counts = |results: &Results| {
        [
            results.ingest_pipeline_cluster_count,
            results.ingest_pipeline_cluster_time,
            results.ingest_pipeline_cluster_failed,
        ]
    };
    let names = [("count", ""), ("time", "ms"), ("failed", "")];
    for ((name, unit), (before, after)) in
        names.iter().zip(counts(baseline).into_iter().zip(counts(contender)))
    {
        table.add(format!("Total Ingest Pipeline {name}"), "", (before, after), unit, AS_IS);
    }
    if !baseline.disk_usage_total.is_empty() && !contender.disk_usage_total.is_empty() {
        add_disk_usage(baseline, contender, &mut table);
    }
    for before in &baseline.op_metrics {
        if let Some(after) = contender.op_metrics.iter().find(|after| after.task == before.task) {
            add_task(before, after, processing_time, &mut table);
        }
    }
    table.rows
}

/// How a value is shown, and whether more of it is better.
#[derive(Clone, Copy)]
struct Reading {
    convert: fn(Number) -> Number,
    more_is_better: bool,
}

const AS_IS: Reading = Reading { convert: |value| value, more_is_better: false };
const MORE_IS_BETTER: Reading = Reading { more_is_better: true, ..AS_IS };
const MINUTES: Reading = Reading { convert: units::ms_to_minutes, ..AS_IS };
const SECONDS: Reading = Reading { convert: units::ms_to_seconds, ..AS_IS };
const GIGABYTES: Reading = Reading { convert: units::bytes_to_gb, ..AS_IS };
const MEGABYTES: Reading = Reading { convert: units::bytes_to_mb, ..AS_IS };
const KILOBYTES: Reading =
    Reading { convert: |bytes| Number::Float(bytes.as_f64().trunc() / units::KB), ..AS_IS };
const TERABYTES: Reading =
    Reading { convert: |bytes| Number::Float(bytes.as_f64().trunc() / units::TB), ..AS_IS };
const BYTES: Reading = Reading { convert: |bytes| Number::Float(bytes.as_f64().trunc()), ..AS_IS };
const PERCENT: Reading = Reading { convert: |share| Number::Float(share.as_f64() * 100.0), ..AS_IS };

/// A value of the baseline and one of the contender.
type Pair = (Option<Number>, Option<Number>);

struct Rows {
    rows: Vec<Row>,
    color: bool,
}

impl Rows {
    fn add(
        &mut self,
        metric: impl Into<String>,
        task: &str,
        (before, after): Pair,
        unit: &str,
        reading: Reading,
    ) {
        let (Some(before), Some(after)) = (before, after) else { return };
        let difference = (reading.convert)(after - before).as_f64();
        let percent =
            if before.as_f64() == 0.0 { 0.0 } else { (after - before).as_f64() / before.as_f64() * 100.0 };
        self.rows.push(vec![
            Cell::Text(metric.into()),
            Cell::from(task),
            Cell::Number((reading.convert)(before)),
            Cell::Number((reading.convert)(after)),
            self.difference(difference, 5, "", reading.more_is_better),
            Cell::from(unit),
            self.difference(percent, 2, "%", reading.more_is_better),
        ]);
    }

    /// Returns a signed difference. It is coloured when it is better or worse in its shown digits.
    fn difference(&self, value: f64, decimals: usize, suffix: &str, more_is_better: bool) -> Cell {
        const GREEN: u8 = 32;
        const RED: u8 = 31;
        const NEUTRAL: u8 = 39;
        let threshold = 10_f64.powi(-(decimals as i32));
        let text = format!("{value:.decimals$}{suffix}");
        let (text, color) = match value {
            more if more >= threshold => (format!("+{text}"), if more_is_better { GREEN } else { RED }),
            less if less <= -threshold => (text, if more_is_better { RED } else { GREEN }),
            _ => (text, NEUTRAL),
        };
        Cell::Text(if self.color { format!("\u{1b}[{color};1m{text}\u{1b}[0m") } else { text })
    }

    fn add_total(&mut self, name: &str, totals_ms: Pair) {
        self.add(format!("Cumulative {name} of primary shards"), "", totals_ms, "min", MINUTES);
    }

    fn add_count(&mut self, name: &str, counts: Pair) {
        self.add(format!("Cumulative {name} of primary shards"), "", counts, "", AS_IS);
    }

    fn add_per_shard(&mut self, name: &str, before: &PerShard, after: &PerShard) {
        for (label, pair) in [
            ("Min", (before.min, after.min)),
            ("Median", (before.median, after.median)),
            ("Max", (before.max, after.max)),
        ] {
            self.add(format!("{label} cumulative {name} across primary shard"), "", pair, "min", MINUTES);
        }
    }
}

fn add_totals(before: &Results, after: &Results, table: &mut Rows) {
    for ((b, b_per_shard), (a, a_per_shard)) in summary::work(before).into_iter().zip(summary::work(after)) {
        table.add_total(b.name, (b.total_ms, a.total_ms));
        if let (Some((name, b_count)), Some((_, a_count))) = (b.count, a.count) {
            table.add_count(name, (b_count, a_count));
        }
        table.add_per_shard(b.name, b_per_shard, a_per_shard);
    }
}

fn add_ml_processing_times(before: &Results, after: &Results, table: &mut Rows) {
    for b in &before.ml_processing_time {
        for a in after.ml_processing_time.iter().filter(|a| a.job == b.job) {
            table.add("Min ML processing time", &b.job, (b.min, a.min), &b.unit, AS_IS);
            table.add("Mean ML processing time", &b.job, (b.mean, a.mean), &b.unit, AS_IS);
            table.add("Median ML processing time", &b.job, (b.median, a.median), &b.unit, AS_IS);
            table.add("Max ML processing time", &b.job, (b.max, a.max), &b.unit, AS_IS);
        }
    }
}

fn add_garbage_collection(before: &Results, after: &Results, table: &mut Rows) {
    for ((collector, b_time, b_count), (_, a_time, a_count)) in
        summary::collections(before).into_iter().zip(summary::collections(after))
    {
        table.add(format!("Total {collector} GC time"), "", (b_time, a_time), "s", SECONDS);
        table.add(format!("Total {collector} GC count"), "", (b_count, a_count), "", AS_IS);
    }
}

fn add_sizes(before: &Results, after: &Results, table: &mut Rows) {
    for ((name, b), (_, a)) in summary::sizes(before).into_iter().zip(summary::sizes(after)) {
        table.add(name, "", (b, a), "GB", GIGABYTES);
    }
    for ((part, b), (_, a)) in summary::memory_parts(before).into_iter().zip(summary::memory_parts(after)) {
        table.add(format!("Heap used for {part}"), "", (b, a), "MB", MEGABYTES);
    }
    table.add("Segment count", "", (before.segment_count, after.segment_count), "", AS_IS);
}

fn add_transforms(before: &Results, after: &Results, table: &mut Rows) {
    let mut add = |name: &str, before: &[TransformResult], after: &[TransformResult], reading: Reading| {
        for b in before {
            for a in after.iter().filter(|a| a.id == b.id) {
                table.add(format!("Transform {name}"), &b.id, (b.mean, a.mean), &b.unit, reading);
            }
        }
    };
    add(
        "processing time",
        &before.total_transform_processing_times,
        &after.total_transform_processing_times,
        AS_IS,
    );
    add("indexing time", &before.total_transform_index_times, &after.total_transform_index_times, AS_IS);
    add("search time", &before.total_transform_search_times, &after.total_transform_search_times, AS_IS);
    add("throughput", &before.total_transform_throughput, &after.total_transform_throughput, MORE_IS_BETTER);
}

fn add_disk_usage(before: &Results, after: &Results, table: &mut Rows) {
    // Fields of both races. Within an index, fields that take more bytes (in either race) come later.
    let mut largest: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for usage in before.disk_usage_total.iter().chain(&after.disk_usage_total) {
        let bytes = largest.entry((&usage.index, &usage.field)).or_default();
        *bytes = bytes.max(usage.value.as_f64());
    }
    let mut fields: Vec<((&str, &str), f64)> = largest.into_iter().collect();
    fields.sort_by(|a, b| a.0.0.cmp(b.0.0).then(a.1.total_cmp(&b.1)).then(a.0.1.cmp(b.0.1)));

    let (parts_before, parts_after) = (disk_usage_by_field(before), disk_usage_by_field(after));
    let has_index =
        |parts: &HashMap<(&str, &str), _>, index: &str| parts.keys().any(|(known, _)| *known == index);
    let bytes_of = |parts: &HashMap<(&str, &str), Vec<(&str, Number)>>, field: (&str, &str), part: &str| {
        parts
            .get(&field)
            .and_then(|parts| parts.iter().find(|(name, _)| *name == part))
            .map_or(Number::Int(0), |(_, n)| *n)
    };
    for (field, _) in fields {
        if !has_index(&parts_before, field.0) || !has_index(&parts_after, field.0) {
            continue;
        }
        for (part, _) in disk_usage_parts(before) {
            let (b, a) = (bytes_of(&parts_before, field, part), bytes_of(&parts_after, field, part));
            if b.as_f64() == 0.0 && a.as_f64() == 0.0 {
                continue;
            }
            let (unit, _) = units::human_unit(b.as_f64().min(a.as_f64()));
            let reading = match unit {
                "TB" => TERABYTES,
                "GB" => GIGABYTES,
                "MB" => MEGABYTES,
                "KB" => KILOBYTES,
                _ => BYTES,
            };
            table.add(format!("{} {} {part}", field.0, field.1), "", (Some(b), Some(a)), unit, reading);
        }
    }
}

fn add_task(before: &TaskResults, after: &TaskResults, processing_time: bool, table: &mut Rows) {
    let task = before.task.as_str();
    let (b, a) = (&before.throughput, &after.throughput);
    let unit = b.unit.as_deref().unwrap_or_default();
    for (label, pair) in [
        ("Min", (b.min, a.min)),
        ("Mean", (b.mean, a.mean)),
        ("Median", (b.median, a.median)),
        ("Max", (b.max, a.max)),
    ] {
        table.add(format!("{label} Throughput"), task, pair, unit, MORE_IS_BETTER);
    }
    let mut percentiles = |metric: &str, before: &TimeStats, after: &TimeStats| {
        for (label, key, _) in PERCENTILES {
            let pair = (before.get(key), after.get(key));
            table.add(format!("{label}th percentile {metric}"), task, pair, "ms", AS_IS);
        }
    };
    percentiles("latency", &before.latency, &after.latency);
    percentiles("service time", &before.service_time, &after.service_time);
    if processing_time {
        percentiles("processing time", &before.processing_time, &after.processing_time);
    }
    let rates = (Some(Number::Float(before.error_rate)), Some(Number::Float(after.error_rate)));
    table.add("error rate", task, rates, "%", PERCENT);
}
