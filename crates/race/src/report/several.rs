//! Compares several races per side, and judges whether differences are more than chance.
//!
//! Every metric of every task is tested by ranks (`inference`). The p-values are corrected over the tasks of
//! one metric. Rally has no such comparison, but the names of the metrics are Rally's.

use std::io::{self, Write};

use super::compare;
use super::figures::Figure;
use super::output::{self, ReportOptions};
use super::raced_side::RacedSide;
use super::table::{Cell, Row};
use crate::inference::comparison::{INTERVAL_LEVEL, adjust};
use crate::inference::rank_test::{races_needed, smallest_p};
use crate::inference::{Comparison, Correction, Verdict};
use crate::notation::shown;
use crate::record::race::Race;
use crate::record::scope;

pub(crate) const HEADERS: [&str; 11] = [
    "Metric",
    "Task",
    "Baseline",
    "Contender",
    "Unit",
    "Diff %",
    "95 % interval, %",
    "Shift",
    "Cliff's delta",
    "p",
    "Verdict",
];

/// How differences are judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// A difference counts as shown when its corrected p-value is not above this.
    pub significance: f64,
    pub correction: Correction,
    /// Keys or kinds of the figures to compare (see [`Figure::is_meant_by`]); empty for the default ones.
    pub metrics: Vec<String>,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules { significance: 0.05, correction: Correction::Holm, metrics: Vec::new() }
    }
}

/// The default figures: enough to see the differences, few enough to read.
const USUAL: [&str; 10] = [
    "throughput.median",
    "latency.p50",
    "latency.p90",
    "latency.p99",
    "service_time.p50",
    "service_time.p90",
    "service_time.p99",
    "service_time.p100",
    "error_rate",
    "race",
];

/// The verdict on one metric of one task.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Judged {
    /// The figure of a race of the baseline, whose value it has.
    pub figure: Figure,
    pub comparison: Comparison,
    pub verdict: Verdict,
}

/// All verdicts of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Judgement {
    pub baseline_count: usize,
    pub contender_count: usize,
    pub rows: Vec<Judged>,
    /// Why the races did not race the same (see [`scope::differences`]).
    pub unlike: Vec<String>,
    /// Notes for the reader: what so few races can show, errors, a race on both sides.
    pub notes: Vec<String>,
}

impl Judgement {
    /// Returns the rows that are shown to be worse by at least `share` of the baseline's median (such as
    /// 0.05).
    pub(crate) fn worse_by(&self, share: f64) -> Vec<&Judged> {
        let is_worse = |row: &&Judged| row.verdict == Verdict::Worse && row.comparison.worsening() >= share;
        self.rows.iter().filter(is_worse).collect()
    }

    /// Whether any difference at all could have been shown.
    pub(crate) fn can_show_anything(&self, significance: f64) -> bool {
        smallest_p(self.baseline_count, self.contender_count) <= significance
    }
}

/// Judges `contender` against `baseline`. Metrics that some race lacks are left out.
pub(crate) fn judge(baseline: &RacedSide, contender: &RacedSide, rules: &Rules) -> Judgement {
    let mut rows = Vec::new();
    for figure in baseline.named().filter(|figure| is_looked_at(figure, &rules.metrics)) {
        let (Some(b), Some(a)) = (baseline.values(figure), contender.values(figure)) else { continue };
        let is_always_nothing = b.iter().chain(&a).all(|value| *value == 0.0);
        if is_always_nothing {
            continue;
        }
        let comparison = Comparison::new(&b, &a, figure.direction).with_interval(&b, &a);
        rows.push(Judged { figure: figure.clone(), comparison, verdict: Verdict::NoDifferenceShown });
    }
    let tests_count_max = correct(&mut rows, rules);
    let (baseline_count, contender_count) = (baseline.races.len(), contender.races.len());
    let unlike = scope::differences_of_all(baseline.races.iter().chain(&contender.races));
    let mut notes: Vec<String> = note_on_races(&baseline.races, &contender.races).into_iter().collect();
    notes.extend(note_on_errors(baseline, contender));
    notes.extend(note_on_peaks(baseline.stale_peaks_count + contender.stale_peaks_count));
    notes.extend(note_on_counts(baseline_count, contender_count, tests_count_max, rules));
    Judgement { baseline_count, contender_count, rows, unlike, notes }
}

fn is_looked_at(figure: &Figure, metrics: &[String]) -> bool {
    match metrics {
        [] => USUAL.iter().any(|pattern| figure.is_meant_by(pattern)),
        named => named.iter().any(|pattern| figure.is_meant_by(pattern)),
    }
}

/// Corrects the p-values over the tasks of each metric and sets the verdicts. Returns the size of the largest
/// family.
fn correct(rows: &mut [Judged], rules: &Rules) -> usize {
    let mut keys: Vec<String> = rows.iter().map(|row| row.figure.key.clone()).collect();
    keys.sort();
    keys.dedup();
    let mut largest = 0;
    for key in keys {
        let mut family: Vec<&mut Comparison> =
            rows.iter_mut().filter(|row| row.figure.key == key).map(|row| &mut row.comparison).collect();
        largest = largest.max(family.len());
        adjust(&mut family, rules.correction);
    }
    for row in rows {
        row.verdict = row.comparison.verdict(rules.significance);
    }
    largest
}

/// Returns `1 race` or `2 races`.
fn counted(races: usize) -> String {
    format!("{races} race{}", if races == 1 { "" } else { "s" })
}

fn note_on_races(baseline: &[Race], contender: &[Race]) -> Option<String> {
    let is_contender = |race: &&Race| contender.iter().any(|other| other.race_id == race.race_id);
    let both = baseline.iter().find(is_contender);
    both.map(|race| format!("Race [{}] is on both sides.", race.race_id))
}

fn note_on_errors(baseline: &RacedSide, contender: &RacedSide) -> Option<String> {
    let failing = |figure: &&Figure| figure.key == "error_rate" && figure.value > 0.0;
    let all = baseline.figures.iter().chain(&contender.figures).flatten();
    let mut tasks: Vec<&str> = all.filter(failing).map(|figure| figure.task.as_str()).collect();
    tasks.sort_unstable();
    tasks.dedup();
    (!tasks.is_empty()).then(|| {
        format!(
            "Requests failed in: {}. A failed request can be faster than an answered one; read the times of these tasks with that in mind.",
            tasks.join(", ")
        )
    })
}

fn note_on_peaks(stale_count: usize) -> Option<String> {
    (stale_count > 0).then(|| {
        format!(
            "The server's peak of memory is not judged: before {stale_count} of the races it had already used more than during them. Start a server \
             for each race (limber race --engine)."
        )
    })
}

/// Returns a note on what so few races cannot show; `None` if they can show a difference in each of
/// `tests_count` tasks.
pub(crate) fn note_on_counts(
    baseline: usize,
    contender: usize,
    tests_count: usize,
    rules: &Rules,
) -> Option<String> {
    let alone = smallest_p(baseline, contender);
    let significance = rules.significance;
    if alone > significance {
        return Some(format!(
            "With {baseline} against {} no p-value can be below {}: nothing can be shown, whatever the figures. \
             Race at least {} a side (limber race --repeat).",
            counted(contender),
            probability(alone),
            races_needed(significance, 1)
        ));
    }
    let factor = if rules.correction == Correction::None { 1 } else { tests_count };
    let corrected = alone * factor as f64;
    (corrected > significance).then(|| {
        format!(
            "With {baseline} against {contender} races and {tests_count} tasks, a difference in one task alone cannot be shown (its p-value \
             is at least {} after the correction). Race at least {} a side, or name fewer metrics or tasks.",
            probability(corrected),
            races_needed(significance, factor)
        )
    })
}

/// Prints both sides, the table and the notes, and appends the table to the report file.
///
/// # Errors
/// Those of `out` and of the report file.
pub(crate) fn write(
    sides: [&RacedSide; 2],
    judgement: &Judgement,
    rules: &Rules,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    compare::write_unlike(&judgement.unlike, out)?;
    writeln!(
        out,
        "\nComparing baseline\n  {}: {}\n\nwith contender\n  {}: {}",
        sides[0].described(),
        counted(judgement.baseline_count),
        sides[1].described(),
        counted(judgement.contender_count)
    )?;
    output::write_heading(options, out)?;
    let rows = |color: bool| judgement.rows.iter().map(|row| printed_row(row, color)).collect::<Vec<_>>();
    output::write_table(&HEADERS, &rows(options.color), &rows(false), options, out)?;
    writeln!(
        out,
        "Baseline and Contender are medians over races; Diff % compares them, with its {:.0} % bootstrap interval (percentile method).\n\
         Shift is Hodges and Lehmann's; p is Mann and Whitney's, exact, after {} over the tasks of each metric.\n\
         A verdict needs p <= {}; \"no difference shown\" does not mean that there is none.",
        INTERVAL_LEVEL * 100.0,
        match rules.correction {
            Correction::None => "no correction".to_owned(),
            other => format!("{}'s correction", other.name()),
        },
        rules.significance
    )?;
    for note in &judgement.notes {
        writeln!(out, "Note: {note}")?;
    }
    Ok(())
}

fn printed_row(row: &Judged, color: bool) -> Row {
    const GREEN: u8 = 32;
    const RED: u8 = 31;
    let comparison = &row.comparison;
    let painted = |text: &str| match (color, row.verdict) {
        (true, Verdict::Better) => format!("\u{1b}[{GREEN};1m{text}\u{1b}[0m"),
        (true, Verdict::Worse) => format!("\u{1b}[{RED};1m{text}\u{1b}[0m"),
        _ => text.to_owned(),
    };
    let (unit, factor) = shown::table_unit(&row.figure.unit);
    let scaled = |value: f64| value * factor;
    let shift = shown::plain(scaled(comparison.shift));
    let shift = if shift.starts_with('-') { shift } else { format!("+{shift}") };
    let percent = |share: f64| format!("{:+.2}", share * 100.0);
    let interval = comparison.change_interval.map_or_else(String::new, |interval| {
        format!("{} to {}", percent(interval.low), percent(interval.high))
    });
    vec![
        Cell::from(row.figure.metric.as_str()),
        Cell::from(row.figure.task.as_str()),
        Cell::Plain(scaled(comparison.baseline_median)),
        Cell::Plain(scaled(comparison.contender_median)),
        Cell::from(unit),
        Cell::from(comparison.change.map_or_else(String::new, |change| format!("{}%", percent(change)))),
        Cell::from(interval),
        Cell::from(shift),
        Cell::from(format!("{:+.2}", comparison.cliffs_delta)),
        Cell::from(probability(comparison.p_adjusted)),
        Cell::from(painted(row.verdict.name())),
    ]
}

/// Formats a p-value with four digits; a very small one becomes `<0.0001`.
pub(crate) fn probability(p: f64) -> String {
    if p < 0.0001 { "<0.0001".to_owned() } else { format!("{p:.4}") }
}

#[cfg(test)]
mod tests {
    use super::super::raced_side::tests::side;
    use super::*;

    fn races(docs_per_s: &[f64], p99_ms: f64) -> RacedSide {
        side(&format!("side-{}", docs_per_s[0]), docs_per_s, p99_ms, &[])
    }

    #[test]
    fn a_real_difference_is_told_from_chance() {
        let (slow, fast) = (
            races(&[100.0, 101.0, 102.0, 103.0, 104.0], 9.0),
            races(&[120.0, 121.0, 122.0, 123.0, 124.0], 9.0),
        );
        let judgement = judge(&slow, &fast, &Rules::default());
        let verdict =
            |key: &str| judgement.rows.iter().find(|row| row.figure.key == key).map(|row| row.verdict);
        assert_eq!(verdict("throughput.median"), Some(Verdict::Better));
        assert_eq!(verdict("service_time.p99"), Some(Verdict::NoDifferenceShown));
        // There was never an error, so there is no row.
        assert_eq!(verdict("error_rate"), None);
        assert!(judgement.notes.is_empty(), "{:?}", judgement.notes);
        assert!(judgement.worse_by(0.05).is_empty());

        let back = judge(&fast, &slow, &Rules::default());
        let worse: Vec<&str> = back.worse_by(0.05).iter().map(|row| row.figure.key.as_str()).collect();
        assert_eq!(worse, ["throughput.median"]);
        assert!(back.worse_by(0.25).is_empty());

        let mut printed = Vec::new();
        write([&slow, &fast], &judgement, &Rules::default(), &ReportOptions::default(), &mut printed)
            .unwrap();
        let printed = String::from_utf8(printed).unwrap();
        let row = printed.lines().find(|line| line.contains("Median Throughput")).unwrap();
        for part in ["102", "122", "docs/s", "+19.61%", "+20", "better"] {
            assert!(row.contains(part), "{part} in {row}");
        }
    }

    #[test]
    fn what_few_races_can_show_is_said() {
        #[track_caller]
        fn check(count: usize, tasks: usize, expected: Option<&str>) {
            let note = note_on_counts(count, count, tasks, &Rules::default());
            match expected {
                None => assert_eq!(note, None),
                Some(part) => assert!(note.as_deref().is_some_and(|note| note.contains(part)), "{note:?}"),
            }
        }
        check(2, 1, Some("no p-value can be below 0.3333: nothing can be shown"));
        check(3, 1, Some("at least 4 a side"));
        check(4, 1, None);
        check(4, 2, Some("a difference in one task alone cannot be shown"));
        check(5, 6, None);
    }

    #[test]
    fn what_makes_a_comparison_doubtful_is_noted() {
        let (mut before, after) = (races(&[1.0, 2.0, 3.0, 4.0], 9.0), races(&[1.5, 2.5, 3.5, 4.5], 9.0));
        before.races[0].track = "other".into();
        before.races[1].race_id = after.races[1].race_id.clone();
        before.stale_peaks_count = 2;
        let notes = judge(&before, &after, &Rules::default()).notes.join("\n");
        for part in ["is on both sides", "before 2 of the races"] {
            assert!(notes.contains(part), "{notes}");
        }
        let judgement = judge(&before, &after, &Rules::default());
        assert_eq!(judgement.unlike, ["track: other against log_ingest"]);
        let mut printed = Vec::new();
        write([&before, &after], &judgement, &Rules::default(), &ReportOptions::default(), &mut printed)
            .unwrap();
        let printed = String::from_utf8(printed).unwrap();
        assert!(printed.starts_with("\n[WARNING] These races are not of the same"), "{printed}");
    }

    #[test]
    fn what_the_server_used_is_judged_too() {
        let rates = [100.0, 101.0, 102.0, 103.0, 104.0];
        let small = side("small", &rates, 9.0, &[100, 101, 102, 103, 104]);
        let large = side("large", &rates, 9.0, &[150, 151, 152, 153, 154]);
        let judgement = judge(&small, &large, &Rules::default());
        let row = |key: &str| judgement.rows.iter().find(|row| row.figure.key == key).unwrap();
        assert_eq!(row("race.peak_memory").verdict, Verdict::Worse);
        assert_eq!(row("race.server_cpu").verdict, Verdict::NoDifferenceShown);
        assert_eq!(judgement.worse_by(0.05).len(), 1);
    }

    #[test]
    fn metrics_can_be_chosen() {
        let side = races(&[1.0, 2.0, 3.0, 4.0], 9.0);
        let rules = Rules { metrics: vec!["service_time.mean".into()], ..Rules::default() };
        let judgement = judge(&side, &side, &rules);
        assert_eq!(judgement.rows.len(), 1);
        assert_eq!(judgement.rows[0].verdict, Verdict::NoDifferenceShown);
    }
}
