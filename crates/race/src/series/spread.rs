//! How do several races of one side look?

use std::io::{self, Write};

use crate::inference::estimate::median;
use crate::report::figures::{self, Figure};
use crate::report::output::{self, ReportOptions};
use crate::report::table::{Cell, Row};
use crate::report::{Number, Race};

pub const HEADERS: [&str; 8] = ["Metric", "Task", "Median", "Least", "Most", "Unit", "CV %", "Races"];

/// Kinds of figures that are shown; the others are in the stored races.
const SHOWN: [&str; 5] = ["throughput.median", "latency", "service_time", "error_rate", "race"];

/// Prints median, least and most over the races, and the coefficient of variation (standard deviation as a share of the
/// mean), which says how large a difference must be to stand out.
///
/// # Errors
/// Those of `out` and of the report file; `InvalidData` for races whose results cannot be read.
pub fn write(name: &str, races: &[Race], options: &ReportOptions, out: &mut dyn Write) -> io::Result<()> {
    let read = races.iter().map(figures::of_race).collect::<Result<Vec<_>, _>>();
    let read = read.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    writeln!(out, "\nSide {name}, {} races:\n", races.len())?;
    let rows: Vec<Row> = read
        .first()
        .into_iter()
        .flatten()
        .filter(|figure| SHOWN.iter().any(|kind| figure.is_meant_by(kind)))
        .filter_map(|figure| row(figure, &read))
        .collect();
    output::write_table(&HEADERS, &rows, &rows, options, out)
}

/// `None` for figures that are 0 in all races.
fn row(figure: &Figure, races: &[Vec<Figure>]) -> Option<Row> {
    let same = |other: &&Figure| other.key == figure.key && other.task == figure.task;
    let values: Vec<f64> =
        races.iter().filter_map(|figures| figures.iter().find(same).map(|figure| figure.value)).collect();
    if values.iter().all(|value| *value == 0.0) {
        return None;
    }
    let number = |value: f64| Cell::from(Number::Float(value));
    Some(vec![
        Cell::from(figure.metric.as_str()),
        Cell::from(figure.task.as_str()),
        number(median(&values)),
        number(values.iter().copied().fold(f64::INFINITY, f64::min)),
        number(values.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
        Cell::from(figure.unit.as_str()),
        Cell::from(variation(&values).map_or_else(String::new, |share| format!("{:.2}", share * 100.0))),
        Cell::from(Number::from(values.len() as u64)),
    ])
}

/// Sample standard deviation as a share of the mean; `None` with fewer than two values or a mean of 0.
fn variation(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1 && mean != 0.0).then(|| (squares / (count - 1.0)).sqrt() / mean.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figures::tests::race;

    #[test]
    fn median_bounds_and_variation() {
        let races = [race("a", 90.0, 9.0), race("b", 100.0, 9.0), race("c", 110.0, 9.0)];
        let mut printed = Vec::new();
        write("A", &races, &ReportOptions::default(), &mut printed).unwrap();
        let printed = String::from_utf8(printed).unwrap();
        let row = printed.lines().find(|line| line.contains("Median Throughput")).unwrap();
        for part in ["100", "90", "110", "docs/s", "10", "3"] {
            assert!(row.contains(part), "{part} in {row}");
        }
        assert!((variation(&[90.0, 100.0, 110.0]).unwrap() - 0.1).abs() < 1e-12);
        assert_eq!((variation(&[5.0]), variation(&[0.0, 0.0])), (None, None));
        assert!(!printed.contains("error rate"), "{printed}");
    }
}
