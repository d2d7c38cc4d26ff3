//! Prints the rounds as tables of medians with their spread, and the sweep as CSV.

use std::fmt;
use std::io::{self, Write};

use super::config::SchemesOutcome;
use super::figures::{Figures, TaskFigures};
use super::round::{Round, SweepRow};
use crate::inference::estimate::median;
use crate::notation::units::{GB, MB, TB};
use crate::report::table::{self, Align, Cell, Row};

impl fmt::Display for SweepRow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "budget {} % of the working set, {:.2} % misses, {:.0} ops/s, p50 {}, p99 {}",
            self.percent,
            self.miss_percent(),
            self.query.per_s,
            milliseconds(self.query.p50_ms),
            milliseconds(self.query.p99_ms)
        )
    }
}

/// Formats a percentile, which is NaN if there are too few samples for it.
fn milliseconds(ms: f64) -> String {
    if ms.is_finite() { format!("{ms:.3} ms") } else { "not known (too few samples)".to_owned() }
}

/// Prints the tables of writes, queries, memory and (if there was one) the sweep.
pub(super) fn write(outcome: &SchemesOutcome, out: &mut dyn Write) -> io::Result<()> {
    for (title, unit, task) in [
        ("Write", "docs/s", (|figures| figures.write) as fn(&Figures) -> TaskFigures),
        ("Query", "ops/s", |figures| figures.query),
    ] {
        writeln!(out, "\n{title}, medians of {} rounds (least to most):\n", outcome.rounds.len())?;
        let rows = [
            compared(outcome, "memory of the term index, MB", 2, |one| task(one).memory_bytes as f64 / MB),
            compared(outcome, unit, 0, |one| task(one).per_s),
            compared(outcome, "p50, ms", 3, |one| task(one).p50_ms),
            compared(outcome, "p90, ms", 3, |one| task(one).p90_ms),
            compared(outcome, "p99, ms", 3, |one| task(one).p99_ms),
        ];
        let headers = ["", "native", "cached", "difference", "median of the rounds' differences"];
        write!(out, "{}", table::markdown(&headers, &rows, Align::Right))?;
    }
    write_ratio(outcome, out)?;
    if !outcome.sweep.is_empty() {
        writeln!(out, "\nQueries at smaller budgets:\n")?;
        let headers = ["budget, % of the working set", "misses, %", "ops/s", "p50, ms", "p90, ms", "p99, ms"];
        let rows: Vec<Row> = outcome
            .sweep
            .iter()
            .map(|row| {
                let query = row.query;
                [
                    row.percent.to_string(),
                    shown(row.miss_percent(), 2),
                    shown(query.per_s, 0),
                    shown(query.p50_ms, 3),
                    shown(query.p90_ms, 3),
                    shown(query.p99_ms, 3),
                ]
                .map(Cell::from)
                .to_vec()
            })
            .collect();
        write!(out, "{}", table::markdown(&headers, &rows, Align::Right))?;
    }
    Ok(())
}

fn write_ratio(outcome: &SchemesOutcome, out: &mut dyn Write) -> io::Result<()> {
    let store = outcome.store_bytes as f64;
    writeln!(
        out,
        "\n{:.2} GB on disk in {} segments; budget {:.2} MB, {:.1} % of the {:.2} MB that the native scheme had resident after loading.",
        store / GB,
        outcome.segment_count,
        outcome.budget_bytes as f64 / MB,
        outcome.budget_bytes as f64 * 100.0 / outcome.working_set_bytes.max(1) as f64,
        outcome.working_set_bytes as f64 / MB
    )?;
    let per_gb = |bytes: f64| store / bytes.max(1.0) * GB / TB;
    let median = |side: fn(&Round) -> &Figures| {
        let bytes = |round: &Round| side(round).query.memory_bytes as f64;
        median(&outcome.rounds.iter().map(bytes).collect::<Vec<_>>())
    };
    writeln!(
        out,
        "1 GB of term-index memory goes with {:.1} TB of this data on disk natively, with {:.1} TB cached.",
        per_gb(median(|round| &round.native)),
        per_gb(median(|round| &round.cached))
    )
}

/// Returns one row: the medians of both sides with their spread, their difference, and the median of the
/// differences within the rounds, which is independent of changes from round to round.
fn compared(outcome: &SchemesOutcome, name: &str, decimals: usize, of: impl Fn(&Figures) -> f64) -> Row {
    let side = |side: fn(&Round) -> &Figures| -> Vec<f64> {
        outcome.rounds.iter().map(|round| of(side(round))).collect()
    };
    let (native, cached) = (side(|round| &round.native), side(|round| &round.cached));
    let difference = |native: f64, cached: f64| (cached - native) * 100.0 / native;
    let paired: Vec<f64> =
        native.iter().zip(&cached).map(|(native, cached)| difference(*native, *cached)).collect();
    let of_medians = difference(median(&native), median(&cached));
    let signed = |percent: f64| if percent.is_nan() { "-".to_owned() } else { format!("{percent:+.2} %") };
    vec![
        name.into(),
        spread(&native, decimals).into(),
        spread(&cached, decimals).into(),
        signed(of_medians).into(),
        signed(median(&paired)).into(),
    ]
}

/// Returns the median with (minimum to maximum).
fn spread(values: &[f64], decimals: usize) -> String {
    let least = values.iter().copied().fold(f64::NAN, f64::min);
    let most = values.iter().copied().fold(f64::NAN, f64::max);
    match median(values) {
        median if median.is_nan() => "-".to_owned(),
        median => format!("{median:.decimals$} ({least:.decimals$} to {most:.decimals$})"),
    }
}

fn shown(value: f64, decimals: usize) -> String {
    if value.is_nan() { "-".to_owned() } else { format!("{value:.decimals$}") }
}

/// Returns the sweep for plots: latency against the share of misses.
pub(super) fn sweep_csv(sweep: &[SweepRow]) -> String {
    let headers = [
        "budget_percent",
        "budget_bytes",
        "resident_bytes",
        "lookup_count",
        "miss_count",
        "miss_percent",
        "load_mean_us",
        "ops_per_s",
        "p50_ms",
        "p90_ms",
        "p99_ms",
    ];
    let rows: Vec<Row> = sweep
        .iter()
        .map(|row| {
            [
                row.percent.to_string(),
                row.budget_bytes.to_string(),
                row.after.resident_bytes.to_string(),
                row.lookups().to_string(),
                row.misses().to_string(),
                format!("{:.4}", row.miss_percent()),
                format!("{:.3}", row.load_us()),
                format!("{:.1}", row.query.per_s),
                format!("{:.4}", row.query.p50_ms),
                format!("{:.4}", row.query.p90_ms),
                format!("{:.4}", row.query.p99_ms),
            ]
            .map(Cell::from)
            .to_vec()
        })
        .collect();
    table::csv(&headers, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schemes::figures::Memory;

    fn figures(memory_bytes: u64, per_s: f64, p50_ms: f64) -> Figures {
        let task = TaskFigures { memory_bytes, per_s, p50_ms, p90_ms: 2.0 * p50_ms, p99_ms: 3.0 * p50_ms };
        Figures { write: task, query: task }
    }

    fn outcome() -> SchemesOutcome {
        let round = |native: f64, cached: f64| Round {
            native: figures(8 << 20, native, 1.0),
            cached: figures(1 << 20, cached, 1.1),
        };
        let before = Memory { hit_count: 100, miss_count: 10, ..Memory::default() };
        let after = Memory {
            hit_count: 190,
            miss_count: 20,
            load_count: 5,
            load_nanos: 20_000,
            resident_bytes: 4_096,
            ..Memory::default()
        };
        SchemesOutcome {
            working_set_bytes: 8 << 20,
            budget_bytes: 1 << 20,
            store_bytes: 1 << 30,
            segment_count: 300,
            rounds: vec![round(100.0, 99.0), round(200.0, 202.0), round(50.0, 50.0)],
            sweep: vec![SweepRow {
                percent: 10.0,
                budget_bytes: 8_000,
                before,
                after,
                query: figures(0, 1_000.0, 0.5).query,
            }],
        }
    }

    /// The machine's speed differs fourfold between rounds; within a round, the schemes differ by 1 %.
    #[test]
    fn differences_are_of_medians_and_within_rounds() {
        let mut out = Vec::new();
        write(&outcome(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        for expected in [
            "| memory of the term index, MB | 8.00 (8.00 to 8.00) | 1.00 (1.00 to 1.00) |   -87.50 % |",
            "100 (50 to 200) |     99 (50 to 202) |    -1.00 % |                           +0.00 % |",
            "| 1.000 (1.000 to 1.000) | 1.100 (1.100 to 1.100) |",
            "1.00 GB on disk in 300 segments; budget 1.00 MB, 12.5 % of the 8.00 MB",
            "goes with 0.1 TB of this data on disk natively, with 1.0 TB cached",
        ] {
            let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(squeezed(&text).contains(&squeezed(expected)), "{expected} in\n{text}");
        }
    }

    #[test]
    fn the_sweep_counts_what_happened_at_its_budget() {
        let csv = sweep_csv(&outcome().sweep);
        let row: Vec<&str> = csv.lines().nth(1).unwrap().split(',').collect();
        assert_eq!(
            row,
            ["10", "8000", "4096", "100", "10", "10.0000", "4.000", "1000.0", "0.5000", "1.0000", "1.5000"]
        );
    }
}
